#include "sim/traces/chakra/chakra_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t kNameShown = 60;

using Number = std::optional<std::int64_t> ChakraNode::*;
struct NumberAttribute {
  std::string_view name;
  Number member;
  bool below_zero;  // whether it may be
};
constexpr std::array kNumbers = {
    NumberAttribute{"comm_type", &ChakraNode::comm_type, false},
    NumberAttribute{"comm_size", &ChakraNode::comm_size, false},
    NumberAttribute{"comm_src", &ChakraNode::comm_source, false},
    NumberAttribute{"comm_dst", &ChakraNode::comm_target, false},
    NumberAttribute{"comm_tag", &ChakraNode::comm_tag, true},
    NumberAttribute{"root_rank", &ChakraNode::root, false},
    NumberAttribute{"num_ops", &ChakraNode::num_ops, false},
    NumberAttribute{"tensor_size", &ChakraNode::tensor_size, false},
    NumberAttribute{"stream", &ChakraNode::stream, true},
    NumberAttribute{"model_block", &ChakraNode::block, false},
    NumberAttribute{"num_wgs", &ChakraNode::wgs, false},
    NumberAttribute{"wg_threads", &ChakraNode::threads, false},
    NumberAttribute{"wg_registers_per_thread", &ChakraNode::registers_per_thread, false},
    NumberAttribute{"wg_lds_bytes", &ChakraNode::lds_bytes, false},
};

void wrong(const ChakraFile& file, const ChakraNode& node, std::string_view attribute,
           std::string message, TraceProblems& problems) {
  problems.add(file.name, fmt::format("{}: {}", label_of(node), attribute), std::move(message));
}

void take_number(ChakraFile& file, ChakraNode& node, const NumberAttribute& attribute,
                 const ChakraValue& value, TraceProblems& problems) {
  if (value.kind != ChakraValue::Kind::whole || !value.fits) {
    return wrong(file, node, attribute.name, "must be a whole number below 2^63", problems);
  }
  if (value.whole < 0 && !attribute.below_zero) {
    return wrong(file, node, attribute.name, fmt::format("{} is below 0", value.whole), problems);
  }
  node.*attribute.member = value.whole;
  if (attribute.member == &ChakraNode::comm_size && value.is_unsigned) ++file.unsigned_sizes;
}

}  // namespace

bool lists_groups(const ChakraNode& node) {
  return node.name.find("process_group:init") != std::string::npos;
}

std::string label_of(const ChakraNode& node) {
  const bool whole = node.name.size() <= kNameShown;
  return fmt::format("node {} '{}{}'", node.id, std::string_view(node.name).substr(0, kNameShown),
                     whole ? "" : "...");
}

void take_attribute(ChakraFile& file, ChakraNode& node, std::string_view name,
                    const ChakraValue& value, TraceProblems& problems) {
  for (const NumberAttribute& attribute : kNumbers) {
    if (name == attribute.name) return take_number(file, node, attribute, value, problems);
  }
  using Kind = ChakraValue::Kind;
  if (name == "is_cpu_op") {
    if (value.kind != Kind::truth) return wrong(file, node, name, "must be a bool", problems);
    node.cpu_op = value.whole != 0;
  } else if (name == "send_waits_for_receive") {
    if (value.kind != Kind::truth) return wrong(file, node, name, "must be a bool", problems);
    node.meets = value.whole != 0;
  } else if (name == "pg_name") {
    if (value.kind != Kind::text) return wrong(file, node, name, "must be a string", problems);
    node.group = std::string(value.text);
  } else if (name == "involved_dim") {
    if (value.kind != Kind::truths) return wrong(file, node, name, "must be bools", problems);
    node.all_dims = value.all_true;
  } else if (name == "tid" && value.kind == Kind::whole) {
    if (!node.stream) node.stream = value.whole;
  } else {
    ++file.unused[std::string(name.substr(0, kNameShown))];
  }
}

void add_node(ChakraFile& file, ChakraNode node, TraceProblems& problems) {
  constexpr std::int64_t kMemoryOfId = 40;  // here and in the lists of who waits for whom
  if (node.kind == ChakraKind::invalid) {
    wrong(file, node, "type", "missing or unknown; one of 1 (metadata) to 7 (collective)",
          problems);
  }
  const auto ids = static_cast<std::int64_t>(node.ctrl_deps.size() + node.data_deps.size());
  const auto letters = static_cast<std::int64_t>(node.name.size() + node.inputs.size());
  if (!problems.keep(file.name, kMemoryOfTraceNode + ids * kMemoryOfId + 2 * letters)) return;
  file.nodes.push_back(std::move(node));
}

void check_nodes(const ChakraFile& file, TraceProblems& problems) {
  std::vector<std::pair<std::uint64_t, std::size_t>> ids;
  ids.reserve(file.nodes.size());
  for (std::size_t i = 0; i < file.nodes.size(); ++i) ids.emplace_back(file.nodes[i].id, i);
  std::sort(ids.begin(), ids.end());
  for (std::size_t i = 1; i < ids.size(); ++i) {
    if (ids[i].first != ids[i - 1].first) continue;
    wrong(file, file.nodes[ids[i].second], "id",
          fmt::format("{} has the same id", label_of(file.nodes[ids[i - 1].second])), problems);
  }
  if (file.nodes.empty() && !problems.any()) {
    problems.add(file.name, "", "contains no nodes; a Chakra trace has at least one");
  }
}

ChakraFile read_chakra(std::string_view text, const std::string& name, TraceProblems& problems) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  // A protobuf whose first message has 123 bytes begins with '{', too; what follows tells.
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[') &&
                    text.find_first_not_of(" \t\r\n", first + 1) != std::string_view::npos &&
                    text[text.find_first_not_of(" \t\r\n", first + 1)] == '"';
  return json ? read_chakra_json(text, name, problems) : read_chakra_wire(text, name, problems);
}

}  // namespace weft
