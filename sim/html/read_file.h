// Reads files of results; their mistakes are reported like those of any other input.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/files/file_set.h"

namespace weft {

// A problem of a whole file, or of one of its lines.
void add_problem(Diagnostics& problems, const std::filesystem::path& file, int line,
                 std::string path, std::string message);

// Empty, with a problem, if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& file, Diagnostics& problems);

// The same for a file of a result, which must match the result's other files.
std::optional<std::string> read_text(const std::filesystem::path& file, const FileSet& files,
                                     Diagnostics& problems);

// An object; empty, with a problem, if it is none.
using JsonValue = nlohmann::ordered_json;
std::optional<JsonValue> parse_json(const std::filesystem::path& file, const std::string& text,
                                    Diagnostics& problems);
std::optional<JsonValue> read_json(const std::filesystem::path& file, Diagnostics& problems);

// A CSV file by RFC 4180; lines may end in \n alone.
struct CsvTable {
  struct Row {
    int line = 0;  // on which it begins
    std::vector<std::string> fields;
  };
  std::filesystem::path file;
  std::vector<std::string> columns;
  std::vector<Row> rows;  // each has as many fields as there are columns
};
CsvTable parse_csv(const std::filesystem::path& file, const std::string& text,
                   Diagnostics& problems);
std::optional<CsvTable> read_csv(const std::filesystem::path& file, Diagnostics& problems);

// Empty, with a problem that names a similar column, if it is missing.
std::optional<std::size_t> column_index(const CsvTable& table, const std::string& column,
                                        Diagnostics& problems);

// The whole text as a finite number; empty if it is none.
std::optional<double> number_of(const std::string& text);

// A column that a chart needs.
enum class Holds { text, number };
struct Needed {
  std::string column;
  Holds holds = Holds::number;
};
// The rows with the needed columns in the order asked for, numbers as numbers. Empty, with a
// problem each, if columns are missing or do not hold what they should.
std::optional<std::vector<std::vector<JsonValue>>> cells(const CsvTable& table,
                                                         const std::vector<Needed>& needed,
                                                         Diagnostics& problems);

}  // namespace weft
