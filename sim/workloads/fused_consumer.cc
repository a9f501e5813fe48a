// Fused: input arrives while the kernel that needs it runs. WGs take two kinds of items in one
// order. Some send a piece of the input to one peer, with its flag: all pieces to the next GPU,
// then those to the GPU after it, and so on. The others work on the slices that are local, then on
// those of each peer in the order in which they arrive, and wait for each slice's flag.
//
// Items that send to the peer of one step are mixed evenly with the work on what came in the
// previous step. So neither kind waits for the other: as many WGs send as it takes to keep the
// links busy, and the rest compute. And waiting WGs never block what would wake them: the sends of
// a step come before any WG, on any GPU, waits for that step's input.

#include <algorithm>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedConsumer {
 public:
  FusedConsumer(TaskGraph& graph, const Overlap& overlap)
      : overlap_(overlap),
        grid_(overlap.grid),
        sends_(overlap.options, overlap.cluster, overlap.grid),
        units_(units_of_slice(overlap)),
        slices_(grid_.units() / units_),
        slice_bytes_(units_ * grid_.input_bytes),
        pieces_(input_pieces(slice_bytes_)),
        stays_in_cache_(stays_in_cache(overlap)),
        graph_(graph) {
    SIM_ASSERT(slices_ * units_ == grid_.units());
  }

  LastKernels lower() {
    const std::size_t first_send = graph_.sends.size();
    working_ = graph_.add_work(grid_.written);
    operator_ =
        graph_.operators.push_back({.name = "fused_" + overlap_.collective + "_" + grid_.name,
                                    .role = KernelRole::fused,
                                    .part = overlap_.part});
    for (const Team& team : overlap_.teams) {
      SIM_ASSERT(team.gpus.size() == grid_.gpus);
      lower(team);
    }
    graph_.own_sends(first_send, operator_);
    return {.computing = made_, .communicating = made_};
  }

 private:
  static std::uint32_t units_of_slice(const Overlap& overlap) {
    const auto wgs = static_cast<std::uint32_t>(overlap.options.fused.slice_wgs);
    return std::max(1U, wgs / overlap.grid.unit);
  }

  void lower(const Team& team) {
    team_ = &team;
    here_.clear();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      here_.emplace_back();
      for (std::uint32_t i = 0; i < grid_.gpus * slices_; ++i) {
        const bool own = i / slices_ == g;
        here_[g].push_back(own ? LatchId::none()
                               : graph_.add_latch(static_cast<std::uint32_t>(pieces_)));
      }
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernel(g);
  }

  // GPUs are given as ranks in the current team, except in the task graph.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t rank) const { return team_->gpus[rank]; }

  // The latch at GPU `g` that opens when slice `s` of peer `from` has arrived.
  [[nodiscard]] LatchId here(std::uint32_t g, std::uint32_t from, std::uint32_t s) const {
    return here_[g][from * slices_ + s];
  }

  void add_kernel(std::uint32_t g) {
    Kernel kernel = sends_.kernel(GpuId(gpu(g)), operator_);
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    const auto pieces = static_cast<std::uint32_t>(slices_ * pieces_);
    // Every GPU sends to the next GPU first: so what arrives first is from the previous one.
    for (std::uint32_t step = 0; step < grid_.gpus; ++step) {
      const std::uint32_t peer = (g + grid_.gpus - step) % grid_.gpus;
      const bool sends = step + 1 < grid_.gpus;
      std::uint32_t sent = 0;
      for (std::uint32_t i = 0; i < grid_.per_peer; ++i) {
        const std::uint64_t due = std::uint64_t{i + 1} * pieces / grid_.per_peer;
        for (; sends && sent < due; ++sent) add_sending(g, step + 1, sent);
        add_working(g, peer, i);
      }
    }
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - g;
    kernel.team_size = grid_.gpus;
    made_.push_back(graph_.add_kernel(kernel, team_->after[g]));
  }

  // Sends piece `index` of what GPU `g` has to the GPU `step` ranks after it.
  void add_sending(std::uint32_t g, std::uint32_t step, std::uint32_t index) {
    const std::uint32_t to = (g + step) % grid_.gpus;
    const auto slice = static_cast<std::uint32_t>(index / pieces_);
    const std::int64_t size = std::min(kInputPiece, slice_bytes_ - index % pieces_ * kInputPiece);
    const LatchId out = sends_.send_to_all(graph_, gpu(g), {{{gpu(to), here(to, g, slice)}, size}});
    Work reading = sends_.reading(size);
    if (step > 1 && stays_in_cache_) reading.traffic = {};
    graph_.items.push_back({.counts_down = out,
                            .waits_for = LatchId::none(),
                            .work = graph_.add_work(reading) & 0xFFU,
                            .scale = Item::kUnit});
  }

  void add_working(std::uint32_t g, std::uint32_t peer, std::uint32_t i) {
    const std::uint32_t scale = scale_of(grid_, overlap_.options.seed, gpu(g), {peer, i});
    graph_.items.push_back({.counts_down = LatchId::none(),
                            .waits_for = here(g, peer, grid_.unit_of(i) / units_),
                            .work = working_ & 0xFFU,
                            .scale = scale & 0xFFFFFFU});
  }

  // Data that all peers get are read again for each: from the last cache, if it holds all of them.
  static bool stays_in_cache(const Overlap& overlap) {
    if (overlap.op != CollectiveOp::all_gather) return false;
    const GpuSpec& gpu = overlap.cluster.spec.gpu;
    const Bytes own = bytes(overlap.grid.units() * overlap.grid.input_bytes);
    return own <= std::max(kept_on_a_die(gpu.l2), gpu.memory.side_cache);
  }

  const Overlap& overlap_;
  const Grid& grid_;
  FusedSends sends_;
  std::uint32_t units_;  // per slice
  std::uint32_t slices_;
  std::int64_t slice_bytes_;
  std::int64_t pieces_;  // per slice
  bool stays_in_cache_;
  TaskGraph& graph_;
  const Team* team_ = nullptr;
  std::vector<KernelId> made_;
  OperatorId operator_;
  std::uint32_t working_ = 0;
  std::vector<std::vector<LatchId>> here_;
};

}  // namespace

LastKernels lower_fused_consumer(TaskGraph& graph, const Overlap& overlap) {
  return FusedConsumer(graph, overlap).lower();
}

}  // namespace weft
