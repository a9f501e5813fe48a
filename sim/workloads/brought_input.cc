#include "sim/workloads/brought_input.h"

#include <algorithm>
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
      staging_(add_operator(graph, overlap, "staging")),
      barrier_(add_operator(graph, overlap, "barrier")),
      copying_(add_operator(graph, overlap, overlap.collective + " (copy engines)")) {}

std::uint32_t BroughtInput::copies_of_a_peer() const { return std::min(kCopies, slices_); }

std::vector<std::vector<LatchId>> BroughtInput::add_copies(const Team& team) {
  std::vector<std::vector<KernelId>> staged;
  for (std::uint32_t r = 0; r < team.gpus.size(); ++r) {
    staged.push_back({add_plan(graph_, overlap_, team.gpus[r], staging_,
                               overlap_.peer_kernels->staging, team.after[r])});
  }
  ready_ = add_barrier(graph_, overlap_, team, barrier_, staged);
  std::vector<std::vector<LatchId>> here;
  for (std::uint32_t r = 0; r < team.gpus.size(); ++r) here.push_back(fetch(team, r));
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

std::vector<LatchId> BroughtInput::fetch(const Team& team, std::uint32_t rank) {
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  std::vector<LatchId> here(std::size_t{ranks} * slices_, LatchId::none());
  const auto of_a_copy = static_cast<std::uint32_t>(round_up(slices_, copies_of_a_peer()));
  const bool at_once = each_pair_has_a_link(overlap_, team);
  KernelId last = ready_[rank];
  for (std::uint32_t step = 1; step < ranks; ++step) {
    if (at_once) last = ready_[rank];
    const std::uint32_t from = (rank + ranks - step) % ranks;
    for (std::uint32_t first = 0; first < slices_; first += of_a_copy) {
      const std::uint32_t slices = std::min(of_a_copy, slices_ - first);
      last =
          add_copy(graph_, overlap_.cluster,
                   {.from = team.gpus[from],
                    .to = team.gpus[rank],
                    .size = bytes(round_up(overlap_.from_each.count() * slices, slices_)),
                    .operator_id = copying_,
                    .launch = launch_gap(overlap_.cluster.spec.gpu.launch, overlap_.options.launch),
                    .after = {last}});
      const LatchId there = graph_.add_latch(1);
      last = add_flag(team.gpus[rank], there, last);
      for (std::uint32_t s = first; s < first + slices; ++s) {
        here[std::size_t{from} * slices_ + s] = there;
      }
    }
  }
  return here;
}

}  // namespace weft
