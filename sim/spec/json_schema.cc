#include "sim/spec/json_schema.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/core/assert.h"
#include "sim/spec/explain.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// Over a base a null takes a key away, whatever the key is.
Json nothing() { return {{"type", "null"}}; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

// YAML makes booleans of these two words.
Json value_of(const std::string& word) {
  if (word == "true" || word == "false") return word == "true";
  return word;
}

Json values_of(const std::vector<std::string>& words) {
  Json values = Json::array();
  for (const std::string& word : words) values.push_back(value_of(word));
  return values;
}

Json list_of(Json item) { return {{"type", "array"}, {"minItems", 1}, {"items", std::move(item)}}; }

Json number(const KeyDoc& key, const char* type) {
  Json schema = {{"type", type}};
  if (!key.low.empty()) {
    schema["minimum"] = Json::parse(key.low);
    schema["maximum"] = Json::parse(key.high);
  }
  return schema;
}

constexpr const char* kNumberPattern = "(0|[1-9][0-9]*)([.][0-9]+)?";

Json quantity(const std::string& units) {
  std::string pattern = std::string("^") + kNumberPattern + " *(";
  for (const std::string& unit : words_of(units)) {
    pattern += (pattern.back() == '(' ? "" : "|") + unit;
  }
  return {{"type", "string"},
          {"pattern", pattern + ")$"},
          {"patternErrorMessage", "must be a number and its unit, one of " + units}};
}

Json fraction(const KeyDoc& key) {
  const Json percent = {{"type", "string"},
                        {"pattern", std::string("^") + kNumberPattern + " *%$"},
                        {"patternErrorMessage", "must be a fraction such as 0.05 or 5 %"}};
  return {{"anyOf", {number(key, "number"), percent}}};
}

// What the words of a type mean.
constexpr std::string_view kOneOf = "one of ";
constexpr std::string_view kListOf = "list of ";
constexpr std::string_view kOrList = "; or a list of ";

Json word_list(std::string_view words) {
  Json list = list_of({{"enum", values_of(words_of(words))}});
  list["uniqueItems"] = true;
  return list;
}

Json words_schema(std::string_view type) {
  if (type.starts_with(kListOf)) return word_list(type.substr(kListOf.size()));
  SIM_ASSERT(type.starts_with(kOneOf));
  const auto either = type.find(kOrList);
  Json word = {{"enum", values_of(words_of(type.substr(
                            kOneOf.size(),
                            either == std::string_view::npos ? either : either - kOneOf.size())))}};
  if (either == std::string_view::npos) return word;
  return {{"anyOf", {word, word_list(type.substr(either + kOrList.size()))}}};
}

Json value_schema(const KeyDoc& key) {
  if (!key.units.empty()) return quantity(key.units);
  const Json text = {{"type", {"string", "number"}}};
  const std::map<std::string_view, Json> schemas = {
      {"integer", number(key, "integer")},
      {"number", number(key, "number")},
      {"fraction", fraction(key)},
      {"text", text},
      {"path", text},
      {"list of integers", list_of({{"type", "integer"}})},
      {"list of lists of integers", list_of(list_of({{"type", "integer"}}))},
      {"list of lists of sizes", list_of(list_of(quantity(byte_units())))}};
  const auto found = schemas.find(key.type);
  return found == schemas.end() ? words_schema(key.type) : found->second;
}

Json or_nothing(Json schema) {
  if (schema.contains("anyOf")) {
    schema["anyOf"].push_back(nothing());
  } else if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema["type"].is_array()) {
    schema["type"].push_back("null");
  } else {
    schema["type"] = {schema["type"], "null"};
  }
  return schema;
}

std::string description_of(const KeyDoc& key) {
  std::string text = key.help;
  if (const std::string meanings = meanings_text(key); !meanings.empty()) text += "; " + meanings;
  if (!key.units.empty()) text += "; " + key.type;
  if (!key.low.empty()) text += "; " + key.low + " .. " + key.high;
  const bool given = key.fallback == "required" || key.fallback == "optional";
  text += (given ? "; " : "; default: ") + key.fallback;
  if (!key.only.empty()) text += "; only with " + key.only;
  return text;
}

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

// One of these words of a key beside it.
struct Condition {
  std::string key;
  std::vector<std::string> words;
};

class Schema {
 public:
  explicit Schema(const std::vector<KeyDoc>& keys) : keys_(keys) {}

  [[nodiscard]] Json property(const KeyDoc& key) const {
    Json property = or_nothing(schema_of(key));
    property["description"] = description_of(key);
    return property;
  }

  // The keys that a map may have.
  [[nodiscard]] Json map(const std::string& path) const {
    Json properties = bases_of(path);
    for (const KeyDoc* key : keys_of(path)) {
      properties[name_of(*key)] = property(*key);
    }
    Json schema = {
        {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
    if (Json rules = elsewhere(path); !rules.empty()) schema["allOf"] = std::move(rules);
    return schema;
  }

  // The keys that a map must have unless it or a map around it has a base; empty: none.
  [[nodiscard]] Json needs(const std::string& path) const {
    Json schema = Json::object();
    Json rules = Json::array();
    const KeyDoc* self = find(path.ends_with("[]") ? path.substr(0, path.size() - 2) : path);
    for (const KeyDoc* key : keys_of(path)) {
      const bool always = key->only == (self == nullptr ? "" : self->only);
      if (key->fallback == "required" && always) schema["required"].push_back(name_of(*key));
      if (const auto only = condition_of(*key); only && key->fallback == "required") {
        rules.push_back({{"if", where(*only, {{"enum", values_of(only->words)}})},
                         {"then", {{"required", {name_of(*key)}}}}});
      }
      const Json inner = key->type == "map" ? needs(key->path) : Json::object();
      if (!inner.empty()) schema["properties"][name_of(*key)] = unless_based(key->path, inner);
    }
    if (!rules.empty()) schema["allOf"] = std::move(rules);
    return schema;
  }

  [[nodiscard]] static Json unless_based(const std::string& path, Json needs) {
    Json has_base = Json::array();
    const Json bases = bases_of(path);
    for (const auto& [name, schema] : bases.items()) has_base.push_back({{"required", {name}}});
    return {{"if", {{"type", "object"}, {"not", {{"anyOf", std::move(has_base)}}}}},
            {"then", std::move(needs)}};
  }

 private:
  [[nodiscard]] Json schema_of(const KeyDoc& key) const {
    if (key.type == "map") return map(key.path);
    if (key.type != "list of maps") return value_schema(key);
    // A list takes the place of the one below it, so each of its maps must be whole.
    const std::string path = key.path + "[]";
    Json item = map(path);
    item["allOf"].push_back(unless_based(path, needs(path)));
    return list_of(std::move(item));
  }

  static std::string name_of(const KeyDoc& key) {
    return key.path.substr(key.path.rfind('.') + 1);  // npos + 1 is 0
  }

  // What stands for the keys that a map does not say.
  static Json bases_of(const std::string& path) {
    Json bases = {{"base",
                   {{"type", {"string", "null"}},
                    {"pattern", "^[A-Za-z0-9_.-][A-Za-z0-9_./-]*$"},
                    {"description",
                     "file whose keys these override, without its .yaml: next to this file, or "
                     "in the configs (weft list), for example gpus/mi210"}}}};
    if (path == "cluster") {
      bases["from_astra_sim"] = {{"type", {"string", "null"}},
                                 {"description", "path of an ASTRA-sim network file"}};
    }
    return bases;
  }

  [[nodiscard]] const KeyDoc* find(const std::string& path) const {
    const auto found = std::find_if(keys_.begin(), keys_.end(),
                                    [&path](const KeyDoc& key) { return key.path == path; });
    return found == keys_.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::vector<const KeyDoc*> keys_of(const std::string& path) const {
    const std::string prefix = path.empty() ? "" : path + '.';
    std::vector<const KeyDoc*> found;
    for (const KeyDoc& key : keys_) {
      const bool below = key.path.starts_with(prefix);
      if (below && key.path.find('.', prefix.size()) == std::string::npos) found.push_back(&key);
    }
    return found;
  }

  static Json where(const Condition& condition, Json holds) {
    return {{"properties", {{condition.key, std::move(holds)}}}, {"required", {condition.key}}};
  }

  // Keys that are mistakes where a key beside them says something else.
  [[nodiscard]] Json elsewhere(const std::string& path) const {
    std::map<std::string, Json> forbidden;  // by the condition's text
    Json rules = Json::array();
    for (const KeyDoc* key : keys_of(path)) {
      if (!condition_of(*key)) continue;
      Json never = nothing();
      never["errorMessage"] = "only with " + key->only;
      forbidden[key->only][name_of(*key)] = std::move(never);
    }
    for (const KeyDoc* key : keys_of(path)) {
      const auto found = forbidden.find(key->only);
      if (found == forbidden.end()) continue;
      const Condition only = *condition_of(*key);
      Json words = values_of(only.words);
      words.push_back(nullptr);
      rules.push_back({{"if", where(only, {{"not", {{"enum", std::move(words)}}}})},
                       {"then", {{"properties", std::move(found->second)}}}});
      forbidden.erase(found);
    }
    return rules;
  }

  // Nothing where the condition is none of a key beside it: then it is only said.
  static std::optional<Condition> condition_of(const KeyDoc& key) {
    if (key.only_key.empty()) return std::nullopt;
    return Condition{.key = key.only_key, .words = key.only_words};
  }

  const std::vector<KeyDoc>& keys_;
};

constexpr const char* kDraft = "http://json-schema.org/draft-07/schema#";

// The paths that a sweep may change; of maps also the file that they start from.
Json paths_of(const std::vector<KeyDoc>& keys) {
  Json paths = Json::array();
  for (const KeyDoc& key : keys) {
    if (key.path.find('[') != std::string::npos) continue;
    paths.push_back(key.path);
    if (key.type == "map") paths.push_back(key.path + ".base");
  }
  paths.push_back("cluster.from_astra_sim");
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
       {"labels", described(list_of(text), "one per value")},
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

std::string json_schema(const std::vector<KeyDoc>& keys, const SchemaPart& part) {
  const Schema schema(keys);
  const std::string path(part.path);
  Json document = {{"$schema", kDraft}, {"title", "weft " + std::string(part.name)}};
  document.update(schema.map(path));
  if (part.whole) document["allOf"].push_back(Schema::unless_based(path, schema.needs(path)));
  return document.dump(2) + '\n';
}

std::string sweep_schema(const std::vector<KeyDoc>& keys) {
  const Schema schema(keys);
  Json set = Json::object();
  for (const Json& path : paths_of(keys)) set[path.get<std::string>()] = Json::object();
  for (const KeyDoc& key : keys) {
    if (set.contains(key.path) && key.type != "map") set[key.path] = schema.property(key);
  }
  const Json one = swept_key(keys);
  const Json zip = object({{"zip", described(list_of(one), "keys that change together")}}, {"zip"});
  const Json axis = {{"if", {{"required", {"zip"}}}}, {"then", zip}, {"else", one}};
  const Json text = {{"type", "string"}};
  Json document = {{"$schema", kDraft}, {"title", "weft sweep"}};
  document.update(object(
      {{"name", described({{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"}},
                          "name of the sweep, and of its folder in results/")},
       {"scenario", described(text, "a scenario's file, named like a base")},
       {"set", described(object(std::move(set), Json::array()), "values for all points")},
       {"axes", described(list_of(axis), "the keys that change; the first changes slowest")},
       {"filter", described(text, "which points are kept, for example batch <= 2048")}},
      {"name", "scenario", "axes"}));
  return document.dump(2) + '\n';
}

}  // namespace weft
