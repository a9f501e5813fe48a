// One rank's Chakra execution trace as plain values, in the same form for all writers.
//
// The protobuf form of schemas 0.0.4 to 1.1.1 (a GlobalMetadata, then Nodes, each after its length)
// is read, and two JSON forms: the feeder's {"workload_graph": [...]} and one object per message,
// as protobuf prints them. docs/traces.md explains what the parts of a node mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/traces/problems.h"

namespace weft {

enum class ChakraKind : std::uint8_t {
  invalid,
  metadata,
  memory_load,
  memory_store,
  compute,
  send,
  receive,
  collective
};
inline constexpr std::uint64_t kChakraKinds = 8;
// Reading a file stops after more mistakes than this.
inline constexpr std::size_t kChakraProblemsMost = 10'000;

// What a node says, in its own units; values that it does not have are absent.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraKind kind = ChakraKind::invalid;
  std::vector<std::uint64_t> data_deps;
  std::vector<std::uint64_t> ctrl_deps;
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  std::optional<bool> cpu_op;
  std::optional<std::int64_t> comm_type;
  std::optional<std::int64_t> comm_size;
  std::optional<std::int64_t> comm_source;
  std::optional<std::int64_t> comm_target;
  std::optional<std::int64_t> comm_tag;
  std::optional<std::int64_t> root;
  std::optional<std::int64_t> num_ops;
  std::optional<std::int64_t> tensor_size;
  // Attributes of weft's own for nodes that compute: the number of WGs, and what each needs.
  std::optional<std::int64_t> wgs;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> registers_per_thread;
  std::optional<std::int64_t> lds_bytes;
  std::optional<std::int64_t> stream;  // of the GPU: `stream`, or otherwise the recorder's `tid`
  std::optional<std::string> group;    // pg_name
  bool meets = false;                  // of weft's own: `meets` of CommunicationShape
  std::optional<std::int64_t> block;   // of weft's own: in which of the model's blocks it is
  bool all_dims = true;                // no involved_dim is false
  std::string inputs;                  // if the node lists process groups; else empty
};

// PyTorch's recorder lists its process groups in the inputs of a node of this name.
bool lists_groups(const ChakraNode& node);

// "node 61 'conv3_ALLREDUCE'"
std::string label_of(const ChakraNode& node);

struct ChakraFile {
  std::string name;       // of the file
  std::string version;    // of generators ("0.0.4"), or the schema that PyTorch's recorder noted
  bool recorded = false;  // by PyTorch: the metadata has a schema
  std::vector<ChakraNode> nodes;
  std::map<std::string, std::size_t> unused;  // number of attributes that are not read, by name
  std::size_t unsigned_sizes = 0;             // comm_size in the older, unsigned form
};

// Reads either form. After a mistake, later nodes may be missing.
ChakraFile read_chakra(std::string_view text, const std::string& name, TraceProblems& problems);

// The readers of the two forms, which are told apart by how the text begins.
ChakraFile read_chakra_wire(std::string_view bytes, const std::string& name,
                            TraceProblems& problems);
ChakraFile read_chakra_json(std::string_view text, const std::string& name,
                            TraceProblems& problems);

// An attribute's value in either form.
struct ChakraValue {
  enum class Kind : std::uint8_t { whole, truth, text, truths, other };
  Kind kind = Kind::other;
  std::int64_t whole = 0;
  bool fits = true;  // a whole number that fits 63 bits and a sign
  bool is_unsigned = false;
  std::string_view text;
  bool all_true = true;
};

// Puts an attribute into the node, or counts it as unused.
void take_attribute(ChakraFile& file, ChakraNode& node, std::string_view name,
                    const ChakraValue& value, TraceProblems& problems);

// Appends a node that was read, if its kind is known and there is memory for it.
void add_node(ChakraFile& file, ChakraNode node, TraceProblems& problems);
// Whether to stop reading the file.
inline bool is_enough(const TraceProblems& problems) {
  return problems.full() || problems.found() > kChakraProblemsMost;
}

// Checks that there are nodes, and that their ids differ.
void check_nodes(const ChakraFile& file, TraceProblems& problems);

}  // namespace weft
