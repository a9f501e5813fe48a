#include "sim/traces/import_text.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/core/assert.h"
#include "sim/spec/tree.h"
#include "sim/traces/graph/graph_file.h"

namespace weft {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kHead =
    "# Operators in order, each behind those that it waits for (docs/traces.md, \"Graph\").\n"
    "# Run by a scenario with workload: {kind: graph, path: THIS FILE}.\n";

// Numbers and truths as such, so that scripts need not convert them; the rest is text.
OrderedJson json_of_scalar(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const Parsed<std::int64_t> number = parse_integer(text);
  if (number.ok()) return number.value;
  return text;
}

OrderedJson json_of(const Node& node) {
  if (node.kind == Node::Kind::scalar) return json_of_scalar(node.text);
  OrderedJson json = node.kind == Node::Kind::map ? OrderedJson::object() : OrderedJson::array();
  for (const Node& item : node.items) json.push_back(json_of(item));
  for (const Entry& entry : node.entries) json[entry.key] = json_of(entry.value);
  return json;
}

}  // namespace

GraphText form_of(const std::filesystem::path& file) {
  return file.extension() == ".json" ? GraphText::json : GraphText::yaml;
}

std::string import_text(const ModelGraph& graph, int gpus, GraphText form,
                        const RecordedRun& recording) {
  GraphFile file = file_of(graph, gpus, recording);
  const std::string yaml = text_of_fields([&file](Fields& map) { fields(map, file); });
  if (form == GraphText::yaml) return std::string(kHead) + yaml;
  Diagnostics problems;
  const std::optional<Node> tree = parse_tree(
      {.file = "graph", .text = yaml, .longest = 4 * yaml.size() + kMaxSourceBytes}, problems);
  SIM_ASSERT(tree.has_value());
  return json_of(*tree).dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace weft
