// Sums of parts: by WGs of their owners, by the switch, or by kernels of their own.
#include <algorithm>

#include "sim/collectives/collective.h"
#include "sim/core/round_up.h"
#include "sim/workloads/fused_producer.h"
#include "sim/workloads/plain_kernel.h"

namespace weft {

// A kernel of its own adds up the parts that have come.
void FusedProducer::add_sum_kernels() {
  const std::size_t first = made_.computing.size() - grid_.gpus;
  if (sum_.is_none()) {
    sum_ = graph_.operators.push_back(
        {.name = "sum", .role = KernelRole::collective, .part = overlap_.collective_part});
  }
  for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
    made_.communicating.push_back(add_plan(
        graph_, overlap_, gpu(g), sum_, overlap_.peer_kernels->sum, {made_.computing[first + g]}));
  }
}

// Of what the switch adds up for a slice, each as much as a WG has in flight.
std::uint32_t FusedProducer::pieces() const {
  return static_cast<std::uint32_t>(round_up(grid_.bytes_of(slice_wgs_), wg_in_flight(grid_.wg)));
}

// A WG loads a sum; it, or another, keeps it or stores it to everyone.
void FusedProducer::add_sums_in_switch(std::uint32_t g, std::uint32_t s) {
  const std::int64_t size = grid_.bytes_of(slice_wgs_);
  const std::int64_t most = std::min(size, wg_in_flight(grid_.wg));
  const bool to_all = op_ == CollectiveOp::all_reduce;
  const Work keeping = to_all ? Work{} : copy_work(overlap_.cluster.spec.gpu, grid_.wg, 0, most);
  const std::uint32_t nothing = graph_.add_work({});
  const std::uint32_t keeps = graph_.add_work(keeping);
  for (std::int64_t first = 0; first < size; first += most) {
    const std::int64_t piece = std::min(most, size - first);
    const LatchId sum = graph_.add_latch(1);
    add_waiting(awaits(g, s), nothing, sends_.load_sum(graph_, gpu(g), group_, piece, sum));
    const LatchId out =
        to_all ? sends_.multicast(graph_, gpu(g), group_, piece, finished_[0]) : LatchId::none();
    graph_.items.add({.counts_down = out,
                      .waits_for = sum,
                      .work = keeps & 0xFFU,
                      .scale = part_of_item(piece, most) & 0xFFFFFFU});
  }
}

// WGs add up, waves send.
void FusedProducer::hand_over(std::uint32_t g, Sums& sums, std::uint32_t nothing) {
  for (std::uint32_t s = 0; s < slices_; ++s) {
    sums.done.push_back(graph_.add_latch(1));
    add_waiting(sums.done.back(), nothing, send_sum(g));
  }
}

// WG i of a round has made the i-th of these own parts, and adds to it next.
void FusedProducer::add_round_of_sums(std::uint32_t g, Sums& sums, std::uint32_t slice,
                                      std::uint32_t round) {
  sums.waiting.push_back(slice);
  if (sums.waiting.size() * slice_wgs_ >= round) add_waiting_sums(g, sums);
}

// The owner's WGs add up what its peers have sent, slice by slice in the order they are made.
void FusedProducer::add_last_sums(std::uint32_t g, Sums& sums) {
  if (!reduces()) return;
  for (std::uint32_t s = 0; s < slices_ && !with_own_; ++s) {
    in_switch_ ? add_sums_in_switch(g, s) : sums.waiting.push_back(s);
  }
  add_waiting_sums(g, sums);
}

void FusedProducer::add_waiting_sums(std::uint32_t g, Sums& sums) {
  if (sums.waiting.empty()) return;
  if (!sums.work) {
    const std::uint32_t parts = with_own_ ? grid_.gpus - 1 : grid_.gpus;
    sums.work = graph_.add_work(sends_.reduction(grid_.bytes_of(slice_wgs_), parts));
  }
  const bool sends = op_ == CollectiveOp::all_reduce && sums.done.empty();
  for (const std::uint32_t s : sums.waiting) {
    const LatchId kept = sums.done.empty() ? LatchId::none() : sums.done[s];
    add_waiting(awaits(g, s), *sums.work, sends ? send_sum(g) : kept);
  }
  sums.waiting.clear();
}

// Sends the sum of a slice from its owner to everyone.
LatchId FusedProducer::send_sum(std::uint32_t g) {
  std::vector<Parcel> peers;
  for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
    const std::uint32_t d = (g + step) % grid_.gpus;
    peers.push_back({{gpu(d), finished_[d]}, grid_.bytes_of(slice_wgs_)});
  }
  return sends_.send_to_all(graph_, gpu(g), peers);
}

}  // namespace weft
