// Where the time of each stage of a pipeline goes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/report/field_value.h"
#include "sim/report/fields.h"
#include "sim/report/run_report.h"

namespace weft {

// Mean over the GPUs of a stage; together the time of the run.
struct StageTime {
  int stage = 0;
  Duration computing;
  Duration exposed;  // communicates and computes nothing
  Duration idle;     // no kernel on a GPU: the bubble, and launches
};
bool has_stages(const Scenario& scenario);  // more than one

// Of a model that is cut into stages; else none.
std::vector<StageTime> stage_times(const RunReport& report, const RunResult& result);

// For people, of the first and the last stages where there are many; empty: no stages.
std::string stages_table(const RunReport& report);

std::string stages_csv(const RunReport& report);
std::vector<Field> stage_fields();
// Whether it is a value, and does not say of which stage and mode; those with their names.
bool is_of_stage(const Field& field);
std::vector<std::pair<std::string, FieldValue>> values_of(const RunResult& result,
                                                          const StageTime& time);

}  // namespace weft
