#include "sim/html/read_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/files/json_mistake.h"
#include "sim/files/read_text.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

JsonValue cell(const CsvTable& table, const CsvTable::Row& row, std::size_t column, Holds holds,
               Diagnostics& problems) {
  const std::string& text = row.fields[column];
  if (holds == Holds::text) return text;
  if (const auto number = number_of(text)) return *number;
  add_problem(problems, table.file, row.line, table.columns[column],
              fmt::format("'{}' is not a number", text));
  return nullptr;
}

}  // namespace

void add_problem(Diagnostics& problems, const fs::path& file, int line, std::string path,
                 std::string message) {
  Diagnostic problem;
  problem.at = {.file = file.string(), .line = line, .column = line > 0 ? 1 : 0};
  problem.path = std::move(path);
  problem.message = std::move(message);
  problems.add(std::move(problem));
}

std::optional<std::string> read_text(const fs::path& file, Diagnostics& problems) {
  ReadText read = read_text(file);
  if (!read.text) add_problem(problems, file, 0, "", read.problem);
  return std::move(read.text);
}

std::optional<std::string> read_text(const fs::path& file, const FileSet& files,
                                     Diagnostics& problems) {
  auto text = read_text(file, problems);
  if (!text) return std::nullopt;
  const std::string problem = files.problem_of(file.filename().string(), *text);
  if (problem.empty()) return text;
  add_problem(problems, file, 0, "", problem);
  return std::nullopt;
}

std::optional<JsonValue> parse_json(const fs::path& file, const std::string& text,
                                    Diagnostics& problems) {
  if (const auto mistake = first_json_mistake(text)) {
    problems.add({.at = {.file = file.string(), .line = mistake->line, .column = mistake->column},
                  .path = "",
                  .message = "not JSON: " + mistake->words,
                  .source_line = ""});
    return std::nullopt;
  }
  JsonValue json = JsonValue::parse(text);
  if (json.is_object()) return json;
  add_problem(problems, file, 0, "", "must be a JSON object");
  return std::nullopt;
}

std::optional<JsonValue> read_json(const fs::path& file, Diagnostics& problems) {
  const auto text = read_text(file, problems);
  if (!text) return std::nullopt;
  return parse_json(file, *text, problems);
}

CsvTable parse_csv(const fs::path& file, const std::string& text, Diagnostics& problems) {
  CsvTable table{.file = file, .columns = {}, .rows = {}};
  std::vector<CsvTable::Row> rows;
  CsvTable::Row row{.line = 1, .fields = {""}};
  bool quoted = false;
  int line = 1;
  const auto end_row = [&] {
    const bool blank = row.fields.size() == 1 && row.fields[0].empty();
    if (!blank) rows.push_back(std::move(row));
    row = {.line = line, .fields = {""}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
      row.fields.back() += c;
    } else if (c == ',') {
      row.fields.emplace_back();
    } else if (c == '\n') {
      end_row();
    }
  }
  const int last_begins = row.line;
  end_row();
  if (quoted) add_problem(problems, file, last_begins, "", "a quote is not closed");
  if (rows.empty()) {
    add_problem(problems, file, 0, "", "is empty; its first line should name the columns");
    return table;
  }
  table.columns = std::move(rows.front().fields);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].fields.size() == table.columns.size()) {
      table.rows.push_back(std::move(rows[i]));
      continue;
    }
    add_problem(problems, file, rows[i].line, "",
                fmt::format("{} fields, but there are {} columns", rows[i].fields.size(),
                            table.columns.size()));
  }
  return table;
}

std::optional<CsvTable> read_csv(const fs::path& file, Diagnostics& problems) {
  const auto text = read_text(file, problems);
  if (!text) return std::nullopt;
  return parse_csv(file, *text, problems);
}

std::optional<std::size_t> column_index(const CsvTable& table, const std::string& column,
                                        Diagnostics& problems) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), column);
  if (found != table.columns.end()) {
    return static_cast<std::size_t>(found - table.columns.begin());
  }
  const std::string near = nearest(column, table.columns);
  add_problem(
      problems, table.file, 1, column,
      "no such column" + (near.empty() ? "" : fmt::format("; is '{}' a misspelling?", near)));
  return std::nullopt;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stopped != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::vector<std::vector<JsonValue>>> cells(const CsvTable& table,
                                                         const std::vector<Needed>& needed,
                                                         Diagnostics& problems) {
  if (table.columns.empty()) return std::nullopt;
  Diagnostics found;
  std::vector<std::pair<std::size_t, Holds>> taken;
  taken.reserve(needed.size());
  for (const auto& [column, holds] : needed) {
    if (const auto index = column_index(table, column, found)) taken.emplace_back(*index, holds);
  }
  std::vector<std::vector<JsonValue>> rows;
  rows.reserve(table.rows.size());
  for (const CsvTable::Row& row : table.rows) {
    std::vector<JsonValue> values;
    values.reserve(taken.size());
    for (const auto& [column, holds] : taken) {
      values.push_back(cell(table, row, column, holds, found));
    }
    rows.push_back(std::move(values));
  }
  problems.append(found);
  if (found.has_errors()) return std::nullopt;
  return rows;
}

}  // namespace weft
