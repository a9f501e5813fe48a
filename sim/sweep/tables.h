// The tables of a sweep, made from its rows (docs/results.md). Equal rows give equal bytes: nothing
// in them depends on when or where they were run.
//
//   results.csv        one line per row, the axes first; a column for every value that any row has
//   results_long.csv   one line per value: point, mode, field, value, unit
//   catalogue.json     names, units and colours of the fields, for programs that draw them
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/files/staged.h"
#include "sim/sweep/row.h"

namespace weft {

std::string results_csv(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes);
std::string results_long_csv(const std::vector<Row>& rows);

// The names of all tables and of the manifest that lists them.
std::vector<std::string> table_names();
void add_tables(Staged& staged, const std::filesystem::path& folder, const std::vector<Row>& rows,
                const std::vector<AxisColumn>& axes);
void remove_tables(Staged& staged, const std::filesystem::path& folder);

}  // namespace weft
