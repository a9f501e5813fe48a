// Topologies: how the endpoints of a fabric are joined.
//
// Each is one file (fully_connected.cc, one_switch.cc, torus.cc and others) with its parameters
// and their keys, what it demands of them, its links and routes (a Shape), and its answers to those
// who plan what goes over a fabric. topologies.cc has the table of all. Nobody else knows which of
// them a fabric has: who needs to know something about it asks a question here.
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

// What a fabric joins.
struct Endpoints {
  std::int64_t count = 0;
  std::string counted;                  // "128 nodes x 1 NIC"
  std::vector<std::string> counted_by;  // paths of the keys with these numbers
};

// What chooses among equal routes.
enum class RouteBy {
  destination,  // nothing else: one fixed route a destination
  pair,         // a hash of source and destination: one fixed route a pair
  message       // a hash of the message: every message its own route
};

// Whether what passes is added up and copied on its way (NVLink SHARP).
struct SumsOnTheWay {
  bool can = false;
  double ratio = 1;  // what they reach of a link, where its bandwidth is 1
  std::string_view why_not = "has a scale_up of another shape";  // what a cluster with it
  std::string_view keys{};  // with which they can be; empty: never
};

class TopologySpec {
 public:
  TopologySpec() = default;
  virtual ~TopologySpec() = default;
  TopologySpec& operator=(const TopologySpec&) = delete;
  TopologySpec& operator=(TopologySpec&&) = delete;
  [[nodiscard]] virtual std::unique_ptr<TopologySpec> clone() const = 0;

  // Its own keys in the map of a fabric, which apply where the key `shape` has its word.
  virtual void fields(Fields& map, Fabric which);
  // What follows from the number of endpoints, known once all is read.
  virtual void settle(std::int64_t endpoints);
  // Whether its parameters suit the endpoints. What does not is said at its key.
  [[nodiscard]] virtual bool fits(const Endpoints& endpoints, const KeysOf& keys) const;

  // Of parameters that fit: its links without building them, and the links with their routes.
  [[nodiscard]] virtual std::int64_t count_links(std::int64_t endpoints) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Shape> build(std::int64_t endpoints) const = 0;
  // "fat tree", "16x8 torus", for a line of a list.
  [[nodiscard]] virtual std::string summary() const = 0;

  // Links between an endpoint and the nearest other one.
  [[nodiscard]] virtual int hops_to_nearest() const = 0;
  // Links that a step of a collective crosses, from one rank to the next.
  [[nodiscard]] virtual int hops_of_step() const { return hops_to_nearest(); }
  // Links by which one endpoint sends.
  [[nodiscard]] virtual std::int64_t links_of_endpoint(std::int64_t /*endpoints*/) const {
    return 1;
  }
  // Whether each pair of endpoints has a link that no other pair uses.
  [[nodiscard]] virtual bool has_link_of_each_pair() const { return false; }
  // Sizes of the grid whose neighbours are joined, each of its rows to a ring; empty: there is
  // none.
  [[nodiscard]] virtual std::vector<int> grid() const { return {}; }
  // Bandwidth of the endpoints for each byte of what leads on from where they are joined.
  [[nodiscard]] virtual double oversubscription() const { return 1; }
  // Whether messages never meet on a link unless they have a sender or a receiver in common.
  [[nodiscard]] virtual bool keeps_pairs_apart() const { return has_link_of_each_pair(); }
  // Whether all that messages do is the same with every endpoint `by` further on, on other links.
  [[nodiscard]] virtual bool can_move(std::uint32_t by) const { return by == 0; }
  [[nodiscard]] virtual RouteBy route_by() const { return RouteBy::destination; }
  [[nodiscard]] virtual SumsOnTheWay sums_on_the_way() const { return {}; }

 protected:
  TopologySpec(const TopologySpec&) = default;
  TopologySpec(TopologySpec&&) = default;
};

struct TopologyRow;

// A topology with its parameters, a value.
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

  // What the key `shape` says where all parameters are written beside it.
  [[nodiscard]] std::string_view word() const;

  // The key `shape`, then those of all topologies: the others' are mistakes.
  void word_field(Fields& map);
  void own_fields(Fields& map, Fabric which);

 private:
  explicit Topology(const TopologyRow& row);

  const TopologyRow* row_;
  std::unique_ptr<TopologySpec> spec_;
};

// "shape: switch and reduces: true": those that can add up on the way.
std::string topologies_with_sums();

}  // namespace weft
