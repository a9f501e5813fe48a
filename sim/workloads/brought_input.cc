#include "sim/workloads/brought_input.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/collectives/copy.h"
#include "sim/core/round_up.h"
#include "sim/workloads/barrier.h"
#include "sim/workloads/fused_kernel.h"
#include "sim/workloads/plain_kernel.h"

namespace weft {
namespace {

// Of one peer's input; more would only cost more commands. [BG] Flux tunes the number.
constexpr std::uint32_t kCopies = 4;

OperatorId add_operator(TaskGraph& graph, const Overlap& overlap, const std::string& name) {
  return graph.operators.push_back(
      {.name = name, .role = KernelRole::collective, .part = overlap.collective_part});
}

}  // namespace

BroughtInput::BroughtInput(TaskGraph& graph, const Overlap& overlap, std::uint32_t slices)
    : graph_(graph),
      overlap_(overlap),
      slices_(slices),
      pushed_(overlap.options.fused.brought == Brought::pushed) {
  if (!pushed_) {
    staging_ = add_operator(graph, overlap, "staging");
    barrier_ = add_operator(graph, overlap, "barrier");
  }
  copying_ = add_operator(graph, overlap, overlap.collective + " (copy engines)");
}

std::uint32_t BroughtInput::copies_of_a_peer() const { return std::min(kCopies, slices_); }

std::uint32_t BroughtInput::slices_of_a_copy() const {
  return static_cast<std::uint32_t>(round_up(slices_, copies_of_a_peer()));
}

std::vector<std::vector<LatchId>> BroughtInput::add_copies(const Team& team) {
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  Here here(ranks, std::vector<LatchId>(std::size_t{ranks} * slices_, LatchId::none()));
  if (pushed_) {
    ready_.assign(ranks, KernelId::none());
    for (std::uint32_t r = 0; r < ranks; ++r) push(team, r, here);
    return here;
  }
  std::vector<std::vector<KernelId>> staged;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    staged.push_back({add_plan(graph_, overlap_, team.gpus[r], staging_,
                               overlap_.peer_kernels->staging, team.after[r])});
  }
  ready_ = add_barrier(graph_, overlap_, team, barrier_, staged);
  for (std::uint32_t r = 0; r < ranks; ++r) fetch(team, r, here);
  return here;
}

// Written by the stream, as soon as it sees the copy's end.
KernelId BroughtInput::add_flag(std::uint32_t gpu, LatchId there, KernelId copy) {
  Kernel kernel{.gpu = GpuId(gpu), .op = copying_, .role = KernelRole::collective};
  kernel.executor = Executor::dma;
  kernel.persistent = true;
  kernel.max_grid = 1;
  graph_.items.add(
      {.counts_down = there, .work = graph_.add_work({}) & 0xFFU, .scale = Item::kUnit});
  return graph_.add_kernel(kernel, {copy});
}

// Of a peer's slices from `first` on, as many as a copy has.
KernelId BroughtInput::bring(const Team& team, const Part& part, std::vector<KernelId> after,
                             Here& here) {
  const std::uint32_t slices = std::min(slices_of_a_copy(), slices_ - part.first);
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  const KernelId copy =
      add_copy(graph_, overlap_.cluster,
               {.from = team.gpus[part.from],
                .to = team.gpus[part.to],
                .size = bytes(round_up(overlap_.from_each.count() * slices, slices_)),
                .operator_id = copying_,
                .launch = launch_gap(overlap_.cluster.spec.gpu.launch, overlap_.options.launch),
                .after = std::move(after),
                .queued = part.queued,
                .turn = {.index = pushed_ ? part.from : part.to, .of = ranks}});
  const LatchId there = graph_.add_latch(1);
  for (std::uint32_t s = part.first; s < part.first + slices; ++s) {
    here[part.to][std::size_t{part.from} * slices_ + s] = there;
  }
  return add_flag(team.gpus[pushed_ ? part.from : part.to], there, copy);
}

// All of a peer's, then the next one's.
void BroughtInput::fetch(const Team& team, std::uint32_t rank, Here& here) {
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  const bool at_once = each_pair_has_a_link(overlap_, team);
  KernelId last = ready_[rank];
  for (std::uint32_t step = 1; step < ranks; ++step) {
    if (at_once) last = ready_[rank];
    const std::uint32_t from = (rank + ranks - step) % ranks;
    for (std::uint32_t first = 0; first < slices_; first += slices_of_a_copy()) {
      const bool queued = last != ready_[rank];
      last =
          bring(team, {.from = from, .to = rank, .first = first, .queued = queued}, {last}, here);
    }
  }
}

// A part to all peers, then the next part.
void BroughtInput::push(const Team& team, std::uint32_t rank, Here& here) {
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  const bool at_once = each_pair_has_a_link(overlap_, team);
  std::vector<KernelId> last(ranks, KernelId::none());  // by peer, or the first for all
  for (std::uint32_t first = 0; first < slices_; first += slices_of_a_copy()) {
    for (std::uint32_t step = 1; step < ranks; ++step) {
      const std::uint32_t to = (rank + step) % ranks;
      KernelId& before = last[at_once ? to : 0];
      std::vector<KernelId> after = team.after[rank];
      const bool queued = !before.is_none();
      if (queued) after = {before};
      before = bring(team, {.from = rank, .to = to, .first = first, .queued = queued},
                     std::move(after), here);
    }
  }
}

}  // namespace weft
