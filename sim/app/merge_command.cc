#include "sim/app/merge_command.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "sim/app/known_options.h"
#include "sim/app/planned.h"
#include "sim/core/plural.h"
#include "sim/run/exit_code.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/tables.h"

namespace weft {

int merge_command(const MergeCommand& command) {
  Planned planned;
  for (const auto& folder : command.folders) {
    for (const char* name : {"sweep.json", "results.jsonl"}) planned.reads.push_back(folder / name);
  }
  std::vector<std::string> names = table_names();
  names.insert(names.end(), {"sweep.json", "results.jsonl"});
  planned.write("--output", command.output, names);
  if (refused(planned)) return exit_code::user;
  const Merged merged = merge_rows(command.folders);
  for (const std::string& problem : merged.problems) spdlog::error("{}", problem);
  if (merged.rows.empty()) return exit_code::user;
  write_merged(command.output, merged);
  // What shards in their default folders have shared.
  if (merged.problems.empty()) KnownFiles::remove(command.output / kKnownFolder);
  const auto ok = std::count_if(merged.rows.begin(), merged.rows.end(),
                                [](const Row& row) { return row.outcome.ok; });
  const auto failed = static_cast<std::ptrdiff_t>(merged.rows.size()) - ok;
  spdlog::info("{} {}: {} ok, {} failed; results are in {}", merged.info.points,
               plural(merged.info.points, "point", "points"), ok, failed, command.output.string());
  return merged.problems.empty() && failed == 0 ? exit_code::ok : exit_code::user;
}

}  // namespace weft
