#include "sim/report/same_as_bulk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "sim/scenario/modes.h"

namespace weft {
namespace {

// Why nothing of a mode differs from bulk. Of whole models, pairs are overlapped that workload.fuse
// names, or that were faster so when tried by themselves.
const char* why_as_bulk(const RunReport& report, Mode mode) {
  const bool could = std::any_of(report.candidates.begin(), report.candidates.end(),
                                 [mode](const Candidate& pair) {
                                   return pair.obstacle.empty() && pair.time_in(mode).count() > 0;
                                 });
  const bool in_one_chunk = is_pair(report.scenario.workload.kind) && mode == Mode::kernel &&
                            report.scenario.kernel.chunks == 1;
  if (in_one_chunk) return "kernel.chunks is 1";
  if (!could) return "nothing could be overlapped";
  return report.scenario.workload.fuse.automatic
             ? "no pair that could be overlapped was faster so"
             : "workload.fuse names no pair that could be overlapped";
}

}  // namespace

bool is_bulk_again(const ModeRun& run, const ModeRun* bulk) {
  return bulk != nullptr && &run != bulk && run.result.fingerprint != 0 &&
         run.result.fingerprint == bulk->result.fingerprint && run.result.time == bulk->result.time;
}

std::string same_as_bulk_text(const RunReport& report, const ModeRun& bulk) {
  std::map<std::string_view, std::vector<std::string_view>> modes;  // by reason
  for (const ModeRun& run : report.runs) {
    const Mode mode = run.result.mode;
    if (is_bulk_again(run, &bulk)) modes[why_as_bulk(report, mode)].emplace_back(name_of(mode));
  }
  std::string text;
  for (const auto& [reason, names] : modes) {
    text += fmt::format(" The same as bulk, because {}: {}.", reason, fmt::join(names, ", "));
  }
  return text;
}

}  // namespace weft
