// The content of a page of charts, before it becomes HTML.
//
// A chart draws rows of a table. Its roles say which columns are drawn as what; if a role has
// several choices, the reader picks. Columns in `slice` that no role shows are held at one value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/html/read_file.h"
#include "sim/report/fields.h"

namespace weft {

struct PageColumn {
  std::string name;  // as in the file
  std::string title;
  ShownAs as = ShownAs::text;
  std::string unit{};  // of numbers that are shown unscaled
};

struct PageTable {
  std::string name;
  std::vector<PageColumn> columns;
  std::vector<std::vector<JsonValue>> rows;  // null: no value
};

struct Role {
  std::string name;  // of the kind of chart: category, x, y, series, value
  std::string label;
  std::vector<std::string> choices;
  std::string chosen;
};

struct Chart {
  std::string id;
  std::string title;
  std::string text;
  std::string kind;   // a file of page/: bars, stacked, lines, heat
  std::string table;  // empty: nothing to draw, and `text` says why
  std::vector<Role> roles;
  std::vector<std::string> slice;
  std::string within;  // stacked: a second column that names a bar
  std::string label;   // bars: a column written after the time
  std::string steps;   // lines: each value holds until this column's
};

// A table to read, without a chart.
struct TextTable {
  std::string id;
  std::string title;
  std::string text;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // none: `text` says why
  std::size_t words = 1;                       // columns before those of numbers
};

struct Page {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string command;
  std::string note;  // what the reader has to know first; may be empty
  std::vector<std::string> sentences;
  std::vector<std::string> failed;  // failed points of a sweep
  std::vector<TextTable> texts{};   // before the charts
  std::vector<PageTable> tables;
  std::vector<Chart> charts;
};

// A role that shows one column.
Role always(const char* name, const char* column);
// A role whose column the reader chooses; the first one is shown at first.
Role choice(const char* name, const char* label, std::vector<std::string> choices);

// A field of a mode by the name that charts give it ("time_us", "speedup_vs_bulk"), or "mode"
// itself; also for an unknown name: that of a part of a model, or an older weft's.
PageColumn mode_column(const std::string& name);

// A column of one of a run's files.
PageColumn file_column(ResultFile file, const std::string& name);

// The column of an axis, with the unit that its name ends in.
PageColumn axis_column(const std::string& name, bool is_number);
// Columns with equal titles get their full names: link_gbps and link_us are both `link`.
void tell_apart(std::vector<PageColumn>& columns);

}  // namespace weft
