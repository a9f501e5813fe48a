// Topologies: how the endpoints of a fabric are connected.
//
// Each has a file of its own (fully_connected.cc, one_switch.cc, torus.cc and others) with its
// parameters and their keys, the checks of them, its links and routes (a Shape), and its answers to
// code that plans traffic over a fabric. topologies.cc has the table of all. No other code knows
// which of them a fabric has: code that needs to know something about it calls a function here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network/shape.h"

namespace weft {

class Fields;
class KeysOf;

enum class Fabric { scale_up, scale_out };

// What a fabric connects.
struct Endpoints {
  std::int64_t count = 0;
  std::string counted;                  // "128 nodes x 1 NIC"
  std::vector<std::string> counted_by;  // paths of the keys that give these numbers
};

// What chooses among equal routes.
enum class RouteBy {
  destination,  // the destination alone: one fixed route per destination
  pair,         // a hash of source and destination: one fixed route per pair
  message       // a hash of the message: every message its own route
};

// Whether the fabric can add up and copy what passes through it (NVLink SHARP).
struct SumsOnTheWay {
  bool can = false;
  double ratio = 1;  // payload rate of such data, as a ratio to the link's
  std::string_view why_not = "has a scale_up of another shape";  // why a cluster cannot
  std::string_view keys{};  // with which this topology can; empty: never
};

class TopologySpec {
 public:
  TopologySpec() = default;
  virtual ~TopologySpec() = default;
  TopologySpec& operator=(const TopologySpec&) = delete;
  TopologySpec& operator=(TopologySpec&&) = delete;
  [[nodiscard]] virtual std::unique_ptr<TopologySpec> clone() const = 0;

  // Its own keys in the map of a fabric; they apply if the key `shape` names this topology.
  virtual void fields(Fields& map, Fabric which);
  // Sets what follows from the number of endpoints, which is known only after all keys are read.
  virtual void settle(std::int64_t endpoints);
  // Whether its parameters fit the endpoints. Those that do not are reported at their keys.
  [[nodiscard]] virtual bool fits(const Endpoints& endpoints, const KeysOf& keys) const;

  // For parameters that fit: the number of links without building them; links with their routes.
  [[nodiscard]] virtual std::int64_t count_links(std::int64_t endpoints) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Shape> build(std::int64_t endpoints) const = 0;
  // "fat tree", "16x8 torus", for a line of a list.
  [[nodiscard]] virtual std::string summary() const = 0;

  // Number of links from an endpoint to the nearest other one.
  [[nodiscard]] virtual int hops_to_nearest() const = 0;
  // Number of links that a step of a collective crosses, from one rank to the next.
  [[nodiscard]] virtual int hops_of_step() const { return hops_to_nearest(); }
  // Number of links on which one endpoint sends.
  [[nodiscard]] virtual std::int64_t links_of_endpoint(std::int64_t /*endpoints*/) const {
    return 1;
  }
  // Whether each pair of endpoints has a link that no other pair uses.
  [[nodiscard]] virtual bool has_link_of_each_pair() const { return false; }
  // Sizes of the grid in which neighbours are connected and each row is a ring; empty: no grid.
  [[nodiscard]] virtual std::vector<int> grid() const { return {}; }
  // Bandwidth of a switch's endpoints divided by that of its links to other switches.
  [[nodiscard]] virtual double oversubscription() const { return 1; }
  // Whether messages share a link only if they have the same sender or the same receiver.
  [[nodiscard]] virtual bool keeps_pairs_apart() const { return has_link_of_each_pair(); }
  // Whether messages behave the same if every endpoint is shifted by `by`, on other links.
  [[nodiscard]] virtual bool can_move(std::uint32_t by) const { return by == 0; }
  // Whether the first `by` of a row of endpoints can stand for all that follow: messages to the
  // next few endpoints, or to other rows, load links of the same kinds as much if every `by`
  // endpoints are a cluster of their own, in which the last ones send to the first instead of to
  // the next.
  [[nodiscard]] virtual bool stands_for_row(std::uint32_t /*by*/) const { return false; }
  [[nodiscard]] virtual RouteBy route_by() const { return RouteBy::destination; }
  [[nodiscard]] virtual SumsOnTheWay sums_on_the_way() const { return {}; }

 protected:
  TopologySpec(const TopologySpec&) = default;
  TopologySpec(TopologySpec&&) = default;
};

struct TopologyRow;

// A topology with its parameters, as a value.
class Topology {
 public:
  Topology();  // before a file has said which
  explicit Topology(std::string_view word);
  ~Topology() = default;
  Topology(const Topology& other);
  Topology(Topology&& other) = default;
  Topology& operator=(const Topology& other);
  Topology& operator=(Topology&& other) = default;

  const TopologySpec& operator*() const { return *spec_; }
  const TopologySpec* operator->() const { return spec_.get(); }
  TopologySpec* operator->() { return spec_.get(); }

  // The value of the key `shape` when all parameters are written out too.
  [[nodiscard]] std::string_view word() const;

  // The key `shape`; then the keys of all topologies: those of the others are reported as mistakes.
  void word_field(Fields& map);
  void own_fields(Fields& map, Fabric which);

 private:
  explicit Topology(const TopologyRow& row);

  const TopologyRow* row_;
  std::unique_ptr<TopologySpec> spec_;
};

// "shape: switch and reduces: true": the keys of topologies that can add up what passes.
std::string topologies_with_sums();

}  // namespace weft
