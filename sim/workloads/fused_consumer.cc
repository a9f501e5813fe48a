// Fused: input arrives while the kernel that needs it runs. WGs take two kinds of items in one
// order (consumer_order.h). Some send a piece of the input to one peer, with its flag. The others
// work on the slices that are local, then on those of the peers in the order in which they arrive,
// and wait for each slice's flag.
//
// So neither kind waits for the other: as many WGs send as it takes to keep the links busy, and the
// rest compute. And waiting WGs never block what would wake them: the sends of a phase come before
// any WG, on any GPU, waits for that phase's input.
//
// If the switch copies (fused.in_switch), one send goes to all peers, and what all have sent in a
// phase arrives everywhere at the same time.
//
// Where some CUs only send (role_split), the sends are a list of their own; where copy engines
// bring the input (copy_fed), there are none.

#include <algorithm>
#include <optional>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/workloads/brought_input.h"
#include "sim/workloads/consumer_order.h"
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
        pieces_(round_up(slice_bytes_, options_.fused.piece.count())),
        stays_in_cache_(stays_in_cache(overlap)),
        copied_(senders != Senders::copy_engines && goes_through_switch(overlap)) {
    SIM_ASSERT(slices_ * units_ == grid_.units());
    order_ = {.ranks = grid_.gpus,
              .pieces = static_cast<std::uint32_t>(pieces_),
              .slice_of = {},
              .slices = slices_,
              .copied = copied_,
              .sent_first = senders == Senders::first_wgs,
              .own_first = static_cast<std::uint32_t>(options_.fused.own_first)};
    for (std::uint32_t i = 0; i < grid_.per_peer; ++i) {
      order_.slice_of.push_back(grid_.unit_of(i) / units_);
    }
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
    const bool pushed = bringing_ && options_.fused.brought == Brought::pushed;  // part by part
    order_.at_once = copied_ || pushed || each_pair_has_a_link(overlap_, *team_);
    order_.parts = bringing_ ? bringing_->copies_of_a_peer() : std::min(slices_, grid_.gpus);
    if (bringing_) {
      here_ = bringing_->add_copies(*team_);
    } else if (copied_) {
      group_ = graph_.add_group(team_->gpus);
      add_latches_of_copies();
    } else {
      add_latches();
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernels(g);
  }

  void add_latches() {
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      here_.emplace_back();
      for (std::uint32_t i = 0; i < grid_.gpus * slices_; ++i) {
        const bool own = i / slices_ == g;
        here_[g].push_back(own ? LatchId::none()
                               : graph_.add_latch(static_cast<std::uint32_t>(pieces_)));
      }
    }
  }

  // Those that a slice's copies count down follow one another by rank; nothing waits for its own.
  void add_latches_of_copies() {
    here_.assign(grid_.gpus, std::vector<LatchId>(std::size_t{grid_.gpus} * slices_));
    told_.clear();
    for (std::uint32_t i = 0; i < grid_.gpus * slices_; ++i) {
      for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
        const LatchId copy = graph_.add_latch(static_cast<std::uint32_t>(pieces_));
        if (g == 0) told_.push_back(copy);
        here_[g][i] = i / slices_ == g ? LatchId::none() : copy;
      }
    }
  }

  // The latch at GPU `g` that opens when slice `s` of peer `from` has arrived.
  [[nodiscard]] LatchId here(std::uint32_t g, std::uint32_t from, std::uint32_t s) const {
    return here_[g][from * slices_ + s];
  }

  void add_kernels(std::uint32_t g) {
    const std::vector<ConsumerItem> items = consumer_items(order_, g);
    if (by_role()) {
      const Kernel sending = begin_sending(g);
      for (const ConsumerItem& item : items) {
        if (item.sends) add_sending(g, item);
      }
      end(g, sending);
    }
    const Kernel kernel = begin_computing(g);
    for (const ConsumerItem& item : items) {
      if (!item.sends) add_working(g, item);
      if (item.sends && senders_ == Senders::wgs) add_sending(g, item);
    }
    const bool at_once = !bringing_ || bringing_->ready(g).is_none();
    at_once ? end(g, kernel) : end(g, kernel, {bringing_->ready(g)});
  }

  void add_sending(std::uint32_t g, const ConsumerItem& item) {
    const std::uint32_t to = item.peer;
    const auto slice = static_cast<std::uint32_t>(item.index / pieces_);
    const std::int64_t piece = options_.fused.piece.count();
    const std::int64_t size = std::min(piece, slice_bytes_ - item.index % pieces_ * piece);
    const LatchId out =
        copied_ ? sends_.multicast(graph_, gpu(g), group_, size, told_[g * slices_ + slice])
                : sends_.send_to_all(graph_, gpu(g), {{{gpu(to), here(to, g, slice)}, size}});
    Work reading = sends_.reading(size);
    if (to != (g + 1) % grid_.gpus && stays_in_cache_) reading.traffic = {};
    graph_.items.add({.counts_down = out,
                      .waits_for = LatchId::none(),
                      .work = graph_.add_work(reading) & 0xFFU,
                      .scale = Item::kUnit});
  }

  void add_working(std::uint32_t g, const ConsumerItem& item) {
    const std::uint32_t i = item.index;
    const std::uint32_t scale = scale_of(grid_, overlap_.options.seed, gpu(g), {item.peer, i});
    graph_.items.add({.counts_down = LatchId::none(),
                      .waits_for = here(g, item.peer, order_.slice_of[i]),
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
  bool copied_;              // by the switch, to all peers
  std::uint16_t group_ = 0;  // of GPUs that get a copy
  std::uint32_t working_ = 0;
  ConsumerShape order_;
  std::optional<BroughtInput> bringing_;
  std::vector<std::vector<LatchId>> here_;
  std::vector<LatchId> told_;  // rank 0's, by slice of all ranks
};

}  // namespace

LastKernels lower_fused_consumer(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedConsumer(graph, overlap, senders).lower();
}

}  // namespace weft
