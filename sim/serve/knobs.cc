#include "sim/serve/knobs.h"

#include <string>
#include <utility>

#include "sim/scenario/sweep_file.h"
#include "sim/spec/tree.h"

namespace weft {
namespace {

void add_values(const Node& node, const std::string& path, ServedJson& values) {
  if (node.kind != Node::Kind::map) {
    values[path] = flow_text(node);
    return;
  }
  for (const Entry& entry : node.entries) {
    add_values(entry.value, path.empty() ? entry.key : path + '.' + entry.key, values);
  }
}

ServedJson to_json(const KeyDoc& key) {
  ServedJson words = ServedJson::array();
  for (const WordDoc& word : key.words) {
    words.push_back({{"word", word.word}, {"meaning", word.meaning}});
  }
  return {{"path", key.path}, {"type", key.type},         {"units", key.units},
          {"low", key.low},   {"high", key.high},         {"fallback", key.fallback},
          {"help", key.help}, {"words", std::move(words)}};
}

}  // namespace

ServedJson knobs() {
  ServedJson all = ServedJson::array();
  for (const KeyDoc& key : describe_scenario()) {
    if (key.type != "map") all.push_back(to_json(key));
  }
  return all;
}

ServedJson scenario_json(const ServedFolder& served, const ScenarioSource& source) {
  const Loaded loaded = load_source(served, source, {});
  ServedJson json{{"problems", to_json(loaded.problems)}};
  if (!loaded.scenario) return json;
  const std::string text = to_text(*loaded.scenario);
  json["text"] = text;
  Diagnostics none;
  ServedJson values = ServedJson::object();
  if (const auto tree = parse_tree({.file = source.name, .text = text}, none)) {
    add_values(*tree, "", values);
  }
  json["values"] = std::move(values);
  return json;
}

}  // namespace weft
