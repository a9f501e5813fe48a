// A dragonfly (Kim, Dally, Scott, Abts: "Technology-Driven, Highly-Scalable Dragonfly Topology",
// ISCA 2008): groups of routers, each joined to all of its group, and links between all groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/core/nearest.h"
#include "sim/core/plural.h"
#include "sim/network/topology.h"
#include "sim/spec/fields.h"
#include "sim/spec/keys_of.h"

namespace weft::topologies {
namespace {

constexpr std::array kGlobalRoutings = {
    Choice<RouteBy>{"by_destination", RouteBy::destination,
                    "the destination's place in its group modulo these links: one route per router "
                    "and destination"},
    Choice<RouteBy>{"ecmp", RouteBy::pair, "hash of source and destination: one route per pair"},
    Choice<RouteBy>{"spray", RouteBy::message, "hash of the message: one route per message"},
};

// Endpoint e is at router e / per_router, router r in group r / routers. The K links from a group
// to the one d further on (d = 1 .. groups - 1, modulo groups) are the group's global ports
// (d - 1) x K .., which its routers take in turn. So every group sees the others in the same way,
// and routers' numbers of global links differ by at most one.
//
// Those of the K links that join the same two routers are a bundle: there are min(K, routers)
// bundles, each from and to routers of its own.
//
// Links, group by group: endpoints up, endpoints down, from each router to the others of its group,
// to the other groups by distance, bundle by bundle.
class DragonflyShape final : public Shape {
 public:
  DragonflyShape(std::int64_t count, int per_router, int routers, int between, RouteBy routing)
      : Shape(count),
        per_router_(static_cast<std::uint32_t>(per_router)),
        routers_(static_cast<std::uint32_t>(routers)),
        between_(static_cast<std::uint32_t>(between)),
        per_group_(per_router_ * routers_),
        groups_(endpoints() / per_group_),
        by_destination_(routing == RouteBy::destination) {
    SIM_ASSERT(groups_ * per_group_ == endpoints());
    SIM_ASSERT(groups_ >= 2);
    for (std::uint32_t group = 0; group < groups_; ++group) add_links_of(group);
    SIM_ASSERT(links().size() == std::size_t{groups_} * links_of_group());
  }

  // With at most one global link, and as few others as possible.
  std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t hash) const override {
    if (at < endpoints()) return links_before(at / per_group_) + at % per_group_;
    const std::uint32_t group = (at - endpoints()) / routers_;
    const std::uint32_t router = (at - endpoints()) % routers_;
    const std::uint32_t to_router = to / per_router_ % routers_;
    const std::uint32_t distance = (to / per_group_ + groups_ - group) % groups_;
    if (distance != 0) {
      return towards_group(group, router, distance, to_router,
                           by_destination_ ? to % per_group_ : hash);
    }
    if (router != to_router) return local_link(group, router, to_router);
    return links_before(group) + per_group_ + to % per_group_;
  }

  std::string description() const override {
    return fmt::format("dragonfly of {} groups of {} {}", groups_, routers_,
                       plural(routers_, "router", "routers"));
  }
  const char* link_class(const ShapeLink& link) const override {
    static constexpr const char* kClasses[] = {"up", "down", "local", "global"};
    return kClasses[link.dimension];
  }

 private:
  void add_links_of(std::uint32_t group) {
    const std::uint32_t first = group * per_group_;
    for (std::uint32_t e = first; e < first + per_group_; ++e)
      add(e, vertex(0, e / per_router_), 0);
    for (std::uint32_t e = first; e < first + per_group_; ++e)
      add(vertex(0, e / per_router_), e, 1);
    for (std::uint32_t from = 0; from < routers_; ++from) {
      for (std::uint32_t to = 0; to < routers_; ++to) {
        if (from != to) add(vertex(group, from), vertex(group, to), 2);
      }
    }
    for (std::uint32_t distance = 1; distance < groups_; ++distance) {
      for (std::uint32_t bundle = 0; bundle < routers_; ++bundle) {
        for (std::uint32_t i = 0; i < width(bundle); ++i) {
          add(vertex(group, router_of(distance, bundle)),
              vertex((group + distance) % groups_, router_of(groups_ - distance, bundle)), 3);
        }
      }
    }
  }

  // A router with a link to the group may use it, and then one inside that group; or the message
  // goes first to the router whose link ends at the destination's router, which is as long. With a
  // link that does both, the route is one shorter; with neither, one longer. A message that gets to
  // a router by this choice continues by that router's own link.
  std::uint32_t towards_group(std::uint32_t group, std::uint32_t router, std::uint32_t distance,
                              std::uint32_t to_router, std::uint64_t choice) const {
    const std::uint32_t own = bundle_of(distance, router);
    const std::uint32_t into = bundle_of(groups_ - distance, to_router);
    const std::uint32_t own_links = width(own);
    const std::uint32_t equal = own_links + (into == own ? 0 : width(into));
    if (equal == 0) {  // then there are fewer links than routers: bundles of one
      const auto bundle = static_cast<std::uint32_t>(choice % between_);
      return local_link(group, router, router_of(distance, bundle));
    }
    const auto chosen = static_cast<std::uint32_t>(choice % equal);
    if (chosen >= own_links) return local_link(group, router, router_of(distance, into));
    return links_before(group) + 2 * per_group_ + routers_ * (routers_ - 1) +
           (distance - 1) * between_ + links_before_bundle(own) + chosen;
  }

  std::uint32_t moved_link(std::uint32_t link, std::uint32_t by) const override {
    SIM_ASSERT(by_destination_ && by % per_group_ == 0);
    return (link + by / per_group_ * links_of_group()) % (groups_ * links_of_group());
  }

  // Bundles and the routers from which they leave, towards the group at a distance.
  std::uint32_t first_router(std::uint32_t distance) const {
    return (distance - 1) * between_ % routers_;
  }
  std::uint32_t router_of(std::uint32_t distance, std::uint32_t bundle) const {
    return (first_router(distance) + bundle) % routers_;
  }
  std::uint32_t bundle_of(std::uint32_t distance, std::uint32_t router) const {
    return (router + routers_ - first_router(distance)) % routers_;
  }
  // Number of links of a bundle: 0 from the `between_`th bundle on.
  std::uint32_t width(std::uint32_t bundle) const {
    return between_ / routers_ + (bundle < between_ % routers_ ? 1 : 0);
  }
  std::uint32_t links_before_bundle(std::uint32_t bundle) const {
    return bundle * (between_ / routers_) + std::min(bundle, between_ % routers_);
  }

  std::uint32_t vertex(std::uint32_t group, std::uint32_t router) const {
    return endpoints() + group * routers_ + router;
  }
  std::uint32_t local_link(std::uint32_t group, std::uint32_t from, std::uint32_t to) const {
    return links_before(group) + 2 * per_group_ + from * (routers_ - 1) + (to < from ? to : to - 1);
  }
  std::uint32_t links_of_group() const {
    return 2 * per_group_ + routers_ * (routers_ - 1) + (groups_ - 1) * between_;
  }
  std::uint32_t links_before(std::uint32_t group) const { return group * links_of_group(); }

  std::uint32_t per_router_;
  std::uint32_t routers_;  // per group
  std::uint32_t between_;  // links from a group to each other one
  std::uint32_t per_group_;
  std::uint32_t groups_;
  bool by_destination_;
};

class Dragonfly final : public TopologySpec {
 public:
  std::unique_ptr<TopologySpec> clone() const override {
    return std::make_unique<Dragonfly>(*this);
  }
  void fields(Fields& map, Fabric /*which*/) override {
    map.add("endpoints_per_router", per_router_,
            {.help = "endpoint ports of a router", .range = {{1, kMost}}});
    map.add("routers_per_group", routers_,
            {.help = "routers of a group, each with a link to every other; the number of groups "
                     "follows from that of endpoints",
             .range = {{1, kMost}}});
    map.add("links_between_groups", between_,
            {.help = "links from each group to every other; a group's routers have them in turn",
             .range = {{1, kMost}}});
    map.choice("global_routing", routing_, kGlobalRoutings,
               {.help = "what chooses among the links to another group that lead to equally short "
                        "routes; no route goes through a third group",
                .fallback = RouteBy::destination});
  }
  void settle(std::int64_t endpoints) override {
    if (per_group() > 0) groups_ = endpoints / per_group();
  }
  bool fits(const Endpoints& endpoints, const KeysOf& keys) const override {
    const auto good = [&keys] {
      return keys.good({"endpoints_per_router", "routers_per_group", "links_between_groups"});
    };
    if (!good()) return false;
    const std::string of = fmt::format("groups of {} ({} {} of {})", per_group(), routers_,
                                       plural(routers_, "router", "routers"), per_router_);
    if (endpoints.count % per_group() != 0) {
      keys.fail_between(
          "routers_per_group", endpoints.counted_by,
          fmt::format("{} endpoints ({}) do not fill {}; nearest groups: {}", endpoints.count,
                      endpoints.counted, of, divisors_around(endpoints.count, per_group())));
    } else if (endpoints.count == per_group()) {
      keys.fail_between("routers_per_group", endpoints.counted_by,
                        fmt::format("{} endpoints ({}) in {} are one group, but a dragonfly has 2 "
                                    "or more",
                                    endpoints.count, endpoints.counted, of));
    }
    return good();
  }
  std::int64_t count_links(std::int64_t endpoints) const override {
    const std::int64_t groups = endpoints / per_group();
    const std::int64_t inside = std::int64_t{routers_} * (routers_ - 1);
    return 2 * endpoints + groups * (inside + (groups - 1) * between_);
  }
  std::unique_ptr<Shape> build(std::int64_t endpoints) const override {
    return std::make_unique<DragonflyShape>(endpoints, per_router_, routers_, between_, routing_);
  }
  std::string summary() const override { return "dragonfly"; }

  // Up, to another router if each has only one endpoint, down.
  int hops_to_nearest() const override { return per_router_ > 1 ? 2 : 3; }
  // The longest route: up, a link in either group where a router has no global link there, a global
  // link, down.
  int hops_of_step() const override {
    if (routers_ == 1) return 3;
    return between_ < routers_ ? 5 : 4;
  }
  // A group's bandwidth to its endpoints divided by that to other groups.
  double oversubscription() const override {
    if (groups_ < 2) return 1;
    return std::max(
        1.0, static_cast<double>(per_group()) / static_cast<double>((groups_ - 1) * between_));
  }
  // By whole groups: each sees the others as the next one does.
  bool can_move(std::uint32_t by) const override {
    return by == 0 || (routing_ == RouteBy::destination && by % per_group() == 0);
  }
  RouteBy route_by() const override { return routing_; }

 private:
  static constexpr std::int64_t kMost = 4'096;

  [[nodiscard]] std::int64_t per_group() const { return std::int64_t{per_router_} * routers_; }

  int per_router_ = 0;
  int routers_ = 0;  // per group
  int between_ = 0;  // links from a group to each other one
  RouteBy routing_ = RouteBy::destination;
  std::int64_t groups_ = 0;
};

}  // namespace

std::unique_ptr<TopologySpec> dragonfly() { return std::make_unique<Dragonfly>(); }

}  // namespace weft::topologies
