#include "sim/sweep/columns.h"

#include <algorithm>
#include <set>

#include "sim/report/field_names.h"
#include "sim/scenario/base_keys.h"
#include "sim/scenario/list_elements.h"
#include "sim/scenario/mode_rows.h"

namespace weft {
namespace {

// An axis that swaps a file is called after the map that the file is of, an element of a list with
// the list: "pairs_0".
std::vector<std::string> parts_of(const SweepKey& key) {
  std::vector<std::string> parts;
  for (const std::string& part : key.keys) {
    if (names_an_element(part) && !parts.empty()) {
      parts.back() += '_' + part;
    } else {
      parts.push_back(part);
    }
  }
  if (parts.size() > 1 && base_keys::contain(parts.back())) parts.pop_back();
  return parts;
}

std::string automatic(const SweepKey& key, std::size_t count) {
  const std::vector<std::string> parts = parts_of(key);
  std::string name;
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i) {
    name += (name.empty() ? "" : "_") + parts[i];
  }
  // workload.collective.bytes: its name is its unit.
  const std::string& unit = key.unit_suffix;
  return !unit.empty() && '_' + name == unit ? name : name + unit;
}

// What results.csv has of every sweep.
std::set<std::string> taken_columns() {
  std::set<std::string> taken{"point", "status", "error"};
  for (const ModeField& field : mode_fields()) {
    if (is_of_part(field)) continue;
    for (const ModeRow& mode : kModeRows) {
      taken.insert(sweep_column(mode.name, name_of(field)));
    }
  }
  return taken;
}

std::vector<SweepKey*> keys_of(std::vector<SweepAxis>& axes) {
  std::vector<SweepKey*> keys;
  for (SweepAxis& axis : axes) {
    for (SweepKey& key : axis.keys) keys.push_back(&key);
  }
  return keys;
}

}  // namespace

void name_columns(std::vector<SweepAxis>& axes, Diagnostics& problems) {
  const std::vector<SweepKey*> keys = keys_of(axes);
  std::vector<SweepKey*> unnamed;
  std::set<std::string> taken = taken_columns();
  for (SweepKey* key : keys) {
    if (key->column.empty()) {
      unnamed.push_back(key);
    } else if (!taken.insert(key->column).second) {
      problems.add({.at = key->at,
                    .path = "axes",
                    .message = "column '" + key->column + "' already exists; choose another name",
                    .source_line = ""});
    }
  }
  constexpr std::size_t kMaxParts = 16;
  for (SweepKey* key : unnamed) {
    const auto is_free = [&](std::size_t parts) {
      const std::string name = automatic(*key, parts);
      return !taken.contains(name) &&
             std::none_of(unnamed.begin(), unnamed.end(), [&](const SweepKey* other) {
               return other != key && automatic(*other, parts) == name;
             });
    };
    std::size_t parts = 1;
    while (parts < kMaxParts && !is_free(parts)) ++parts;
    key->column = automatic(*key, parts);
    if (is_free(parts)) continue;
    problems.add({.at = key->at,
                  .path = "axes",
                  .message = "another axis has column '" + key->column + "'; give this one a name",
                  .source_line = ""});
  }
}

}  // namespace weft
