#include "sim/scenario/astra_sim.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/spec/units.h"

namespace weft {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"topology", "npus_count", "bandwidth",
                                                   "latency"};
constexpr std::size_t kMostDimensions = 3;

struct Dimension {
  const Node* topology;
  const Node* npus;
  const Node* bandwidth;
  const Node* latency;
  [[nodiscard]] bool is(std::string_view word) const { return topology->text == word; }
};

class Reader {
 public:
  Reader(const Node& network, std::string name, Diagnostics& problems)
      : network_(network), name_(std::move(name)), problems_(problems) {}

  std::optional<Node> read() {
    if (network_.kind != Node::Kind::map) {
      fail(network_.at,
           "must be an ASTRA-sim network file: topology, npus_count, bandwidth, "
           "latency, each a list");
      return std::nullopt;
    }
    for (const Entry& entry : network_.entries) {
      if (std::find(kKeys.begin(), kKeys.end(), entry.key) != kKeys.end()) continue;
      fail(entry.key_at, "'" + entry.key +
                             "' is not a key of an ASTRA-sim network file; the keys are "
                             "topology npus_count bandwidth latency");
    }
    const std::vector<Dimension> dimensions = read_dimensions();
    if (failed_) return std::nullopt;
    return cluster_of(dimensions);
  }

 private:
  void fail(const SourcePosition& at, std::string message) {
    problems_.add({.at = at, .path = "", .message = std::move(message), .source_line = ""});
    failed_ = true;
  }

  const Node* list(std::string_view key) {
    const Entry* entry = network_.find(key);
    if (entry != nullptr && entry->value.kind == Node::Kind::list && !entry->value.items.empty()) {
      return &entry->value;
    }
    fail(entry == nullptr ? network_.at : entry->key_at,
         std::string(key) + ": must be a list with one value per dimension");
    return nullptr;
  }

  std::vector<Dimension> read_dimensions() {
    std::array<const Node*, kKeys.size()> lists{};
    for (std::size_t i = 0; i < kKeys.size(); ++i) lists[i] = list(kKeys[i]);
    if (std::find(lists.begin(), lists.end(), nullptr) != lists.end()) return {};
    const std::size_t count = lists[0]->items.size();
    for (std::size_t i = 1; i < kKeys.size(); ++i) {
      if (lists[i]->items.size() == count) continue;
      fail(lists[i]->at, std::string(kKeys[i]) + ": " + std::to_string(lists[i]->items.size()) +
                             " values for " + std::to_string(count) + " dimensions");
    }
    std::size_t whole = count;  // dimensions with all of their values
    for (const Node* one : lists) whole = std::min(whole, one->items.size());
    std::vector<Dimension> dimensions;
    dimensions.reserve(whole);
    for (std::size_t d = 0; d < whole; ++d) {
      dimensions.push_back({.topology = &lists[0]->items[d],
                            .npus = &lists[1]->items[d],
                            .bandwidth = &lists[2]->items[d],
                            .latency = &lists[3]->items[d]});
      check(dimensions.back());
    }
    return dimensions;
  }

  void check(const Dimension& dimension) {
    if (!dimension.is("Ring") && !dimension.is("Switch") && !dimension.is("FullyConnected")) {
      fail(dimension.topology->at, "topology: must be one of Ring Switch FullyConnected, not '" +
                                       dimension.topology->text + "'");
    }
    expect_number(*dimension.npus, "npus_count: must be a number of NPUs");
    expect_number(*dimension.bandwidth, "bandwidth: must be a number of GB/s");
    expect_number(*dimension.latency, "latency: must be a number of ns");
  }

  void expect_number(const Node& value, const char* message) {
    if (value.kind == Node::Kind::scalar && parse_number(value.text).ok()) return;
    fail(value.at, std::string(message) + ", not '" + value.text + "'");
  }

  std::optional<Node> cluster_of(const std::vector<Dimension>& dimensions) {
    const Dimension& inner = dimensions.front();
    const bool rings = std::all_of(dimensions.begin(), dimensions.end(),
                                   [](const Dimension& d) { return d.is("Ring"); });
    if (dimensions.size() == 1) return one_node(inner.npus->text, shape_of(inner), inner);
    if (rings && dimensions.size() <= kMostDimensions) return torus(dimensions);
    const Dimension& outer = dimensions.back();
    if (dimensions.size() == 2 && outer.is("Switch")) return nodes(inner, outer);
    fail(outer.topology->at,
         "topology: weft does not support these dimensions; it supports one dimension, rings in "
         "two or "
         "three, or two of which the second is a Switch");
    return std::nullopt;
  }

  std::optional<Node> torus(const std::vector<Dimension>& dimensions) {
    std::int64_t gpus = 1;
    for (const Dimension& dimension : dimensions) {
      if (dimension.bandwidth->text != dimensions.front().bandwidth->text ||
          dimension.latency->text != dimensions.front().latency->text) {
        fail(dimension.bandwidth->at,
             "the links of a torus must be the same in all of its dimensions");
      }
      const Parsed<std::int64_t> size = parse_integer(dimension.npus->text);
      if (!size.ok() || size.value < 1 || size.value > 4'096) {
        fail(dimension.npus->at, "npus_count: must be from 1 to 4096");
        return std::nullopt;
      }
      gpus *= size.value;
    }
    if (failed_) return std::nullopt;
    Node shape = map();
    put(shape, "shape", "torus");
    Node sizes = node_at(network_.at, Node::Kind::list);
    for (const Dimension& dimension : dimensions) sizes.items.push_back(*dimension.npus);
    shape.entries.push_back({.key = "dims", .key_at = network_.at, .value = std::move(sizes)});
    return one_node(std::to_string(gpus), std::move(shape), dimensions.front());
  }

  Node one_node(const std::string& gpus, Node shape, const Dimension& links) {
    Node cluster = map();
    put(cluster, "name", "ASTRA-sim " + name_);
    put(cluster, "nodes", "1");
    put(cluster, "gpus_per_node", gpus);
    add_link(shape, links);
    cluster.entries.push_back(
        {.key = "scale_up", .key_at = network_.at, .value = std::move(shape)});
    return cluster;
  }

  Node nodes(const Dimension& inner, const Dimension& outer) {
    Node cluster = one_node(inner.npus->text, shape_of(inner), inner);
    cluster.find("nodes")->value = *outer.npus;
    Node scale_out = shape_of(outer);
    add_link(scale_out, outer);
    cluster.entries.push_back(
        {.key = "scale_out", .key_at = network_.at, .value = std::move(scale_out)});
    Node nic = map();
    put(nic, "base", "nics/ideal");
    put(nic, "per_node", inner.npus->text);
    cluster.entries.push_back({.key = "nic", .key_at = network_.at, .value = std::move(nic)});
    return cluster;
  }

  [[nodiscard]] Node map() const { return node_at(network_.at, Node::Kind::map); }

  void put(Node& map, std::string key, std::string value) const {
    map.entries.push_back({.key = std::move(key),
                           .key_at = network_.at,
                           .value = node_at(network_.at, Node::Kind::scalar, std::move(value))});
  }

  Node shape_of(const Dimension& dimension) const {
    Node shape = map();
    const char* word = dimension.is("Ring") ? "ring" : "fully_connected";
    put(shape, "shape", dimension.is("Switch") ? "switch" : word);
    return shape;
  }

  void add_link(Node& shape, const Dimension& dimension) const {
    Node link = map();
    const auto add = [&](const char* key, const Node& value, const char* unit) {
      link.entries.push_back({.key = key,
                              .key_at = value.at,
                              .value = node_at(value.at, Node::Kind::scalar, value.text + unit)});
    };
    add("bandwidth", *dimension.bandwidth, " GB/s");
    add("latency", *dimension.latency, " ns");
    shape.entries.push_back({.key = "link", .key_at = network_.at, .value = std::move(link)});
  }

  const Node& network_;
  std::string name_;
  Diagnostics& problems_;
  bool failed_ = false;
};

}  // namespace

std::optional<Node> cluster_of_astra_sim(const Node& network, const std::string& name,
                                         Diagnostics& problems) {
  return Reader(network, name, problems).read();
}

}  // namespace weft
