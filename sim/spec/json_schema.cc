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

Json word_list(std::string_view words) {
  const Json word = {{"enum", values_of(words_of(words))}};
  Json list = schema_of_elements(word, or_nothing(word));
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

Json lists_of(Json item) {
  const Json list = schema_of_list(std::move(item));
  return schema_of_elements(list, or_nothing(list));
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
      {"list of texts", schema_of_elements(text, or_nothing(text))},
      {"list of integers",
       schema_of_elements({{"type", "integer"}}, {{"type", {"integer", "null"}}})},
      {"list of lists of integers", lists_of({{"type", "integer"}})},
      {"list of lists of sizes", lists_of(quantity(byte_units()))}};
  const auto found = schemas.find(key.type);
  return found == schemas.end() ? words_schema(key.type) : found->second;
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

// One of these words of a key beside it.
struct Condition {
  std::string key;
  std::vector<std::string> words;
};

class Schema {
 public:
  Schema(const std::vector<KeyDoc>& keys, std::span<const BaseKey> bases)
      : keys_(keys), bases_(bases) {}

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
    Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
    // A map without rows has those of another.
    if (!keys_of(path).empty()) schema["additionalProperties"] = false;
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

  [[nodiscard]] Json unless_based(const std::string& path, Json needs) const {
    const Json bases = bases_of(path);
    if (bases.empty()) return needs;
    Json has_base = Json::array();
    for (const auto& [name, schema] : bases.items()) has_base.push_back({{"required", {name}}});
    return {{"if", {{"type", "object"}, {"not", {{"anyOf", std::move(has_base)}}}}},
            {"then", std::move(needs)}};
  }

 private:
  [[nodiscard]] Json schema_of(const KeyDoc& key) const {
    if (key.type == "map") return map(key.path);
    if (key.type != "list of maps") return value_schema(key);
    // A list takes the place of the one below it, so each of its maps must be whole; not what is
    // said of an element of that one.
    const std::string path = key.path + "[]";
    Json item = map(path);
    const Json changed = or_nothing(item);
    item["allOf"].push_back(unless_based(path, needs(path)));
    return schema_of_elements(std::move(item), changed);
  }

  static std::string name_of(const KeyDoc& key) {
    return key.path.substr(key.path.rfind('.') + 1);  // npos + 1 is 0
  }

  // What stands for the keys that a map does not say.
  [[nodiscard]] Json bases_of(const std::string& path) const {
    Json bases = Json::object();
    for (const BaseKey& base : bases_) {
      if (!base.of.empty() && base.of != path) continue;
      Json name = {{"type", {"string", "null"}}};
      if (!base.pattern.empty()) name["pattern"] = base.pattern;
      name["description"] = base.help;
      bases[std::string(base.name)] = std::move(name);
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
  std::span<const BaseKey> bases_;
};

constexpr const char* kDraft = "http://json-schema.org/draft-07/schema#";

}  // namespace

Json schema_of_list(Json item) {
  return {{"type", "array"}, {"minItems", 1}, {"items", std::move(item)}};
}

Json schema_of_elements(Json item, Json changed) {
  Json schema = schema_of_list(std::move(item));
  schema["type"] = {"array", "object"};
  schema["patternProperties"] = {{"^" + std::string(kElementPattern) + "$", std::move(changed)}};
  schema["additionalProperties"] = false;
  return schema;
}

Json schema_of_file(std::string_view name) {
  return {{"$schema", kDraft}, {"title", "weft " + std::string(name)}};
}

Json schema_of_key(const std::vector<KeyDoc>& keys, std::span<const BaseKey> bases,
                   const KeyDoc& key) {
  return Schema(keys, bases).property(key);
}

std::string json_schema(const std::vector<KeyDoc>& keys, std::span<const BaseKey> bases,
                        const SchemaPart& part) {
  const Schema schema(keys, bases);
  const std::string path(part.path);
  Json document = schema_of_file(part.name);
  document.update(schema.map(path));
  if (part.whole) document["allOf"].push_back(schema.unless_based(path, schema.needs(path)));
  return document.dump(2) + '\n';
}

}  // namespace weft
