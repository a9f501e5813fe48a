#include "sim/traces/pytorch/pytorch_et.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/files/json_mistake.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/json_values.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

// Positions in a tensor: [id, storage, offset, elements, bytes per element, device].
constexpr std::size_t kTensorElements = 3;
constexpr std::size_t kTensorElementBytes = 4;
constexpr std::size_t kTensorParts = 6;

bool is_tensor(const Json& value) {
  return value.is_array() && value.size() == kTensorParts && value.back().is_string();
}

// Inputs of record_param_comms: tensors, then sequence number, group, rank and the call's name,
// followed by the splits of input and output. A wait has no tensors.
constexpr std::size_t kBeforeName = 3;

class EtReader {
 public:
  EtReader(PytorchEt& et, TraceProblems& problems) : et_(et), problems_(problems) {}

  void read(std::string_view text) {
    // As in kineto_file.cc, nodes are processed one by one. A node contains no objects except its
    // inputs, outputs and attributes, which are deeper.
    KeptValues kept(problems_.room());
    const auto take = [&](int depth, Json::parse_event_t what, Json& value) {
      kept.add(depth, what);
      if (what != Json::parse_event_t::object_end || depth != 2 || !value.contains("id")) {
        return true;
      }
      node(value);
      if (problems_.full()) throw JsonTooLarge();
      kept.forget();
      return false;
    };
    try {
      const Json rest = Json::parse(text, take);
      if (member(rest, "nodes") == nullptr) {
        return problems_.add(et_.name, "nodes", "missing; this is not a PyTorch execution trace");
      }
      et_.schema = text_or(member(rest, "schema"), "unknown");
    } catch (const JsonTooLarge&) {
      problems_.fits(et_.name, INT64_MAX);
    } catch (const Json::exception&) {
      return problems_.add(et_.name, "", text_of(first_json_mistake(text).value_or(JsonMistake{})));
    }
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [id, call] : calls_) et_.calls.push_back(std::move(call));
  }

 private:
  // In schema 1.0.1 the list itself; later ones have it in an object with shapes and types.
  static const Json* values(const Json& node) {
    const Json* inputs = member(node, "inputs");
    if (inputs != nullptr && inputs->is_object()) return member(*inputs, "values");
    return inputs;
  }

  void node(const Json& value) {
    const std::string name = text_or(member(value, "name"), "");
    const Json* inputs = values(value);
    if (name.find("process_group:init") != std::string::npos && inputs != nullptr) {
      et_.groups = inputs->is_array() && !inputs->empty() ? text_or(&inputs->front(), "")
                                                          : text_or(inputs, "");
    }
    if (name != "record_param_comms") return;
    if (!problems_.keep(et_.name, kMemoryOfTraceNode)) return;
    const std::int64_t id = whole_or(member(value, "id"), 0);
    CommCall call;
    call.label = fmt::format("node {} 'record_param_comms'", id);
    if (inputs != nullptr && inputs->is_array() && read_call(*inputs, call)) {
      calls_.emplace_back(id, std::move(call));
    } else {
      problems_.add(et_.name, call.label + ": inputs",
                    "must be tensors, sequence number, group, rank, name and splits");
    }
  }

  bool read_call(const Json& inputs, CommCall& call) {
    const auto name =
        std::find_if(inputs.begin(), inputs.end(), [](const Json& one) { return one.is_string(); });
    const auto at = static_cast<std::size_t>(name - inputs.begin());
    if (name == inputs.end() || at < kBeforeName) return false;
    call.name = name->get<std::string>();
    call.sequence = first_number(inputs[at - 3]);
    call.group = group_of(inputs[at - 2]);
    call.peer = whole_or(&inputs[at - 1], 0);
    if (at > kBeforeName && !add_tensors(inputs[0], call)) return false;
    if (at + 1 < inputs.size()) call.splits = wholes_of(&inputs[at + 1]).value_or(call.splits);
    return true;
  }

  // Newer ones add whether the call is between two ranks: [12, false].
  static std::int64_t first_number(const Json& value) {
    if (value.is_array() && !value.empty()) return whole_or(&value.front(), -1);
    return whole_or(&value, -1);
  }

  // ["0", "default_pg"], or an address.
  static std::string group_of(const Json& value) {
    if (value.is_array() && !value.empty()) return text_or(&value.front(), "");
    if (value.is_string()) return value.get<std::string>();
    return std::to_string(whole_or(&value, 0));
  }

  static bool add_tensors(const Json& value, CommCall& call) {
    if (is_tensor(value)) return add_tensor(value, call);
    if (!value.is_array()) return false;
    return std::all_of(value.begin(), value.end(), [&call](const Json& one) {
      return is_tensor(one) && add_tensor(one, call);
    });
  }

  static bool add_tensor(const Json& tensor, CommCall& call) {
    const std::int64_t elements = whole_or(&tensor[kTensorElements], -1);
    const std::int64_t size = whole_or(&tensor[kTensorElementBytes], -1);
    if (elements < 0 || elements > trace_limits::kBytes || size < 1 || size > 16) return false;
    if (call.element_bytes != 0 && call.element_bytes != size) return false;
    call.element_bytes = size;
    call.elements += elements;
    return call.elements <= trace_limits::kBytes;
  }

  PytorchEt& et_;
  TraceProblems& problems_;
  std::vector<std::pair<std::int64_t, CommCall>> calls_;  // by the node's id
};

}  // namespace

PytorchEt read_pytorch_et(std::string_view text, const std::string& name, TraceProblems& problems) {
  PytorchEt et;
  et.name = name;
  EtReader(et, problems).read(text);
  return et;
}

}  // namespace weft
