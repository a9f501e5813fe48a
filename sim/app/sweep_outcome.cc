#include "sim/app/sweep_outcome.h"

#include <fmt/format.h>
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
  constexpr std::size_t kShown = 5;  // reasons
  std::size_t failed = 0;
  std::size_t told = 0;
  int code = exit_code::ok;
  const std::vector<FailedRows> failures = failures_of(rows);
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const FailedRows& failure = failures[i];
    const PointOutcome& outcome = failure.first->outcome;
    code = std::max(code, outcome.exit_code == exit_code::ours ? exit_code::ours : exit_code::user);
    failed += failure.rows;
    if (i >= kShown) continue;
    told += failure.rows;
    const std::string others =
        failure.rows == 1 ? "" : fmt::format(" and {} more", failure.rows - 1);
    spdlog::error("{}{}: {}", name_of(*failure.first, axes), others, outcome.error);
  }
  if (failed > told) spdlog::error("... and {} more, in results.csv", failed - told);
  spdlog::info("{} {}: {} ok, {} failed; results are in {}", rows.size(),
               plural(rows.size(), "point", "points"), rows.size() - failed, failed,
               folder.string());
  return code;
}

}  // namespace weft
