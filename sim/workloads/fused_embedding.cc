// The fused lowering: one persistent kernel a GPU. Between nodes the last WG of a slice sends the
// slice; inside a node every WG stores its own result into the peer (zero copy), and a slice is
// only a flag.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/workloads/all_to_all.h"
#include "sim/workloads/embedding_bag.h"

namespace weft {
namespace {

constexpr std::uint32_t kFlagBytes = 8;

// The order in which a GPU's persistent WGs take its slices: destination, slice of it.
std::vector<Logical> slice_order(const Bag& bag, DestinationOrder order, std::uint32_t gpu,
                                 std::uint32_t slices) {
  const auto cyclic = [&](std::uint32_t step) { return (gpu + step) % bag.gpus; };
  std::vector<Logical> result;
  result.reserve(std::size_t{bag.gpus} * slices);
  const auto all_of = [&](std::uint32_t destination) {
    for (std::uint32_t s = 0; s < slices; ++s) result.push_back({destination, s});
  };
  switch (order) {
    case DestinationOrder::remote_first:
      for (std::uint32_t step = 1; step <= bag.gpus; ++step) all_of(cyclic(step));
      break;
    case DestinationOrder::local_first:
      for (std::uint32_t step = 0; step < bag.gpus; ++step) all_of(cyclic(step));
      break;
    case DestinationOrder::staggered: {
      const std::uint64_t stride = spreading_stride(bag.gpus);
      for (std::uint32_t s = 0; s < slices; ++s) {
        for (std::uint32_t step = 1; step < bag.gpus; ++step) {
          result.push_back({cyclic(static_cast<std::uint32_t>(step * stride % bag.gpus)), s});
        }
      }
      all_of(gpu);
      break;
    }
    case DestinationOrder::given:
      for (std::uint32_t destination = 0; destination < bag.gpus; ++destination)
        all_of(destination);
      break;
  }
  return result;
}

class FusedLowering {
 public:
  FusedLowering(const Scenario& scenario, const Cluster& cluster)
      : scenario_(scenario),
        cluster_(cluster),
        bag_(scenario.workload.embedding, cluster.gpus()),
        flag_per_slice_(scenario.fused.flag_per == FlagPer::slice),
        slice_wgs_(static_cast<std::uint32_t>(scenario.fused.slice_wgs)),
        slices_(bag_.per_destination() / slice_wgs_),
        on_cu_(
            resident(cluster.spec.gpu, bag_.work.wg, scenario.fused.extra_registers_per_thread)) {
    SIM_ASSERT(slices_ * slice_wgs_ == bag_.per_destination());
  }

  TaskGraph lower() {
    const GpuSpec& gpu = cluster_.spec.gpu;
    written_ = graph_.add_work(embedding_work(bag_.work, gpu, on_cu_, Result::written_here));
    stored_ = graph_.add_work(embedding_work(bag_.work, gpu, on_cu_, Result::stored_at_peer));
    op_ = graph_.operators.push_back(
        {.name = "fused_embedding_all_to_all", .role = KernelRole::fused});
    graph_.items.reserve(std::size_t{bag_.gpus} * bag_.gpus * bag_.per_destination());
    graph_.latches.reserve(std::size_t{bag_.gpus} * bag_.gpus * (slices_ + 1));
    graph_.sends.reserve(std::size_t{bag_.gpus} * (bag_.gpus - 1) * (slices_ + 1));
    const std::uint32_t flags = (bag_.gpus - 1) * (flag_per_slice_ ? slices_ : 1);
    for (std::uint32_t g = 0; g < bag_.gpus; ++g) flags_of_.push_back(graph_.add_latch(flags));
    for (std::uint32_t g = 0; g < bag_.gpus; ++g) add_kernel(g);
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const {
    return cluster_.node_of(GpuId(a)) == cluster_.node_of(GpuId(b));
  }

  void add_kernel(std::uint32_t g) {
    const FusedOptions& fused = scenario_.fused;
    const GpuSpec& gpu = cluster_.spec.gpu;
    const WgShape& wg = bag_.work.wg;
    Kernel kernel{.gpu = GpuId(g), .op = op_, .role = KernelRole::fused};
    kernel.wg = footprint(wg.threads, wg.registers_per_thread + fused.extra_registers_per_thread,
                          wg.lds, gpu.wave_size);
    kernel.persistent = true;
    kernel.work_list = fused.work_list;
    const int per_cu = fused.max_wgs_per_cu > 0 ? std::min(on_cu_, fused.max_wgs_per_cu) : on_cu_;
    kernel.max_grid = static_cast<std::uint32_t>(per_cu * gpu.cus);
    kernel.launch = launch_gap(gpu.launch, scenario_.run.launch);
    kernel.finish = flags_of_[g];
    kernel.store_rate = gpu.peer_store.wg_rate;
    kernel.flag = gpu.peer_store.flag;
    kernel.fenced = true;
    kernel.puts_by = cluster_.spec.nic ? cluster_.spec.nic->initiated_by : InitiatedBy::gpu;
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    add_peer_flags(g);
    for (const Logical& slice : slice_order(bag_, fused.order, g, slices_)) {
      if (slice.destination != g && same_node(slice.destination, g)) {
        add_stored_slice(g, slice);
      } else {
        add_put_slice(g, slice);
      }
    }
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    graph_.add_kernel(kernel, {});
  }

  // One flag a peer: sent when all slices for the peer are out.
  void add_peer_flags(std::uint32_t g) {
    peer_done_.assign(bag_.gpus, LatchId::none());
    if (flag_per_slice_) return;
    for (std::uint32_t d = 0; d < bag_.gpus; ++d) {
      if (d == g) continue;
      peer_done_[d] = graph_.add_latch(same_node(d, g) ? slices_ * slice_wgs_ : slices_);
      graph_.add_send({.to = d, .size = kFlagBytes, .arrives = flags_of_[d], .ordered = 1});
    }
  }

  // A slice that stays here, or leaves as one put. With a flag of its own that put takes three
  // queue entries: payload, fence, flag; else the flag of the peer must not overtake it.
  void add_put_slice(std::uint32_t g, const Logical& slice) {
    const std::uint32_t d = slice.destination;
    LatchId out = LatchId::none();
    if (d != g) {
      out = graph_.add_latch(slice_wgs_);
      graph_.add_send({.to = d,
                       .size = static_cast<std::uint32_t>(bag_.result_bytes * slice_wgs_),
                       .arrives = flag_per_slice_ ? flags_of_[d] : LatchId::none(),
                       .issued = peer_done_[d],
                       .entries = static_cast<std::uint16_t>(flag_per_slice_ ? 3 : 1),
                       .ordered = static_cast<std::uint16_t>(flag_per_slice_ ? 0 : 1)});
    }
    for (std::uint32_t i = 0; i < slice_wgs_; ++i) add_item(g, slice, i, out, written_);
  }

  // Every WG stores and fences its own result; the last of the slice sends the flag.
  void add_stored_slice(std::uint32_t g, const Logical& slice) {
    const std::uint32_t d = slice.destination;
    LatchId then = peer_done_[d];
    if (flag_per_slice_) {
      then = graph_.add_latch(slice_wgs_);
      graph_.add_send({.to = d, .size = kFlagBytes, .arrives = flags_of_[d]});
    }
    for (std::uint32_t i = 0; i < slice_wgs_; ++i) {
      const LatchId out = graph_.add_latch(1);
      graph_.add_send(
          {.to = d, .size = static_cast<std::uint32_t>(bag_.result_bytes), .issued = then});
      add_item(g, slice, i, out, stored_);
    }
  }

  void add_item(std::uint32_t g, const Logical& slice, std::uint32_t i, LatchId out,
                std::uint32_t work) {
    const Logical wg{slice.destination, slice.index * slice_wgs_ + i};
    graph_.items.push_back({.counts_down = out,
                            .waits_for = LatchId::none(),
                            .work = work & 0xFFU,
                            .scale = scale_of(bag_, scenario_.run.seed, g, wg) & 0xFFFFFFU});
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  Bag bag_;
  bool flag_per_slice_;
  std::uint32_t slice_wgs_;
  std::uint32_t slices_;
  int on_cu_;
  TaskGraph graph_;
  OperatorId op_;
  std::uint32_t written_ = 0;
  std::uint32_t stored_ = 0;
  std::vector<LatchId> flags_of_;   // by GPU: flags still to come from all peers
  std::vector<LatchId> peer_done_;  // of the GPU at hand, by peer
};

}  // namespace

TaskGraph lower_fused_embedding(const Scenario& scenario, const Cluster& cluster) {
  return FusedLowering(scenario, cluster).lower();
}

}  // namespace weft
