// A link from every endpoint to every other.
#include <fmt/format.h>

#include "sim/network/topology.h"

namespace weft::topologies {
namespace {

// Link from a to b: in row a, at b, with the diagonal left out.
class PairsShape final : public Shape {
 public:
  explicit PairsShape(std::int64_t count) : Shape(count) {
    for (std::uint32_t from = 0; from < endpoints(); ++from) {
      for (std::uint32_t to = 0; to < endpoints(); ++to) {
        if (from != to) add(from, to, 0);
      }
    }
  }

  std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t /*hash*/) const override {
    return at * (endpoints() - 1) + to - (to > at ? 1 : 0);
  }
  std::string description() const override {
    return fmt::format("{} fully connected", endpoints());
  }
  const char* link_class(const ShapeLink& /*link*/) const override { return "direct"; }
};

class FullyConnected final : public TopologySpec {
 public:
  std::unique_ptr<TopologySpec> clone() const override {
    return std::make_unique<FullyConnected>(*this);
  }
  std::int64_t count_links(std::int64_t endpoints) const override {
    return endpoints * (endpoints - 1);
  }
  std::unique_ptr<Shape> build(std::int64_t endpoints) const override {
    return std::make_unique<PairsShape>(endpoints);
  }
  std::string summary() const override { return "all pairs"; }

  int hops_to_nearest() const override { return 1; }
  std::int64_t links_of_endpoint(std::int64_t endpoints) const override { return endpoints - 1; }
  bool has_link_of_each_pair() const override { return true; }
};

}  // namespace

std::unique_ptr<TopologySpec> fully_connected() { return std::make_unique<FullyConnected>(); }

}  // namespace weft::topologies
