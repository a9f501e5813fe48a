// What reports say of whole models: where the time went, part by part, and what fusing would bring.
#pragma once

#include <string>
#include <vector>

#include "sim/report/fields.h"
#include "sim/report/run_report.h"

namespace weft {

// Time of a part, mean over GPUs.
struct PartTime {
  std::string name;  // "idle": no kernel is active
  Duration computing;
  Duration exposed;
};
// The one that takes longest first, idle last. Together they are the time of the run.
std::vector<PartTime> part_times(const RunResult& result);
bool is_idle(const PartTime& part);

// Tables for people: parts by mode; candidates for fusing, ranked.
std::string parts_table(const RunReport& report);
std::string path_text(const RunReport& report);  // the critical path, a line a mode
std::string fusions_table(const RunReport& report);

std::string parts_csv(const RunReport& report);
std::string fusions_csv(const RunReport& report);

std::vector<Field> part_fields();
std::vector<Field> fusion_fields();

}  // namespace weft
