// Names of fields outside of summary.json, and back.
#pragma once

#include <string>

#include "sim/report/mode_fields.h"

namespace weft {

// Its name in charts and in tables of sweeps: "time_us", "wait_post_us", "speedup_vs_bulk"; for a
// part "<part>_computing_us".
std::string name_of(const ModeField& field);
// The same for a path; a group's unit moves to the end: "wait_us.post" is "wait_post_us".
std::string flat_name(const std::string& path);

// The path of a field below modes.<mode>: "wait_us.post".
std::string path_in_mode(const ModeField& field);

bool is_of_part(const ModeField& field);  // each part of a model has one
bool is_speedup(const ModeField& field);
bool is_speedup(const std::string& name);
// The member "fused_vs_bulk" of `speedup` is the field "speedup_vs_bulk" of mode "fused".
struct SpeedupName {
  std::string mode;
  std::string field;
  std::string baseline;
};
SpeedupName speedup_name(const std::string& member);

// Columns of results.csv: "fused_time_us", and "fused_vs_bulk_speedup" for "speedup_vs_bulk".
std::string sweep_column(const std::string& mode, const std::string& field);
std::string field_of_column(const std::string& column, const std::string& mode);

}  // namespace weft
