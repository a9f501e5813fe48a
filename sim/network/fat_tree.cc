// A fat tree of two levels: endpoints on leaves, every leaf on all spines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/core/assert.h"
#include "sim/core/nearest.h"
#include "sim/core/plural.h"
#include "sim/network/topology.h"
#include "sim/spec/fields.h"
#include "sim/spec/keys_of.h"

namespace weft::topologies {
namespace {

constexpr std::array kUpRoutings = {
    Choice<RouteBy>{"by_destination", RouteBy::destination,
                    "destination modulo spines: one route per destination"},
    Choice<RouteBy>{"ecmp", RouteBy::pair, "hash of source and destination: one route per pair"},
    Choice<RouteBy>{"spray", RouteBy::message, "hash of the message: one route per message"},
};

// Leaf l joins endpoints l x per_leaf ..; every leaf has one link to every spine. Links: endpoint
// up (e), leaf down to endpoint (n + e), leaf up (2n + l x spines + s), spine down (the same +
// leaves x spines).
class FatTreeShape final : public Shape {
 public:
  FatTreeShape(std::int64_t count, int per_leaf, std::int64_t spines, RouteBy up_routing)
      : Shape(count),
        per_leaf_(static_cast<std::uint32_t>(per_leaf)),
        leaves_(endpoints() / per_leaf_),
        spines_(static_cast<std::uint32_t>(spines)),
        by_destination_(up_routing == RouteBy::destination) {
    SIM_ASSERT(leaves_ * per_leaf_ == endpoints());
    SIM_ASSERT(spines_ >= 1);
    const std::uint32_t n = endpoints();
    for (std::uint32_t e = 0; e < n; ++e) add(e, leaf0() + e / per_leaf_, 0);
    for (std::uint32_t e = 0; e < n; ++e) add(leaf0() + e / per_leaf_, e, 1);
    for (std::uint32_t l = 0; l < leaves_; ++l) {
      for (std::uint32_t s = 0; s < spines_; ++s) add(leaf0() + l, spine0() + s, 2);
    }
    for (std::uint32_t l = 0; l < leaves_; ++l) {
      for (std::uint32_t s = 0; s < spines_; ++s) add(spine0() + s, leaf0() + l, 3);
    }
  }

  std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t hash) const override {
    if (at < leaf0()) return at;
    const std::uint32_t to_leaf = to / per_leaf_;
    if (at >= spine0()) return leaf_up0() + (leaves_ + to_leaf) * spines_ + (at - spine0());
    const std::uint32_t leaf = at - leaf0();
    if (leaf == to_leaf) return endpoints() + to;
    const auto spine = static_cast<std::uint32_t>(by_destination_ ? to % spines_ : hash % spines_);
    return leaf_up0() + leaf * spines_ + spine;
  }

  // A leaf by its first endpoint; spines are the same.
  std::uint32_t stands_for(std::uint32_t link, const Shape& smaller,
                           const std::vector<std::uint32_t>& of) const override {
    const std::uint32_t n = smaller.endpoints();
    if (link < endpoints()) return of[link];
    if (link < leaf_up0()) return n + of[link - endpoints()];
    const std::uint32_t row = (link - leaf_up0()) / spines_;
    const std::uint32_t leaf = of[row % leaves_ * per_leaf_] / per_leaf_;
    const std::uint32_t first_row = row < leaves_ ? 0 : n / per_leaf_;
    return 2 * n + (first_row + leaf) * spines_ + (link - leaf_up0()) % spines_;
  }

  std::string description() const override {
    return fmt::format("fat tree of {} {} and {} {}", leaves_, plural(leaves_, "leaf", "leaves"),
                       spines_, plural(spines_, "spine", "spines"));
  }
  const char* link_class(const ShapeLink& link) const override {
    static constexpr const char* kClasses[] = {"up", "down", "leaf_up", "spine_down"};
    return kClasses[link.dimension];
  }

 private:
  std::uint32_t moved_link(std::uint32_t link, std::uint32_t by) const override {
    SIM_ASSERT(by_destination_ && by % per_leaf_ == 0);
    if (link < leaf_up0()) return link + by;
    const std::uint32_t row = (link - leaf_up0()) / spines_;
    const std::uint32_t spine = (link - leaf_up0()) % spines_;
    return leaf_up0() + (row + by / per_leaf_) * spines_ + (spine + by) % spines_;
  }

  [[nodiscard]] std::uint32_t leaf0() const { return endpoints(); }
  [[nodiscard]] std::uint32_t spine0() const { return endpoints() + leaves_; }
  [[nodiscard]] std::uint32_t leaf_up0() const { return 2 * endpoints(); }

  std::uint32_t per_leaf_;
  std::uint32_t leaves_;
  std::uint32_t spines_;
  bool by_destination_;
};

class FatTree final : public TopologySpec {
 public:
  std::unique_ptr<TopologySpec> clone() const override { return std::make_unique<FatTree>(*this); }
  void fields(Fields& map, Fabric /*which*/) override {
    map.add("endpoints_per_leaf", per_leaf_,
            {.help = "endpoint ports of a leaf", .range = {{1, 65'536}}});
    map.add("oversubscription", oversubscription_,
            {.help = "a leaf's bandwidth down divided by its bandwidth up",
             .range = {{0.01, 65'536}},
             .fallback = 1});
    map.choice("up_routing", up_routing_, kUpRoutings,
               {.help = "how the spine is chosen", .fallback = RouteBy::destination});
  }
  bool fits(const Endpoints& endpoints, const KeysOf& keys) const override {
    if (!keys.good({"endpoints_per_leaf", "oversubscription"})) return false;
    if (endpoints.count % per_leaf_ != 0) {
      keys.fail_between(
          "endpoints_per_leaf", endpoints.counted_by,
          fmt::format("{} endpoints ({}) do not fill leaves of {}; nearest endpoints_per_leaf: {}",
                      endpoints.count, endpoints.counted, per_leaf_,
                      divisors_around(endpoints.count, per_leaf_)));
    }
    const double up = per_leaf_ / oversubscription_;
    constexpr double kRounding = 1e-9;
    if (up < 1 - kRounding || std::abs(up - std::round(up)) > kRounding * up) {
      keys.fail("oversubscription", fmt::format("a leaf with {0} ports down would have {1} up; {0} "
                                                "/ oversubscription must be a whole number",
                                                per_leaf_, std::to_string(up)));
    }
    return keys.good({"endpoints_per_leaf", "oversubscription"});
  }
  std::int64_t count_links(std::int64_t endpoints) const override {
    return 2 * endpoints + 2 * (endpoints / per_leaf_) * spines();
  }
  std::unique_ptr<Shape> build(std::int64_t endpoints) const override {
    return std::make_unique<FatTreeShape>(endpoints, per_leaf_, spines(), up_routing_);
  }
  std::string summary() const override { return "fat tree"; }

  int hops_to_nearest() const override { return per_leaf_ > 1 ? kInLeaf : kOverSpine; }
  int hops_of_step() const override { return kOverSpine; }
  double oversubscription() const override { return std::max(1.0, oversubscription_); }
  // By whole leaves; which spine is used shifts with the destination.
  bool can_move(std::uint32_t by) const override {
    return by == 0 ||
           (up_routing_ == RouteBy::destination && by % static_cast<std::uint32_t>(per_leaf_) == 0);
  }
  // Two leaves at least, so that what leaves a leaf does so still; and each destination's spine.
  bool stands_for_row(std::uint32_t by) const override {
    return can_move(by) && by >= 2 * static_cast<std::uint32_t>(per_leaf_) && by % spines() == 0;
  }
  RouteBy route_by() const override { return up_routing_; }

 private:
  static constexpr int kInLeaf = 2;
  static constexpr int kOverSpine = 4;

  [[nodiscard]] std::int64_t spines() const { return std::llround(per_leaf_ / oversubscription_); }

  int per_leaf_ = 0;
  double oversubscription_ = 1;  // leaf's down bandwidth / up bandwidth
  RouteBy up_routing_ = RouteBy::destination;
};

}  // namespace

std::unique_ptr<TopologySpec> fat_tree() { return std::make_unique<FatTree>(); }

}  // namespace weft::topologies
