// The tables of a sweep, made of its rows (docs/results.md). The same rows, the same bytes: nothing
// in them depends on when or where they were run.
//
//   results.csv        a line a row, the axes first; a column for whatever any of the rows has
//   results_long.csv   a line a value: point, mode, field, value, unit
//   catalogue.json     what the fields are called, and colours: for whoever draws them
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/files/staged.h"
#include "sim/sweep/row.h"

namespace weft {

std::string results_csv(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes);
std::string results_long_csv(const std::vector<Row>& rows);

// All of them and the manifest that lists them.
std::vector<std::string> table_names();
void add_tables(Staged& staged, const std::filesystem::path& folder, const std::vector<Row>& rows,
                const std::vector<AxisColumn>& axes);
void remove_tables(Staged& staged, const std::filesystem::path& folder);

}  // namespace weft
