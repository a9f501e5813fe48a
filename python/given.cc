#include "python/given.h"

#include <utility>

#include "sim/core/plain_text.h"
#include "sim/scenario/configs_above.h"
#include "sim/scenario/wrong_file.h"
#include "sim/sweep/row.h"

namespace weft {

Problems told(const Diagnostics& found) {
  Problems problems{.all = {},
                    .text = printable(found.to_text()),
                    .line = printable_line(one_line(found)),
                    .has_errors = found.has_errors()};
  for (const Diagnostic& one : found.all()) {
    problems.all.emplace_back(printable_line(one.at.file), one.at.line, one.at.column,
                              printable_line(one.path), printable(one.message),
                              one.severity == Severity::error ? "error" : "warning",
                              printable_line(one.source_line));
  }
  return problems;
}

Diagnostics problems_of(const Source& source, const Diagnostics& found, FileKind takes) {
  return source.text ? found : or_its_command(found, source.file, takes);
}

Folders config_dirs(const fs::path& file, const Folders& more) {
  Folders folders = configs_above(file);
  folders.insert(folders.end(), more.begin(), more.end());
  return folders;
}

std::optional<SweepPlan> plan_of(const Source& source, const Strings& sets, const Folders& folders,
                                 Problems& problems) {
  const PlanOptions options{.sets = sets, .config_dirs = [&folders](const fs::path& file) {
                              return config_dirs(file, folders);
                            }};
  LoadedPlan loaded = source.text ? load_plan_text(*source.text, source.file.string(), options)
                                  : load_plan(source.file, options);
  problems = told(problems_of(source, loaded.problems, FileKind::sweep));
  return std::move(loaded.plan);
}

}  // namespace weft
