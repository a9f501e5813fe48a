// The fields of a mode: what summary.json, tables of sweeps, the terminal's table and charts say
// about each mode. One row each, in mode_fields.cc; code that shows them iterates over the rows.
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
#include "sim/report/rates.h"

namespace weft {

// One mode's run, and what its fields are computed from.
struct ModeView {
  const RunReport& report;
  const ModeRun& run;
  Measures measures;
  Rates rates;
  const ModeRun* baseline;         // null: not run
  std::optional<Isolated> alone;   // kind c3
  std::vector<PartTime> parts;     // whole models; idle last
  const PartTime* part = nullptr;  // the part that a field of parts is computed for
};
ModeView view_of(const RunReport& report, const ModeRun& run);

// Where a field is shown, apart from files.
struct Shown {
  const char* heading = nullptr;     // of its column in the terminal's table; null: no column
  const char* c3_heading = nullptr;  // the same, for kind c3
  std::string (*cell)(const ModeView& mode) = nullptr;  // the text there; null: the value
  bool if_any = false;  // tables have the column only where a mode has a value
  // A field below modes.<mode> that a run's HTML page offers; a sweep's page offers every
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

// The phases that a mode's time consists of, in drawing order; the last one is the rest.
struct TimePhase {
  const char* field;  // "": the time minus all others
  const char* colour;
};
std::span<const TimePhase> phases();
std::string title_of(const TimePhase& phase);

// The mode's time: the sum of all phases.
inline constexpr const char* kTimeField = "time_us";

}  // namespace weft
