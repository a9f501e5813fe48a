// Fused: input arrives while the kernel that needs it runs. WGs take two kinds of items in one
// order. Some send a piece of the input to one peer, with its flag: all pieces to the next GPU,
// then those to the GPU after it, and so on. The others work on the slices that are local, then on
// those of each peer in the order in which they arrive, and wait for each slice's flag.
//
// Items that send to the peer of one step are mixed evenly with the work on what came in the
// previous step. So neither kind waits for the other: as many WGs send as it takes to keep the
// links busy, and the rest compute. And waiting WGs never block what would wake them: the sends of
// a step come before any WG, on any GPU, waits for that step's input.
//
// Where some CUs only send (role_split), the sends are a list of their own; where copy engines
// bring the input (copy_fed), there are none.

#include <algorithm>
#include <optional>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/workloads/brought_input.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedConsumer : public FusedLowering {
 public:
  FusedConsumer(TaskGraph& graph, const Overlap& overlap, Senders senders)
      : FusedLowering(graph, overlap, senders, overlap.collective + "_" + overlap.grid.name),
        units_(units_of_slice(overlap)),
        slices_(grid_.units() / units_),
        slice_bytes_(units_ * grid_.input_bytes),
        pieces_(input_pieces(slice_bytes_)),
        stays_in_cache_(stays_in_cache(overlap)) {
    SIM_ASSERT(slices_ * units_ == grid_.units());
    working_ = graph.add_work(grid_.written);
    if (senders == Senders::copy_engines) bringing_.emplace(graph, overlap, slices_);
  }

 private:
  static std::uint32_t units_of_slice(const Overlap& overlap) {
    const auto wgs = static_cast<std::uint32_t>(overlap.options.fused.slice_wgs);
    return std::max(1U, wgs / overlap.grid.unit);
  }

  void lower_team() override {
    here_.clear();
    if (bringing_) {
      here_ = bringing_->add_copies(*team_);
      for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_fed_kernel(g);
      return;
    }
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

  // The latch at GPU `g` that opens when slice `s` of peer `from` has arrived.
  [[nodiscard]] LatchId here(std::uint32_t g, std::uint32_t from, std::uint32_t s) const {
    return here_[g][from * slices_ + s];
  }

  void add_kernel(std::uint32_t g) {
    const bool apart = senders_ == Senders::cus;
    const auto pieces = static_cast<std::uint32_t>(slices_ * pieces_);
    if (apart) {
      const Kernel sending = begin(g, FusedSends::Wgs::sending);
      for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
        for (std::uint32_t sent = 0; sent < pieces; ++sent) add_sending(g, step, sent);
      }
      end(g, sending);
    }
    const Kernel kernel = begin(g, apart ? FusedSends::Wgs::computing : FusedSends::Wgs::all);
    // Every GPU sends to the next GPU first: so what arrives first is from the previous one.
    for (std::uint32_t step = 0; step < grid_.gpus; ++step) {
      const bool sends = !apart && step + 1 < grid_.gpus;
      std::uint32_t sent = 0;
      for (std::uint32_t i = 0; i < grid_.per_peer; ++i) {
        const std::uint64_t due = std::uint64_t{i + 1} * pieces / grid_.per_peer;
        for (; sends && sent < due; ++sent) add_sending(g, step + 1, sent);
        add_working(g, before(g, step), i);
      }
    }
    end(g, kernel);
  }

  // Its WGs only wait, for flags that copy engines set behind what they have brought.
  void add_fed_kernel(std::uint32_t g) {
    const Kernel kernel = begin(g, FusedSends::Wgs::all);
    for (std::uint32_t step = 0; step < grid_.gpus; ++step) {
      for (std::uint32_t i = 0; i < grid_.per_peer; ++i) add_working(g, before(g, step), i);
    }
    end(g, kernel, {bringing_->ready(g)});
  }

  [[nodiscard]] std::uint32_t before(std::uint32_t g, std::uint32_t step) const {
    return (g + grid_.gpus - step) % grid_.gpus;
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

  std::uint32_t units_;  // per slice
  std::uint32_t slices_;
  std::int64_t slice_bytes_;
  std::int64_t pieces_;  // per slice
  bool stays_in_cache_;
  std::uint32_t working_ = 0;
  std::optional<BroughtInput> bringing_;
  std::vector<std::vector<LatchId>> here_;
};

}  // namespace

LastKernels lower_fused_consumer(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedConsumer(graph, overlap, senders).lower();
}

}  // namespace weft
