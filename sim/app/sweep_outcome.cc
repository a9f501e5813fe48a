#include "sim/app/sweep_outcome.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "sim/app/sweep_rows.h"
#include "sim/core/plural.h"
#include "sim/run/exit_code.h"

namespace weft {

int tell_outcome(const std::vector<Row>& rows, const SweepInfo& info,
                 const std::filesystem::path& folder) {
  constexpr std::size_t kShown = 5;
  std::size_t failed = 0;
  int code = exit_code::ok;
  for (const Row& row : rows) {
    const PointOutcome& outcome = row.outcome;
    if (outcome.ok) continue;
    code = std::max(code, outcome.exit_code == exit_code::ours ? exit_code::ours : exit_code::user);
    if (++failed <= kShown) spdlog::error("{}: {}", name_of(row, info.axes), outcome.error);
  }
  if (failed > kShown) spdlog::error("... and {} more, in results.csv", failed - kShown);
  spdlog::info("{} {}: {} ok, {} failed; results are in {}", rows.size(),
               plural(rows.size(), "point", "points"), rows.size() - failed, failed,
               folder.string());
  return code;
}

}  // namespace weft
