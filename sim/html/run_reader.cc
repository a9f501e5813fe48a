#include "sim/html/run_reader.h"

#include "sim/report/result_files.h"

namespace weft {

namespace fs = std::filesystem;

RunReader::RunReader(const fs::path& folder, Diagnostics& problems)
    : folder_(folder), files_(folder / kFilesOfResult), problems_(problems) {
  if (files_.problem().empty()) return;
  add_problem(problems_, folder_ / kFilesOfResult, 0, "", files_.problem());
}

bool RunReader::has(const std::string& name) const {
  std::error_code ignored;
  return files_.known() ? files_.lists(name) : fs::exists(folder_ / name, ignored);
}

void RunReader::check_others() {
  for (const std::string& name : result_names()) {
    if (files_.lists(name) && !read_.contains(name)) read_text(folder_ / name, files_, problems_);
  }
}

std::optional<JsonValue> RunReader::json(ResultFile file) {
  const fs::path path = folder_ / file_name(file);
  read_.insert(file_name(file));
  const auto text = read_text(path, files_, problems_);
  if (!text) return std::nullopt;
  return parse_json(path, *text, problems_);
}

Rows RunReader::rows(const std::string& name, const std::vector<Needed>& needed) {
  const fs::path path = folder_ / name;
  read_.insert(name);
  const auto text = read_text(path, files_, problems_);
  if (!text) return {};
  return cells(parse_csv(path, *text, problems_), needed, problems_).value_or(Rows());
}

std::vector<ModeField> shown_fields() {
  std::vector<ModeField> fields;
  for (const ModeField& field : mode_fields()) {
    if (field.shown.in_run_page) fields.push_back(field);
  }
  return fields;
}

double number_at(const JsonValue& mode, const std::string& path, const std::string& where,
                 JsonCheck& check) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) return check.number(mode, path.c_str(), where);
  const std::string group = path.substr(0, dot);
  const auto found = mode.find(group);
  return number_at(found == mode.end() ? JsonValue::object() : *found, path.substr(dot + 1),
                   where + "." + group, check);
}

std::string in_one_line(std::string text) {
  const std::string blanks = "   ";
  for (std::size_t at = text.find(blanks); at != std::string::npos; at = text.find(blanks, at)) {
    text.replace(at, blanks.size(), "; ");
  }
  return text;
}

}  // namespace weft
