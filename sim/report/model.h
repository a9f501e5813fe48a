// What reports say about whole models: the time of each part, and what fusing would bring.
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
// Longest first, idle last. Together they add up to the time of the run.
std::vector<PartTime> part_times(const RunResult& result);
bool is_idle(const PartTime& part);

// Tables for people: parts by mode; candidates for fusing, ranked.
std::string parts_table(const RunReport& report);
std::string path_text(const RunReport& report);  // the critical path, one line per mode
std::string fusions_table(const RunReport& report);

std::string parts_csv(const RunReport& report);
std::string fusions_csv(const RunReport& report);

std::vector<Field> part_fields();
std::vector<Field> fusion_fields();

}  // namespace weft
