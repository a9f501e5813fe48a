// A torus of one (a ring), two or three dimensions: each endpoint has two links per dimension.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "sim/core/assert.h"
#include "sim/network/topology.h"
#include "sim/spec/fields.h"
#include "sim/spec/keys_of.h"

namespace weft::topologies {
namespace {

// Which way a message goes where two ways around a ring are equally short.
enum class RingTies {
  positive,  // always towards larger coordinates, as simple routers do
  split,     // half of the pairs each way
};
constexpr std::array kRingTies = {
    Choice<RingTies>{"split", RingTies::split, "half of the pairs go each way"},
    Choice<RingTies>{"positive", RingTies::positive, "always towards larger coordinates"},
};

constexpr Range<std::int64_t> kRingSize{2, 4'096};
constexpr std::size_t kMostDims = 3;

// Vertex v has 2 links per dimension: v x 2D + 2d towards larger coordinates, + 1 towards smaller.
class TorusShape final : public Shape {
 public:
  TorusShape(const std::vector<int>& dims, RingTies ties, std::int64_t count)
      : Shape(count), ties_(ties), dims_(dims.size()) {
    SIM_ASSERT(dims_ <= kMostDims);
    std::uint64_t product = 1;
    for (std::size_t d = 0; d < dims_; ++d) {
      SIM_ASSERT(dims[d] >= 2);
      sizes_[d] = static_cast<std::uint32_t>(dims[d]);
      product *= sizes_[d];
    }
    SIM_ASSERT(product == endpoints());
    for (std::uint32_t vertex = 0; vertex < endpoints(); ++vertex) add_links_of(vertex);
  }

  // Dimension order, the shorter way around each ring.
  std::uint32_t next(std::uint32_t at, std::uint32_t to, std::uint64_t /*hash*/) const override {
    const std::uint16_t* here = &coordinates_[at * dims_];
    const std::uint16_t* there = &coordinates_[to * dims_];
    for (std::size_t d = 0; d < dims_; ++d) {
      if (here[d] == there[d]) continue;
      const std::uint32_t size = sizes_[d];
      const std::uint32_t forward =
          there[d] > here[d] ? there[d] - here[d] : there[d] + size - here[d];
      bool down = 2 * forward > size;
      // A tie can only occur at the start of a dimension.
      if (2 * forward == size && ties_ == RingTies::split) down = odd_pair(here, there, d);
      return static_cast<std::uint32_t>(at * 2 * dims_ + 2 * d + (down ? 1 : 0));
    }
    SIM_ASSERT(false);  // at == to: arrived messages are not routed
  }
  // Of a ring.
  std::uint32_t stands_for(std::uint32_t link, const Shape& /*smaller*/,
                           const std::vector<std::uint32_t>& of) const override {
    SIM_ASSERT(dims_ == 1);
    return of[link / 2] * 2 + link % 2;
  }

  std::string description() const override {
    if (dims_ == 1) return fmt::format("ring of {}", endpoints());
    return fmt::format("{} torus", fmt::join(sizes_.begin(), sizes_.begin() + dims_, "x"));
  }
  const char* link_class(const ShapeLink& link) const override {
    static constexpr const char* kClasses[] = {"x+", "x-", "y+", "y-", "z+", "z-"};
    return kClasses[link.dimension];
  }

 private:
  void add_links_of(std::uint32_t vertex) {
    std::uint32_t rest = vertex;
    std::uint32_t stride = 1;
    for (unsigned d = 0; d < dims_; ++d) {
      const std::uint32_t size = sizes_[d];
      const std::uint32_t here = rest % size;
      rest /= size;
      coordinates_.push_back(static_cast<std::uint16_t>(here));
      const std::uint32_t base = vertex - here * stride;
      add(vertex, base + (here + 1) % size * stride, 2 * d);
      add(vertex, base + (here + size - 1) % size * stride, 2 * d + 1);
      stride *= size;
    }
  }

  // Half of the pairs, by the message's position in this dimension and its destination in others.
  bool odd_pair(const std::uint16_t* here, const std::uint16_t* there, std::size_t d) const {
    unsigned sum = here[d];
    for (std::size_t e = 0; e < dims_; ++e) {
      if (e != d) sum += there[e];
    }
    return (sum & 1U) != 0;
  }

  RingTies ties_;
  std::size_t dims_;
  std::array<std::uint32_t, kMostDims> sizes_{};  // inline, not behind a pointer: next() is hot
  std::vector<std::uint16_t> coordinates_;        // of every endpoint, dimension by dimension
};

class Torus final : public TopologySpec {
 public:
  std::unique_ptr<TopologySpec> clone() const override { return std::make_unique<Torus>(*this); }
  void fields(Fields& map, Fabric /*which*/) override {
    map.where("shape", {"torus"})
        .list("dims", dims_, kRingSize, {1, kMostDims},
              "sizes of the dimensions; their product is the number of endpoints");
    map.choice("ring_ties", ties_, kRingTies,
               {.help = "which way to go if both ways around a ring are equally short",
                .fallback = RingTies::split});
  }
  // A ring has no `dims`: its one size is the number of endpoints.
  void settle(std::int64_t endpoints) override {
    if (dims_.empty()) dims_ = {static_cast<int>(endpoints)};
  }
  bool fits(const Endpoints& endpoints, const KeysOf& keys) const override {
    if (!keys.good({"dims"})) return false;
    const bool is_ring = dims_.size() == 1;
    if (is_ring && (endpoints.count < kRingSize.low || endpoints.count > kRingSize.high)) {
      keys.fail("shape",
                fmt::format("a ring has {} to {} endpoints, but there are {} ({})", kRingSize.low,
                            kRingSize.high, endpoints.count, endpoints.counted));
      return false;
    }
    std::int64_t product = 1;
    for (const int size : dims_) product *= size;  // three sizes of at most 4096
    if (product == endpoints.count) return true;
    const std::string multiplied = is_ring ? "" : fmt::format(" = {}", product);
    keys.fail_between("dims", endpoints.counted_by,
                      fmt::format("{}{} endpoints, but there are {} ({})", fmt::join(dims_, " x "),
                                  multiplied, endpoints.count, endpoints.counted));
    return false;
  }
  std::int64_t count_links(std::int64_t endpoints) const override {
    return 2 * endpoints * static_cast<std::int64_t>(dims_.size());
  }
  std::unique_ptr<Shape> build(std::int64_t endpoints) const override {
    if (dims_.size() > 1) return std::make_unique<TorusShape>(dims_, ties_, endpoints);
    return std::make_unique<TorusShape>(std::vector{static_cast<int>(endpoints)}, ties_, endpoints);
  }
  std::string summary() const override {
    return fmt::format("{} {}", fmt::join(dims_, "x"), dims_.size() == 1 ? "ring" : "torus");
  }

  int hops_to_nearest() const override { return 1; }
  std::int64_t links_of_endpoint(std::int64_t /*endpoints*/) const override {
    return 2 * static_cast<std::int64_t>(dims_.size());
  }
  std::vector<int> grid() const override { return dims_; }
  // A ring, where all send over less than half of those that stand for all, which alike_copies.cc
  // sees to.
  bool stands_for_row(std::uint32_t by) const override { return dims_.size() == 1 && by >= 3; }

 private:
  std::vector<int> dims_;  // 1 (ring), 2 or 3 sizes; their product is the endpoints
  RingTies ties_ = RingTies::split;
};

}  // namespace

std::unique_ptr<TopologySpec> torus() { return std::make_unique<Torus>(); }

}  // namespace weft::topologies
