#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/files/json_mistake.h"
#include "sim/traces/chakra/chakra_file.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/json_values.h"

namespace weft {
namespace {

constexpr double kLargestExact = 9'007'199'254'740'992;  // 2^53

// "ctrlDeps", "ctrl_deps" and "CtrlDeps" are one key.
std::string plain_key(std::string_view key) {
  std::string word;
  for (const char c : key) {
    if (c == '_') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

// protobuf prints 64-bit integers as strings.
std::optional<std::uint64_t> id_of(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ChakraValue value_of(const Json& value) {
  using Kind = ChakraValue::Kind;
  if (value.is_boolean()) {
    return {.kind = Kind::truth, .whole = value.get<bool>() ? 1 : 0, .text = {}};
  }
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return {.kind = Kind::whole,
            .whole = static_cast<std::int64_t>(number & INT64_MAX),
            .fits = number <= INT64_MAX,
            .text = {}};
  }
  if (value.is_number_integer()) {
    return {.kind = Kind::whole, .whole = value.get<std::int64_t>(), .text = {}};
  }
  if (value.is_string()) return {.kind = Kind::text, .text = value.get_ref<const std::string&>()};
  if (value.is_object() && value.contains("values")) return value_of(value["values"]);
  if (!value.is_array()) return {.text = {}};
  ChakraValue list{.kind = Kind::truths, .text = {}};
  for (const Json& one : value) {
    if (!one.is_boolean()) return {.text = {}};
    list.all_true = list.all_true && one.get<bool>();
  }
  return list;
}

// A whole number may be written as a string if the attribute's type says that it is a number.
ChakraValue number_of(const Json& value) {
  const ChakraValue plain_value = value_of(value);
  if (plain_value.kind != ChakraValue::Kind::text) return plain_value;
  const std::optional<std::uint64_t> number = id_of(value);
  return number ? value_of(Json(*number)) : plain_value;
}

struct Word {
  std::string_view key;   // as plain_key() has it
  std::string_view name;  // of the attribute
};
constexpr std::array kAttributes = {
    Word{"iscpuop", "is_cpu_op"},
    Word{"commtype", "comm_type"},
    Word{"commsize", "comm_size"},
    Word{"commsrc", "comm_src"},
    Word{"commdst", "comm_dst"},
    Word{"commtag", "comm_tag"},
    Word{"rootrank", "root_rank"},
    Word{"numops", "num_ops"},
    Word{"tensorsize", "tensor_size"},
    Word{"stream", "stream"},
    Word{"tid", "tid"},
    Word{"pgname", "pg_name"},
    Word{"involveddim", "involved_dim"},
};
constexpr std::array<std::string_view, kChakraKinds> kNodeTypes = {
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
constexpr std::array<std::string_view, 10> kCollectives = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

template <std::size_t n>
std::optional<std::uint64_t> index_of(const std::array<std::string_view, n>& words,
                                      const Json& value) {
  for (std::size_t i = 0; value.is_string() && i < n; ++i) {
    if (value.get_ref<const std::string&>() == words[i]) return i;
  }
  return id_of(value);
}

class JsonNodeReader {
 public:
  JsonNodeReader(ChakraFile& file, TraceProblems& problems) : file_(file), problems_(problems) {}

  void read(const Json& object) {
    // Id and name first, so that messages can name the node.
    for (const auto& [key, value] : object.items()) take_label(plain_key(key), value);
    for (const auto& [key, value] : object.items()) take(key, plain_key(key), value);
    add_node(file_, std::move(node_), problems_);
  }

 private:
  void take_label(const std::string& key, const Json& value) {
    if (key == "id") {
      if (const auto id = id_of(value)) {
        node_.id = *id;
      } else {
        fail("id", "must be a whole number");
      }
    } else if (key == "name" && value.is_string()) {
      node_.name = value.get<std::string>();
    }
  }

  void take(const std::string& written, const std::string& key, const Json& value) {
    if (key == "id" || key == "name" || key == "inputs" || key == "outputs") return;
    if (key == "nodetype" || key == "type") return take_kind(value);
    if (key == "ctrldeps") return take_ids("ctrl_deps", value, node_.ctrl_deps);
    if (key == "datadeps") return take_ids("data_deps", value, node_.data_deps);
    if (key == "runtime" || key == "durationmicros") {
      return take_time("duration", value, node_.duration_us);
    }
    if (key == "starttimemicros") return take_time("start_time_micros", value, node_.start_us);
    if (key == "attr") return take_attributes(value);
    for (const Word& word : kAttributes) {
      if (key == word.key) return take_named(word.name, value);
    }
    ++file_.unused[written.substr(0, 60)];
  }

  void take_named(std::string_view name, const Json& value) {
    ChakraValue plain_value = name == "pg_name" ? value_of(value) : number_of(value);
    if (name == "comm_type") {
      if (const auto type = index_of(kCollectives, value)) plain_value = value_of(Json(*type));
    }
    take_attribute(file_, node_, name, plain_value, problems_);
  }

  void take_kind(const Json& value) {
    const auto kind = index_of(kNodeTypes, value);
    if (kind && *kind < kChakraKinds) node_.kind = static_cast<ChakraKind>(*kind);
  }

  void take_ids(const char* field, const Json& value, std::vector<std::uint64_t>& ids) {
    if (!value.is_array()) return fail(field, "must be a list of ids");
    for (const Json& one : value) {
      const auto id = id_of(one);
      if (!id) return fail(field, "must be a list of ids");
      ids.push_back(*id);
    }
  }

  void take_time(const char* field, const Json& value, std::int64_t& time) {
    const ChakraValue number = number_of(value);
    if (value.is_number_float() && value.get<double>() >= 0 &&
        value.get<double>() < kLargestExact) {
      time = std::llround(value.get<double>());
    } else if (number.kind == ChakraValue::Kind::whole && number.fits && number.whole >= 0) {
      time = number.whole;
    } else {
      fail(field, "must be microseconds below 2^63");
    }
  }

  // {"name": "comm_size", "int64Val": "4096"}
  void take_attributes(const Json& list) {
    if (!list.is_array()) return fail("attr", "must be a list");
    for (const Json& one : list) {
      if (!one.is_object() || !one.contains("name") || !one["name"].is_string()) {
        fail("attr", "must each have a name");
        continue;
      }
      for (const auto& [key, value] : one.items()) {
        if (key == "name" || plain_key(key) == "docstring") continue;
        take_named(one["name"].get_ref<const std::string&>(), value);
      }
    }
  }

  void fail(const char* field, const std::string& message) {
    problems_.add(file_.name, fmt::format("{}: {}", label_of(node_), field), message);
  }

  ChakraFile& file_;
  TraceProblems& problems_;
  ChakraNode node_;
};

// The object that has neither id nor type: {"version": "0.0.4", "attr": [...]}.
bool is_metadata(const Json& object) {
  return !object.contains("id") && !object.contains("type") && !object.contains("Id") &&
         !object.contains("NodeType") && !object.contains("name");
}

void read_metadata(const Json& object, ChakraFile& file) {
  if (object.contains("version") && object["version"].is_string()) {
    file.version = object["version"].get<std::string>();
  }
  const auto attributes = object.find("attr");
  if (attributes == object.end() || !attributes->is_array()) return;
  for (const Json& one : *attributes) {
    if (!one.is_object() || one.value("name", "") != "schema") continue;
    file.version = one.value("stringVal", one.value("string_val", ""));
    file.recorded = true;
  }
}

void read_nodes(const Json& list, ChakraFile& file, TraceProblems& problems) {
  if (!list.is_array()) return problems.add(file.name, "workload_graph", "must be a list");
  for (const Json& object : list) {
    if (is_enough(problems)) return;
    if (object.is_object()) {
      JsonNodeReader(file, problems).read(object);
    } else {
      problems.add(file.name, "workload_graph", "must contain objects");
    }
  }
}

}  // namespace

ChakraFile read_chakra_json(std::string_view text, const std::string& name,
                            TraceProblems& problems) {
  ChakraFile file;
  file.name = name;
  if (!problems.fits(name, json_memory(text))) return file;
  std::istringstream stream{std::string(text)};
  bool first = true;
  std::ptrdiff_t begins = 0;  // where the current object begins
  try {
    while (stream >> std::ws && !stream.eof() && !is_enough(problems)) {
      begins = static_cast<std::ptrdiff_t>(stream.tellg());
      Json object;
      stream >> object;
      if (object.is_object() && object.contains("workload_graph")) {
        file.version = "feeder";
        read_nodes(object["workload_graph"], file, problems);
      } else if (object.is_object() && first && is_metadata(object)) {
        read_metadata(object, file);
      } else if (object.is_object()) {
        JsonNodeReader(file, problems).read(object);
      } else {
        problems.add(name, "", "contains something other than objects");
      }
      first = false;
    }
  } catch (const Json::exception&) {
    // Objects follow one another: the lines of those before this one are known.
    JsonMistake mistake = first_json_mistake(text.substr(static_cast<std::size_t>(begins)), true)
                              .value_or(JsonMistake{});
    mistake.line += static_cast<int>(std::count(text.begin(), text.begin() + begins, '\n'));
    problems.add(name, "", text_of(mistake));
  }
  // The feeder's form does not say who wrote it, but only recorders write operators of the CPU.
  for (const ChakraNode& node : file.nodes) {
    file.recorded = file.recorded || node.cpu_op.value_or(false);
  }
  check_nodes(file, problems);
  return file;
}

}  // namespace weft
