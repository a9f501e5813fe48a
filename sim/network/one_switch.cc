// One switch, never the limit, which may add up what several send to one and copy what one sends to
// several (NVLink SHARP).
#include <fmt/format.h>

#include "sim/network/network_fields.h"
#include "sim/network/topology.h"
#include "sim/spec/words.h"

namespace weft::topologies {
namespace {

// Links 0..n-1 go up to the one switch, n..2n-1 down from it.
class StarShape final : public Shape {
 public:
  explicit StarShape(std::int64_t count) : Shape(count) {
    for (std::uint32_t i = 0; i < endpoints(); ++i) add(i, endpoints(), kUp);
    for (std::uint32_t i = 0; i < endpoints(); ++i) add(endpoints(), i, kDown);
  }

  std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t /*hash*/) const override {
    return at == endpoints() ? endpoints() + to : at;
  }
  std::uint32_t stands_for(std::uint32_t link, const Shape& smaller,
                           const std::vector<std::uint32_t>& of) const override {
    return link < endpoints() ? of[link] : smaller.endpoints() + of[link - endpoints()];
  }
  std::string description() const override { return fmt::format("{} on one switch", endpoints()); }
  const char* link_class(const ShapeLink& link) const override {
    return link.dimension == kUp ? "up" : "down";
  }

 private:
  std::uint32_t moved_link(std::uint32_t link, std::uint32_t by) const override {
    return link + by;
  }

  static constexpr unsigned kUp = 0;
  static constexpr unsigned kDown = 1;
};

class OneSwitch final : public TopologySpec {
 public:
  std::unique_ptr<TopologySpec> clone() const override {
    return std::make_unique<OneSwitch>(*this);
  }
  // No switch between nodes adds up yet.

  void fields(Fields& map, Fabric which) override {
    if (which == Fabric::scale_out) return;
    map.choice("reduces", reduces_, names::kTruths,
               {.help = "the switch sums what several GPUs send to one, and copies what one sends "
                        "to several",
                .fallback = false,
                .quiet = true});
    map.where("reduces", {"true"})
        .add("in_switch_ratio", ratio_,
             {.help = "payload bandwidth of data that the switch reduces or copies, as a ratio to "
                      "link.bandwidth",
              .range = kMeasuredRatio,
              .fallback = 1});
  }
  std::int64_t count_links(std::int64_t endpoints) const override { return 2 * endpoints; }
  std::unique_ptr<Shape> build(std::int64_t endpoints) const override {
    return std::make_unique<StarShape>(endpoints);
  }
  std::string summary() const override { return "switch"; }

  int hops_to_nearest() const override { return 2; }
  bool keeps_pairs_apart() const override { return true; }
  bool can_move(std::uint32_t /*by*/) const override { return true; }
  bool stands_for_row(std::uint32_t by) const override { return by >= 2; }
  SumsOnTheWay sums_on_the_way() const override {
    return {.can = reduces_,
            .ratio = ratio_,
            .why_not = "has a switch that only forwards messages",
            .keys = "reduces: true"};
  }

 private:
  bool reduces_ = false;
  double ratio_ = 1;
};

}  // namespace

std::unique_ptr<TopologySpec> one_switch() { return std::make_unique<OneSwitch>(); }

}  // namespace weft::topologies
