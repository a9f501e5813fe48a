#include "sim/scenario/schemas.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/scenario/base_keys.h"
#include "sim/scenario/load.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json described(Json schema, const char* help) {
  schema["description"] = help;
  return schema;
}

Json object(Json properties, Json required) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"required", std::move(required)}};
}

// The paths that a sweep may change; of maps also the file that they start from.
Json paths_of(const std::vector<KeyDoc>& keys) {
  Json paths = Json::array();
  for (const KeyDoc& key : keys) {
    if (key.path.find('[') != std::string::npos) continue;
    paths.push_back(key.path);
    if (key.type == "map") paths.push_back(key.path + '.' + std::string(base_keys::kBase));
  }
  for (const BaseKey& base : base_keys::kRows) {
    if (!base.of.empty()) paths.push_back(std::string(base.of) + '.' + std::string(base.name));
  }
  return paths;
}

// One key of a sweep and the values that it takes.
Json swept_key(const std::vector<KeyDoc>& keys) {
  const Json text = {{"type", {"string", "number"}}};
  Json schema = object(
      {{"key",
        described({{"enum", paths_of(keys)}}, "the key that changes, such as cluster.nodes")},
       {"name", described(text, "name of the column")},
       {"values", described({{"type", "array"}, {"minItems", 1}}, "a list, or from and to")},
       {"labels", described(schema_of_list(text), "one per value")},
       {"from", described(text, "first value of a range")},
       {"to", described(text, "last value of a range")},
       {"step", described(text, "difference from one value to the next")},
       {"steps", described({{"type", "integer"}, {"minimum", 2}}, "number of values")},
       {"powers_of_two", described({{"type", "boolean"}}, "each value is twice the one before")}},
      {"key"});
  schema["dependencies"] = {{"from", {"to"}}, {"to", {"from"}}};
  return schema;
}

}  // namespace

const std::vector<SchemaPart>& schema_parts() {
  static const std::vector<SchemaPart> kParts = {
      {.name = "scenario", .path = "", .whole = true},
      {.name = "cluster", .path = "cluster", .whole = true},
      {.name = "gpu", .path = "cluster.gpu", .whole = true},
      {.name = "nic", .path = "cluster.nic", .whole = true},
      {.name = "model", .path = "workload", .whole = false}};
  return kParts;
}

std::string schema_of(const SchemaPart& part) {
  return json_schema(describe_scenario(), base_keys::kRows, part);
}

std::string sweep_schema() {
  const std::vector<KeyDoc> keys = describe_scenario();
  Json set = Json::object();
  for (const Json& path : paths_of(keys)) set[path.get<std::string>()] = Json::object();
  for (const KeyDoc& key : keys) {
    if (set.contains(key.path) && key.type != "map") {
      set[key.path] = schema_of_key(keys, base_keys::kRows, key);
    }
  }
  const Json one = swept_key(keys);
  const Json zip =
      object({{"zip", described(schema_of_list(one), "keys that change together")}}, {"zip"});
  const Json axis = {{"if", {{"required", {"zip"}}}}, {"then", zip}, {"else", one}};
  const Json text = {{"type", "string"}};
  Json document = schema_of_file("sweep");
  document.update(object(
      {{"name", described({{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"}},
                          "name of the sweep, and of its folder in results/")},
       {"scenario", described(text, "a scenario's file, named like a base")},
       {"set", described(object(std::move(set), Json::array()), "values for all points")},
       {"axes", described(schema_of_list(axis), "the keys that change; the first changes slowest")},
       {"filter", described(text, "which points are kept, for example batch <= 2048")}},
      {"name", "scenario", "axes"}));
  return document.dump(2) + '\n';
}

}  // namespace weft
