// Fused: input arrives while the kernel that needs it runs. The persistent kernel's first WGs send
// what its peers wait for, slice by slice; the others take the slices that are here already, then
// those of each peer in the order in which they come, and wait for each slice's flag.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/workloads/collective.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedConsumer {
 public:
  FusedConsumer(TaskGraph& graph, const Overlap& overlap)
      : overlap_(overlap),
        grid_(overlap.grid),
        op_(overlap.op),
        sends_(overlap.scenario, overlap.cluster, overlap.grid),
        units_(units_of_slice(overlap)),
        slices_(grid_.units() / units_),
        slice_bytes_(units_ * grid_.input_bytes),
        pieces_(input_pieces(slice_bytes_)),
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
    const auto wgs = static_cast<std::uint32_t>(overlap.scenario.fused.slice_wgs);
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

  // GPUs are ranks of the team at hand, but for those that the task graph is told of.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t rank) const { return team_->gpus[rank]; }

  // At GPU `g`: slice `s` of peer `from` has come.
  [[nodiscard]] LatchId here(std::uint32_t g, std::uint32_t from, std::uint32_t s) const {
    return here_[g][from * slices_ + s];
  }

  void add_kernel(std::uint32_t g) {
    Kernel kernel = sends_.kernel(GpuId(gpu(g)), operator_);
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    for (std::uint32_t s = 0; s < slices_; ++s) {
      for (std::int64_t piece = 0; piece < pieces_; ++piece) {
        const std::int64_t size = std::min(kInputPiece, slice_bytes_ - piece * kInputPiece);
        if (op_ == CollectiveOp::all_gather) {
          add_sending(size, send_to_peers(g, s, size));
        } else {
          for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
            const std::uint32_t d = (g + step) % grid_.gpus;
            add_sending(size, sends_.send_to_all(graph_, gpu(g), {{gpu(d), here(d, g, s)}}, size));
          }
        }
      }
    }
    // A peer's first message goes to the GPU behind it: what comes first is from the one before.
    for (std::uint32_t step = 0; step < grid_.gpus; ++step) {
      add_slices_of(g, (g + grid_.gpus - step) % grid_.gpus);
    }
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - g;
    kernel.team_size = grid_.gpus;
    made_.push_back(graph_.add_kernel(kernel, team_->after[g]));
  }

  LatchId send_to_peers(std::uint32_t g, std::uint32_t s, std::int64_t size) {
    std::vector<Addressee> peers;
    for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
      const std::uint32_t d = (g + step) % grid_.gpus;
      peers.push_back({gpu(d), here(d, g, s)});
    }
    return sends_.send_to_all(graph_, gpu(g), peers, size);
  }

  void add_sending(std::int64_t size, LatchId out) {
    graph_.items.push_back({.counts_down = out,
                            .waits_for = LatchId::none(),
                            .work = graph_.add_work(sends_.reading(size)) & 0xFFU,
                            .scale = Item::kUnit});
  }

  void add_slices_of(std::uint32_t g, std::uint32_t peer) {
    for (std::uint32_t i = 0; i < grid_.per_peer; ++i) {
      const std::uint32_t scale = scale_of(grid_, overlap_.scenario.run.seed, gpu(g), {peer, i});
      graph_.items.push_back({.counts_down = LatchId::none(),
                              .waits_for = here(g, peer, grid_.unit_of(i) / units_),
                              .work = working_ & 0xFFU,
                              .scale = scale & 0xFFFFFFU});
    }
  }

  const Overlap& overlap_;
  const Grid& grid_;
  CollectiveOp op_;
  FusedSends sends_;
  std::uint32_t units_;  // of a slice
  std::uint32_t slices_;
  std::int64_t slice_bytes_;
  std::int64_t pieces_;  // of a slice
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
