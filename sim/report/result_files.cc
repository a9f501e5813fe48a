#include "sim/report/result_files.h"

#include <array>

#include "sim/report/csv.h"
#include "sim/report/fields.h"
#include "sim/report/manifest.h"
#include "sim/report/model.h"
#include "sim/report/over_time.h"
#include "sim/report/stages.h"
#include "sim/report/summary.h"
#include "sim/scenario/load.h"

namespace weft {

std::vector<OutputFile> result_files(const RunReport& report) {
  std::vector<OutputFile> files{{file_name(ResultFile::summary), summary_json(report)},
                                {file_name(ResultFile::operators), operators_csv(report)},
                                {file_name(ResultFile::links), links_csv(report)},
                                {file_name(ResultFile::link_classes), link_classes_csv(report)},
                                {file_name(ResultFile::over_time), over_time_csv(report)}};
  if (is_model(report.scenario.workload.kind)) {
    files.push_back({file_name(ResultFile::parts), parts_csv(report)});
    files.push_back({file_name(ResultFile::fusions), fusions_csv(report)});
    if (has_stages(report.scenario)) {
      files.push_back({file_name(ResultFile::stages), stages_csv(report)});
    }
  }
  files.push_back({kResolvedScenario, to_text(report.scenario)});
  files.push_back({file_name(ResultFile::manifest), manifest_json(report)});
  return files;
}

std::vector<std::string> result_names() {
  using enum ResultFile;
  std::vector<std::string> names;
  for (const ResultFile file : {summary, operators, links, link_classes, over_time, parts, stages,
                                fusions, manifest, files}) {
    names.emplace_back(file_name(file));
  }
  names.emplace_back(kResolvedScenario);
  return names;
}

}  // namespace weft
