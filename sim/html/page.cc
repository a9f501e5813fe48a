#include "sim/html/page.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/report/field_names.h"
#include "sim/report/mode_fields.h"

namespace weft {
namespace {

std::string in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

PageColumn shown(const std::string& name, const char* title, Unit unit) {
  const ShownAs as = shown_as(unit);
  return {
      .name = name, .title = title, .as = as, .unit = as == ShownAs::number ? name_of(unit) : ""};
}

}  // namespace

Role always(const char* name, const char* column) {
  return {.name = name, .label = "", .choices = {column}, .chosen = column};
}

Role choice(const char* name, const char* label, std::vector<std::string> choices) {
  std::string first = choices.front();
  return {.name = name, .label = label, .choices = std::move(choices), .chosen = std::move(first)};
}

PageColumn mode_column(const std::string& name) {
  if (name == "mode") return {.name = name, .title = name};
  for (const ModeField& field : mode_fields()) {
    if (name == name_of(field)) return shown(name, field.title, field.unit);
  }
  std::string title = in_words(name);
  const ShownAs as = name.ends_with("_us") ? ShownAs::time : ShownAs::number;
  if (as == ShownAs::time) title.resize(title.size() - 3);
  return {.name = name, .title = title, .as = as};
}

PageColumn file_column(ResultFile file, const std::string& name) {
  const Field one = field(file, name);
  return shown(name, one.title, one.unit);
}

PageColumn axis_column(const std::string& name, bool is_number) {
  PageColumn column{.name = name, .title = in_words(name), .as = ShownAs::text};
  if (!is_number) return column;
  column.as = ShownAs::number;
  for (const auto& [suffix, unit] : axis_units()) {
    if ('_' + name == suffix) column.unit = unit;  // "bytes" itself
    if (!name.ends_with(suffix)) continue;
    column.title.resize(name.size() - std::string_view(suffix).size());
    column.unit = unit;
  }
  return column;
}

void tell_apart(std::vector<PageColumn>& columns) {
  std::map<std::string, int> with_title;
  for (const PageColumn& column : columns) ++with_title[column.title];
  for (PageColumn& column : columns) {
    if (with_title[column.title] > 1) column.title = in_words(column.name);
  }
}

}  // namespace weft
