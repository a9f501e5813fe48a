#include "sim/sweep/summary_values.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/report/csv_line.h"
#include "sim/report/field_names.h"
#include "sim/report/fields.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  if (value.is_number_float()) return csv_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// By the path of a value, in which <mode> and <part> stand for names.
Unit unit_of(const std::string& path) {
  static const std::map<std::string, Unit> kUnits = [] {
    std::map<std::string, Unit> units;
    for (const Field& field : fields(ResultFile::summary)) units.emplace(field.name, field.unit);
    return units;
  }();
  const auto found = kUnits.find(path);
  return found == kUnits.end() ? Unit::text : found->second;  // an older weft's
}

class Reader {
 public:
  std::vector<SummaryValue> read(const Json& summary) {
    for (const auto& [mode, fields] : summary.at("modes").items()) add_mode(mode, fields);
    for (const auto& [member, ratio] : summary.at("speedup").items()) add_speedup(member, ratio);
    if (summary.contains("c3")) add_c3(summary.at("c3"));
    return std::move(values_);
  }

 private:
  void add(ColumnGroup group, const std::string& mode, std::string field, const std::string& path,
           const Json& value) {
    values_.push_back({.group = group,
                       .mode = mode,
                       .field = std::move(field),
                       .text = text_of(value),
                       .unit = unit_of(path)});
  }

  void add_mode(const std::string& mode, const Json& fields) {
    for (const auto& [field, value] : fields.items()) {
      if (field == "parts") {
        for (const auto& [part, values] : value.items()) add_part(mode, part, values);
      } else if (value.is_object()) {
        for (const auto& [inner, number] : value.items()) {
          add_of_mode(mode, fmt::format("{}.{}", field, inner), number);
        }
      } else {
        add_of_mode(mode, field, value);
      }
    }
  }

  void add_of_mode(const std::string& mode, const std::string& path, const Json& value) {
    add(ColumnGroup::modes, mode, flat_name(path), "modes.<mode>." + path, value);
  }

  void add_part(const std::string& mode, const std::string& part, const Json& fields) {
    for (const auto& [field, value] : fields.items()) {
      add(ColumnGroup::parts, mode, fmt::format("{}_{}", part, field),
          "modes.<mode>.parts.<part>." + field, value);
    }
  }

  void add_speedup(const std::string& member, const Json& ratio) {
    const SpeedupName name = speedup_name(member);
    add(ColumnGroup::speedups, name.mode, name.field, "speedup.<mode>_vs_" + name.baseline, ratio);
  }

  void add_c3(const Json& c3) {
    for (const auto& [field, value] : c3.items()) {
      if (field != "strategies") add(ColumnGroup::c3, "", "c3_" + field, "c3." + field, value);
    }
    for (const auto& [mode, fields] : c3.at("strategies").items()) {
      for (const auto& [field, value] : fields.items()) {
        if (value.is_structured()) continue;
        add(ColumnGroup::c3, mode, field, "c3.strategies.<mode>." + field, value);
      }
    }
  }

  std::vector<SummaryValue> values_;
};

}  // namespace

std::vector<SummaryValue> summary_values(const std::string& summary) {
  if (summary.empty()) return {};
  return Reader().read(Json::parse(summary));
}

std::string column_of(const SummaryValue& value) {
  return value.mode.empty() ? value.field : sweep_column(value.mode, value.field);
}

}  // namespace weft
