#include "sim/report/field_names.h"

#include <string_view>

namespace weft {
namespace {

constexpr std::string_view kOfMode = "modes.<mode>.";
constexpr std::string_view kOfStrategy = "c3.strategies.<mode>.";
constexpr std::string_view kOfSpeedup = "speedup.<mode>_";
constexpr std::string_view kSpeedup = "speedup_";
constexpr std::string_view kSpeedupColumn = "_speedup";
constexpr std::string_view kVersus = "vs_";

std::string after(std::string_view text, std::string_view prefix) {
  return std::string(text.substr(prefix.size()));
}

}  // namespace

bool is_of_part(const ModeField& field) {
  return std::string_view(field.path).find("<part>") != std::string_view::npos;
}

bool is_speedup(const ModeField& field) {
  return std::string_view(field.path).starts_with(kOfSpeedup);
}

bool is_speedup(const std::string& name) { return name.starts_with(kSpeedup); }

std::string flat_name(const std::string& path) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) return path;
  std::string group = path.substr(0, dot);
  std::string unit;
  if (group.ends_with("_us")) {
    unit = "_us";
    group.resize(group.size() - unit.size());
  }
  return group + '_' + path.substr(dot + 1) + unit;
}

std::string path_in_mode(const ModeField& field) { return after(field.path, kOfMode); }

std::string name_of(const ModeField& field) {
  const std::string_view path = field.path;
  if (path.starts_with(kOfSpeedup)) return std::string(kSpeedup) + after(path, kOfSpeedup);
  const std::string name = after(path, path.starts_with(kOfStrategy) ? kOfStrategy : kOfMode);
  if (!is_of_part(field)) return flat_name(name);
  return "<part>_" + name.substr(name.rfind('.') + 1);
}

SpeedupName speedup_name(const std::string& member) {
  const auto at = member.rfind("_" + std::string(kVersus));
  if (at == std::string::npos) return {.mode = member, .field = "speedup", .baseline = ""};
  const std::string versus = member.substr(at + 1);
  return {.mode = member.substr(0, at),
          .field = std::string(kSpeedup) + versus,
          .baseline = after(versus, kVersus)};
}

std::string sweep_column(const std::string& mode, const std::string& field) {
  if (!is_speedup(field)) return mode + "_" + field;
  return mode + "_" + after(field, kSpeedup) + std::string(kSpeedupColumn);
}

std::string field_of_column(const std::string& column, const std::string& mode) {
  std::string rest = column.substr(mode.size() + 1);
  if (!rest.starts_with(kVersus) || !rest.ends_with(kSpeedupColumn)) return rest;
  return std::string(kSpeedup) + rest.substr(0, rest.size() - kSpeedupColumn.size());
}

}  // namespace weft
