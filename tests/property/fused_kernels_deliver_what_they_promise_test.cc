// Whatever the order in which WGs end and messages arrive, every GPU has, when its fused kernel
// ends, every piece that its operator promises, once; no WG starts before its input is there, and
// nothing is added up before all GPUs' parts of it are.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim/workloads/consumer_order.h"
#include "sim/workloads/destination_order.h"
#include "sim/workloads/embedding.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/gemv.h"
#include "tests/property/fused_walk.h"
#include "tests/property/random_scenario.h"

namespace weft::fused_kernels_deliver_what_they_promise_test {
namespace {

std::string fused(std::uint64_t seed) { return RandomScenario(seed).fused(); }

Prepared fused_of(const std::string& text) {
  for (const Prepared& prepared : prepare(text)) {
    if (prepared.mode == Mode::fused) return prepared;
  }
  SIM_ASSERT(false);
}

Grid grid_of(const Prepared& prepared) {
  const KernelVersion version = fused_version(prepared.scenario.fused);
  const Workload& work = prepared.scenario.workload;
  const GpuSpec& gpu = prepared.cluster.spec.gpu;
  const std::uint32_t gpus = prepared.cluster.gpus();
  switch (work.kind) {
    case WorkloadKind::embedding_all_to_all:
      return embedding_grid(work.embedding, gpu, gpus, version);
    case WorkloadKind::embedding_backward:
      return embedding_backward_grid(work.embedding, gpu, gpus, version);
    case WorkloadKind::gemv_all_reduce:
      return gemv_grid(work.gemv, gpu, gpus, version);
    default:
      return gemm_grid(work.gemm, gpu, gpus, version);
  }
}

// Results leave as they are made. A GPU's first items are its WGs, slice by slice in the order of
// destinations; then come the reductions of its own slices.
class Produced : public FusedWalk::Promise {
 public:
  explicit Produced(const Prepared& prepared)
      : graph_(prepared.graph), kind_(prepared.scenario.workload.kind), grid_(grid_of(prepared)) {
    const FusedOptions& options = prepared.scenario.fused;
    slice_ = static_cast<std::uint32_t>(options.slice_wgs) * grid_.parts;
    slices_ = grid_.per_peer / slice_;
    started_.resize(graph_.items.size());
    std::vector<std::uint32_t> gpus(grid_.gpus);
    std::iota(gpus.begin(), gpus.end(), 0U);
    const Destinations to = destinations(prepared.cluster, gpus);
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      std::uint32_t item = first_items(graph_)[g];
      pieces_.emplace_back(std::size_t{grid_.gpus} * grid_.per_peer);
      for (const Logical& slice : slice_order(to, options.order, g, slices_)) {
        for (std::uint32_t i = 0; i < slice_; ++i) {
          pieces_[g][slice.peer * grid_.per_peer + slice.index * slice_ + i] = item++;
        }
      }
      sums_.push_back(item);
    }
  }

  void starts(const FusedWalk& walk, std::uint32_t item) override {
    started_[item] = true;
    const std::uint32_t g = walk.gpu_of(item);
    if (item < sums_[g]) return;
    const std::uint32_t s = item - sums_[g];
    for (std::uint32_t src = 0; src < grid_.gpus; ++src) {
      for (std::uint32_t i = s * slice_; i < (s + 1) * slice_; ++i) {
        const MadeBy piece = piece_of(src, g, i);
        if (src == g ? !started_[piece] : walk.times(g, piece) != 1) {
          walk.fail(fmt::format("GPU {} adds up slice {} without part {} of GPU {}", g, s, i, src));
        }
      }
    }
  }

  void brings(const FusedWalk& walk, const std::vector<MadeBy>& pieces, const Send& send) override {
    const bool sum = pieces.front() >= sums_[walk.gpu_of(pieces.front())];
    const std::int64_t size =
        sum ? grid_.bytes_of(slice_) : grid_.bytes_of(static_cast<std::uint32_t>(pieces.size()));
    if (size != send.size) walk.fail(fmt::format("{} B of {} B are sent", send.size, size));
  }

  void ends(const FusedWalk& walk, std::uint32_t g) override {
    if (kind_ == WorkloadKind::gemm_reduce_scatter) return;  // its sums have started
    for (std::uint32_t src = 0; src < grid_.gpus; ++src) {
      if (src == g) continue;
      for (std::uint32_t i = 0; i < (reduces() ? slices_ : grid_.per_peer); ++i) {
        const MadeBy piece = reduces() ? sums_[src] + i : piece_of(src, g, i);
        if (walk.times(g, piece) != 1) {
          walk.fail(fmt::format("GPU {} ends and has {} times piece {} of GPU {}", g,
                                walk.times(g, piece), i, src));
        }
      }
    }
  }

  // All that may arrive at a GPU.
  [[nodiscard]] std::size_t arrivals() const {
    const std::size_t parts = std::size_t{grid_.gpus - 1} * grid_.per_peer;
    const bool sums =
        kind_ == WorkloadKind::gemm_all_reduce || kind_ == WorkloadKind::gemv_all_reduce;
    return parts + (sums ? std::size_t{grid_.gpus - 1} * slices_ : 0);
  }

 private:
  [[nodiscard]] bool reduces() const {
    return kind_ != WorkloadKind::embedding_all_to_all && kind_ != WorkloadKind::gemm_all_to_all;
  }
  [[nodiscard]] MadeBy piece_of(std::uint32_t from, std::uint32_t peer, std::uint32_t i) const {
    return pieces_[from][peer * grid_.per_peer + i];
  }

  const TaskGraph& graph_;
  WorkloadKind kind_;
  Grid grid_;
  std::uint32_t slice_ = 0;
  std::uint32_t slices_ = 0;
  std::vector<std::vector<MadeBy>> pieces_;  // by GPU; of peer and index
  std::vector<MadeBy> sums_;                 // by GPU: the first
  std::vector<bool> started_;
};

// Input arrives: items send pieces of it, others work, in the order of consumer_order.h.
class Consumed : public FusedWalk::Promise {
 public:
  explicit Consumed(const Prepared& prepared)
      : graph_(prepared.graph), grid_(grid_of(prepared)), first_items_(first_items(graph_)) {
    const auto wgs = static_cast<std::uint32_t>(prepared.scenario.fused.slice_wgs);
    units_ = std::max(1U, wgs / grid_.unit);
    slices_ = static_cast<std::uint32_t>(grid_.units()) / units_;
    const std::uint32_t work = grid_.gpus * grid_.per_peer;
    sending_ = graph_.kernels[KernelId(0)].items - work;
    per_slice_ = sending_ / (grid_.gpus - 1) / slices_;
    const std::optional<FabricSpec>& fabric = prepared.cluster.spec.scale_up;
    const bool links =
        prepared.cluster.spec.nodes == 1 && fabric && fabric->topology->has_link_of_each_pair();
    ConsumerShape shape{.ranks = grid_.gpus,
                        .pieces = per_slice_,
                        .slice_of = {},
                        .slices = slices_,
                        .at_once = links,
                        .parts = std::min(slices_, grid_.gpus),
                        .own_first = static_cast<std::uint32_t>(prepared.scenario.fused.own_first)};
    for (std::uint32_t i = 0; i < grid_.per_peer; ++i) {
      shape.slice_of.push_back(grid_.unit_of(i) / units_);
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) items_.push_back(consumer_items(shape, g));
    input_.resize(std::size_t{grid_.gpus} * grid_.gpus * slices_);
  }

  void starts(const FusedWalk& walk, std::uint32_t item) override {
    const std::uint32_t g = walk.gpu_of(item);
    const ConsumerItem& what = item_of(g, item);
    if (what.sends == walk.item(item).counts_down.is_none()) walk.fail("another order");
    if (what.sends || what.peer == g) return;
    const std::uint32_t slice = grid_.unit_of(what.index) / units_;
    if (input(g, what.peer, slice) != units_ * grid_.input_bytes) {
      walk.fail(fmt::format("GPU {} starts on slice {} of GPU {} with {} B of it", g, slice,
                            what.peer, input(g, what.peer, slice)));
    }
  }

  void brings(const FusedWalk& walk, const std::vector<MadeBy>& pieces, const Send& send) override {
    const MadeBy piece = pieces.front();
    const std::uint32_t from = walk.gpu_of(piece);
    const ConsumerItem& what = item_of(from, piece);
    if (walk.times(send.to, piece) != 1) walk.fail("a piece comes twice");
    if (what.peer != send.to) walk.fail("a piece goes astray");
    input(send.to, from, what.index / per_slice_) += send.size;
  }

  void ends(const FusedWalk& walk, std::uint32_t g) override {
    for (std::uint32_t src = 0; src < grid_.gpus; ++src) {
      for (std::uint32_t s = 0; s < slices_ && src != g; ++s) {
        if (input(g, src, s) != units_ * grid_.input_bytes) walk.fail("it ends without its input");
      }
    }
  }

  [[nodiscard]] std::size_t arrivals() const {
    return sending_;  // as many as it sends
  }

 private:
  [[nodiscard]] const ConsumerItem& item_of(std::uint32_t g, std::uint32_t item) const {
    return items_[g][item - first_items_[g]];
  }
  std::int64_t& input(std::uint32_t g, std::uint32_t from, std::uint32_t slice) {
    return input_[(std::size_t{g} * grid_.gpus + from) * slices_ + slice];
  }

  const TaskGraph& graph_;
  Grid grid_;
  std::uint32_t units_ = 1;  // of a slice
  std::uint32_t slices_ = 0;
  std::uint32_t per_slice_ = 0;  // items that send one to a peer
  std::uint32_t sending_ = 0;
  std::vector<std::uint32_t> first_items_;        // by kernel
  std::vector<std::vector<ConsumerItem>> items_;  // by GPU
  std::vector<std::int64_t> input_;               // bytes, by GPU, source and slice
};

template <class Promise>
std::string walked(const Prepared& prepared, std::uint64_t seed) {
  FusedWalk walk(prepared);
  Promise promise(prepared);
  const std::string problem = walk.run(seed, promise);
  if (!problem.empty()) return problem;
  for (std::uint32_t g = 0; g < prepared.cluster.gpus(); ++g) {
    if (walk.arrivals(g) != promise.arrivals()) {
      return fmt::format("{} pieces come to GPU {}, not {}", walk.arrivals(g), g,
                         promise.arrivals());
    }
  }
  return "";
}

std::string problem_of(const Prepared& prepared, std::uint64_t seed) {
  const WorkloadKind kind = prepared.scenario.workload.kind;
  const bool consumes =
      kind == WorkloadKind::embedding_backward || kind == WorkloadKind::all_gather_gemm;
  return consumes ? walked<Consumed>(prepared, seed) : walked<Produced>(prepared, seed);
}

TEST(FusedKernels, deliver_every_piece_once) {
  for_each_seed(1500, fused, [](std::uint64_t seed, const std::string& text) {
    EXPECT_EQ(problem_of(fused_of(text), seed), "");
  });
}

// The canaries: what a broken lowering would do must be seen.
int found(void (*spoil)(Prepared&), std::uint64_t seeds) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Prepared prepared = fused_of(fused(seed));
    spoil(prepared);
    if (!problem_of(prepared, seed).empty()) ++seen;
  }
  return seen;
}

TEST(FusedKernels, that_send_to_the_wrong_gpu_are_found) {
  const auto spoil = [](Prepared& prepared) {
    Sends& sends = prepared.graph.sends;
    for (std::size_t s = 0; s < sends.size(); ++s) {
      Send send = sends[s];
      if (send.size > 8) {
        send.to = (send.to + 1) % prepared.cluster.gpus();
        sends.put(s, send);
        return;
      }
    }
  };
  EXPECT_GE(found(spoil, 60), 50);  // a single message of 8 B may be none
}

TEST(FusedKernels, that_send_a_byte_too_few_are_found) {
  const auto spoil = [](Prepared& prepared) {
    Sends& sends = prepared.graph.sends;
    for (std::size_t s = 0; s < sends.size(); ++s) {
      Send send = sends[s];
      if (send.size > 8) {
        send.size -= 1;
        sends.put(s, send);
        return;
      }
    }
  };
  EXPECT_GE(found(spoil, 60), 50);
}

TEST(FusedKernels, whose_wgs_do_not_wait_are_found) {
  const auto spoil = [](Prepared& prepared) {
    for (Item& item : prepared.graph.items.runs()) item.waits_for = LatchId::none();
  };
  const auto waits = [](const Prepared& prepared) {
    for (const Item& item : prepared.graph.items.runs()) {
      if (!item.waits_for.is_none()) return true;
    }
    return false;
  };
  int seen = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Prepared prepared = fused_of(fused(seed));
    if (!waits(prepared)) continue;
    ++all;
    spoil(prepared);
    if (!problem_of(prepared, seed).empty()) ++seen;
  }
  EXPECT_GT(all, 30);
  EXPECT_GE(seen * 10, all * 8);  // by chance everything may have come in time
}

TEST(FusedKernels, whose_flag_for_all_overtakes_its_puts_are_found) {
  // Puts that the network need not keep in order, and one flag behind them all.
  int seen = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Prepared prepared = fused_of(fused(seed));
    bool ordered = false;
    Sends& sends = prepared.graph.sends;
    for (std::size_t s = 0; s < sends.size(); ++s) {
      Send send = sends[s];
      ordered |= send.ordered != 0 && send.size > 8;
      send.ordered = 0;
      sends.put(s, send);
    }
    if (!ordered) continue;
    ++all;
    if (!problem_of(prepared, seed).empty()) ++seen;
  }
  EXPECT_GT(all, 10);
  EXPECT_GE(seen * 2, all);
}

}  // namespace
}  // namespace weft::fused_kernels_deliver_what_they_promise_test
