#include "sim/app/sweep_outcome.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "sim/core/plural.h"
#include "sim/run/exit_code.h"
#include "sim/sweep/sweep_rows.h"

namespace weft {

SweepMessages messages_of_sweep() {
  return {.info = [](const std::string& text) { spdlog::info("{}", text); },
          .warning = [](const std::string& text) { spdlog::warn("{}", text); },
          .error = [](const std::string& text) { spdlog::error("{}", text); }};
}

int tell_outcome(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes,
                 const std::filesystem::path& folder) {
  constexpr std::size_t kShown = 5;
  std::size_t failed = 0;
  int code = exit_code::ok;
  for (const Row& row : rows) {
    const PointOutcome& outcome = row.outcome;
    if (outcome.ok) continue;
    code = std::max(code, outcome.exit_code == exit_code::ours ? exit_code::ours : exit_code::user);
    if (++failed <= kShown) spdlog::error("{}: {}", name_of(row, axes), outcome.error);
  }
  if (failed > kShown) spdlog::error("... and {} more, in results.csv", failed - kShown);
  spdlog::info("{} {}: {} ok, {} failed; results are in {}", rows.size(),
               plural(rows.size(), "point", "points"), rows.size() - failed, failed,
               folder.string());
  return code;
}

}  // namespace weft
