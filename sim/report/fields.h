// Fields: every name that a result file may hold, its unit and its meaning. docs/results.md is this
// table as text, and tests hold both and the files against one another.
#pragma once

#include <span>
#include <string>
#include <vector>

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
  points
};

const char* file_name(ResultFile file);  // "summary.json"

// `name` is a column, or the path of a JSON value: <mode> and <index> stand for what differs. A
// value without a unit is a name, a count, a hash or a share (0 to 1): its meaning says which.
struct Field {
  ResultFile file;
  const char* name;
  const char* unit;
  const char* meaning;
};

std::span<const Field> fields();

// The columns of a CSV file, in order.
std::vector<std::string> columns(ResultFile file);

// The fields of one file as a Markdown table.
std::string to_markdown(ResultFile file);

}  // namespace weft
