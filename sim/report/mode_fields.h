// The fields of a mode: what summary.json, sweeps' tables, the terminal's table and charts say of
// each. A row each, in mode_fields.cc; who shows them goes through the rows and names none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/report/c3.h"
#include "sim/report/field_value.h"
#include "sim/report/fields.h"
#include "sim/report/measures.h"
#include "sim/report/model.h"

namespace weft {

// One mode's run, and what its fields are computed from.
struct ModeView {
  const RunReport& report;
  const ModeRun& run;
  Measures measures;
  const ModeRun* baseline;         // null: not run
  std::optional<Isolated> alone;   // of kind c3
  std::vector<PartTime> parts;     // of a whole model; idle last
  const PartTime* part = nullptr;  // whose value is asked for, by a field that each part has
};
ModeView view_of(const RunReport& report, const ModeRun& run);

// Where a field is shown besides files.
struct Shown {
  const char* heading = nullptr;     // of its column in the terminal's table; null: not there
  const char* c3_heading = nullptr;  // the same, of kind c3
  std::string (*cell)(const ModeView& mode) = nullptr;  // what stands there; null: the value
  // Of a field below modes.<mode>: the reader of a run's page may choose it; of a sweep's, any
  // number.
  bool in_run_page = false;
};

struct ModeField {
  const char* path;  // in summary.json: <mode> and <part> stand for names
  Unit unit;
  const char* title;
  const char* meaning;
  FieldValue (*value)(const ModeView& mode);  // nothing: the mode has no such field
  Shown shown = {};
};

// In the order of summary.json and of the table's columns.
std::span<const ModeField> mode_fields();

// What a mode's time is made of, in the order in which it is drawn; the last one is what is left.
struct TimePhase {
  const char* field;  // "": the time less all others
  const char* colour;
};
std::span<const TimePhase> phases();
std::string title_of(const TimePhase& phase);

// The mode's time, which all phases together are.
inline constexpr const char* kTimeField = "time_us";

}  // namespace weft
