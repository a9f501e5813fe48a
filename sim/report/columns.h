// The columns of a CSV file: one table of rows gives its header, its lines and its fields.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/report/csv_line.h"
#include "sim/report/field_value.h"
#include "sim/report/fields.h"

namespace weft {

template <class Row>
struct Column {
  const char* name;
  Unit unit;
  const char* title;
  const char* meaning;
  FieldValue (*value)(const Row& row);
};

template <class Row, std::size_t n>
std::vector<Field> fields_of(const std::array<Column<Row>, n>& columns) {
  std::vector<Field> fields;
  fields.reserve(n);
  for (const Column<Row>& column : columns) {
    fields.push_back({column.name, column.unit, column.title, column.meaning});
  }
  return fields;
}

template <class Row, std::size_t n>
std::string csv_header(const std::array<Column<Row>, n>& columns) {
  std::vector<std::string> names;
  names.reserve(n);
  for (const Column<Row>& column : columns) names.emplace_back(column.name);
  return csv_line(names);
}

template <class Row, std::size_t n>
std::string csv_line(const std::array<Column<Row>, n>& columns, const Row& row) {
  std::vector<std::string> values;
  values.reserve(n);
  for (const Column<Row>& column : columns) values.push_back(csv_text(column.value(row)));
  return csv_line(values);
}

}  // namespace weft
