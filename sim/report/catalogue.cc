#include "sim/report/catalogue.h"

#include <array>
#include <nlohmann/json.hpp>

#include "sim/report/field_names.h"
#include "sim/report/mode_fields.h"
#include "sim/report/unit.h"
#include "sim/scenario/mode_rows.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// Of what is no mode and no part of the time: Okabe and Ito's colours, then a grey. The first three
// are those of bulk, kernel and fused.
constexpr std::array kPalette = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                 "#CC79A7", "#56B4E9", "#F0E442", "#8c8c8c"};

Json fields_json() {
  Json fields = Json::object();
  for (const ModeField& field : mode_fields()) {
    fields[name_of(field)] = {{"title", field.title},
                              {"unit", name_of(field.unit)},
                              {"as", name_of(shown_as(field.unit))},
                              {"meaning", field.meaning}};
  }
  return fields;
}

Json modes_json() {
  Json modes = Json::object();
  for (const ModeRow& mode : kModeRows) {
    modes[mode.name] = {{"colour", mode.colour}, {"meaning", mode.meaning}};
  }
  return modes;
}

Json phases_json() {
  Json all = Json::array();
  for (const TimePhase& phase : phases()) {
    all.push_back({{"field", phase.field}, {"title", title_of(phase)}, {"colour", phase.colour}});
  }
  return all;
}

Json times_json() {
  Json scales = Json::array();
  for (const auto& [us, unit] : time_scales()) scales.push_back({{"us", us}, {"unit", unit}});
  return scales;
}

Json axis_units_json() {
  Json units = Json::object();
  for (const auto& [suffix, unit] : axis_units()) units[suffix] = unit;
  return units;
}

}  // namespace

Json catalogue() {
  return {{"fields", fields_json()}, {"modes", modes_json()}, {"phases", phases_json()},
          {"palette", kPalette},     {"times", times_json()}, {"axis_units", axis_units_json()}};
}

std::string catalogue_json() { return catalogue().dump(2) + "\n"; }

}  // namespace weft
