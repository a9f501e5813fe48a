// Fields: every name that a result file may hold, its unit and its meaning. docs/results.md is this
// as text; tests compare both with the files.
//
// Each row stands where its value is computed: those of a mode in mode_fields.cc, those of columns
// with their columns (csv.cc, model.cc, over_time.cc), the others in fields.cc.
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
  stages,
  fusions,
  manifest,
  files,
  sweep,
  sweep_long,
  catalogue,
  points
};

const char* file_name(ResultFile file);  // "summary.json"

// `name` is a column, or the path of a JSON value: <mode>, <part> and <index> are
// placeholders. A value without a unit is a name, a count, a hash or a share, as its meaning says.
struct Field {
  std::string name;
  Unit unit;
  const char* title;  // of columns and axes; "": only its own file shows it
  const char* meaning;
};

// In the order in which the file has them.
std::vector<Field> fields(ResultFile file);

// Aborts if there is none.
Field field(ResultFile file, const std::string& name);

// The fields of one file as a Markdown table.
std::string to_markdown(ResultFile file);

}  // namespace weft
