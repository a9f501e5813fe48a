// Fields: every name that a result file may hold, its unit and its meaning. docs/results.md is this
// as text, and tests hold both and the files against one another.
//
// The rows stand where their values are made: mode_fields.cc has those of a mode, each file of
// columns its own (csv.cc, model.cc, over_time.cc); fields.cc the others.
#pragma once

#include <string>
#include <vector>

#include "sim/report/unit.h"

namespace weft {

enum class ResultFile {
  summary,
  operators,
  links,
  link_classes,
  over_time,
  parts,
  fusions,
  manifest,
  files,
  sweep,
  sweep_long,
  catalogue,
  points
};

const char* file_name(ResultFile file);  // "summary.json"

// `name` is a column, or the path of a JSON value: <mode>, <part> and <index> stand for what
// differs. A value without a unit is a name, a count, a hash or a share: its meaning says which.
struct Field {
  std::string name;
  Unit unit;
  const char* title;  // of columns and axes; "": nothing shows it but its own file
  const char* meaning;
};

// In the order in which the file has them.
std::vector<Field> fields(ResultFile file);

// Aborts where there is none.
Field field(ResultFile file, const std::string& name);

// The fields of one file as a Markdown table.
std::string to_markdown(ResultFile file);

}  // namespace weft
