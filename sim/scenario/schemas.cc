#include "sim/scenario/schemas.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/core/assert.h"
#include "sim/scenario/base_keys.h"
#include "sim/scenario/load.h"
#include "sim/scenario/sweep_file.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// The schema of a sweep's key with what its row says that it means.
Json described(Json schema, std::string_view path) {
  static const std::vector<KeyDoc> rows = describe_sweep();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [path](const KeyDoc& key) { return key.path == path; });
  SIM_ASSERT(row != rows.end());
  schema["description"] = row->help;
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

// A path's dots stand for themselves, and [] for any element: "pairs[].mode" is pairs.0.mode,
// pairs.1.mode ..
std::string pattern_of(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    if (c == '.') {
      pattern += "[.]";
    } else if (c == '[') {
      pattern += "[.]" + std::string(kElementPattern);
    } else if (c != ']') {
      pattern += c;
    }
  }
  return pattern;
}

// Patterns of the paths that have an element in them, each with its key; of an element itself null.
std::vector<std::pair<std::string, const KeyDoc*>> elements_of(const std::vector<KeyDoc>& keys) {
  std::vector<std::pair<std::string, const KeyDoc*>> elements;
  for (const KeyDoc& key : keys) {
    const bool is_list = key.type.find("list of") != std::string::npos;
    if (is_list) elements.emplace_back(pattern_of(key.path + "[]"), nullptr);
    if (key.path.find('[') != std::string::npos) elements.emplace_back(pattern_of(key.path), &key);
  }
  return elements;
}

// A path that a sweep may change.
Json path_schema(const std::vector<KeyDoc>& keys) {
  std::string any;
  for (const auto& [pattern, key] : elements_of(keys)) any += (any.empty() ? "" : "|") + pattern;
  return {{"if", {{"pattern", "[.][0-9]"}}},
          {"then", {{"pattern", "^(" + any + ")$"}}},
          {"else", {{"enum", paths_of(keys)}}}};
}

// One key of a sweep and the values that it takes.
Json swept_key(const std::vector<KeyDoc>& keys) {
  const Json text = {{"type", {"string", "number"}}};
  Json schema =
      object({{"key", described(path_schema(keys), "axes[].key")},
              {"name", described(text, "axes[].name")},
              {"values", described({{"type", "array"}, {"minItems", 1}}, "axes[].values")},
              {"labels", described(schema_of_list(text), "axes[].labels")},
              {"from", described(text, "axes[].from")},
              {"to", described(text, "axes[].to")},
              {"step", described(text, "axes[].step")},
              {"steps", described({{"type", "integer"}, {"minimum", 2}}, "axes[].steps")},
              {"powers_of_two", described({{"type", "boolean"}}, "axes[].powers_of_two")}},
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
  Json elements = Json::object();
  for (const auto& [pattern, key] : elements_of(keys)) {
    elements['^' + pattern + '$'] =
        key == nullptr || key->type == "map" || key->type == "list of maps"
            ? Json::object()
            : schema_of_key(keys, base_keys::kRows, *key);
  }
  Json sets = object(std::move(set), Json::array());
  sets["patternProperties"] = std::move(elements);
  const Json one = swept_key(keys);
  const Json zip = object({{"zip", described(schema_of_list(one), "axes[].zip")}}, {"zip"});
  const Json axis = {{"if", {{"required", {"zip"}}}}, {"then", zip}, {"else", one}};
  const Json text = {{"type", "string"}};
  Json document = schema_of_file("sweep");
  document.update(object(
      {{"name",
        described({{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"}}, "name")},
       {"scenario", described(text, "scenario")},
       {"set", described(std::move(sets), "set")},
       {"axes", described(schema_of_list(axis), "axes")},
       {"filter", described(text, "filter")}},
      {"name", "scenario", "axes"}));
  return document.dump(2) + '\n';
}

}  // namespace weft
