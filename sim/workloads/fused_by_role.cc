// Kernels by role: some CUs, or a wave of each, send what the WGs of others have made.
#include <algorithm>

#include "sim/workloads/fused_producer.h"

namespace weft {
namespace {

// The links take the stores of a GPU's WGs neither one WG's after another's nor all in turn, word
// by word; as if each stored its result in so many parts. [M] Triton's GEMM + all-to-all and GEMM +
// reduce-scatter on two H200 (docs/validation.md): 1 would suit the one, 4 the other.
constexpr std::uint32_t kPartsFromRegisters = 2;

}  // namespace

// A wave stores a result into a peer of its node from where it was made; a NIC, and WGs on other
// CUs, read it from memory.
bool FusedProducer::leaves_from_its_cu(std::uint32_t g, const Logical& slice) const {
  return senders_ == Senders::waves && grid_.parts == 1 && slice.peer != g && !in_switch_ &&
         same_node(g, slice.peer);
}

// WGs that compute leave their results here; other CUs or a wave of each send a slice when it is
// complete, in the order in which slices are made. CUs that send add up what comes, too.
void FusedProducer::add_kernels_by_role(std::uint32_t g) {
  const std::vector<Logical> slices = slices_of(g);
  Kernel sending = begin_sending(g);
  add_peer_flags(g);
  const std::uint32_t reading = graph_.add_work(sends_.reading(grid_.bytes_of(slice_wgs_)));
  const std::uint32_t nothing = graph_.add_work({});
  const Kernel computing = begin_computing(g);
  const std::size_t items = slices.size() * slice_wgs_;
  const std::size_t round = std::min<std::size_t>(computing.max_grid, items);
  // A WG that has made a result hands it to its wave, and makes the next ones while that sends:
  // as many as it has buffers for. So the WG that makes number p of all, a round of WGs after
  // p - R, begins once number p - (1 + unsent) R has left.
  const std::size_t ahead = (1 + static_cast<std::size_t>(options_.fused.unsent)) * round;
  std::vector<LatchId> made;
  std::vector<LatchId> left;  // of slices that WGs wait for
  for (const Logical& slice : slices) {
    const bool stays = slice.peer == g || in_switch_;
    const bool from_cu = leaves_from_its_cu(g, slice);
    const bool awaited = from_cu && (left.size() + 1) * slice_wgs_ + ahead <= items;
    made.push_back(stays ? stay(g, slice) : graph_.add_latch(slice_wgs_));
    left.push_back(awaited ? graph_.add_latch(1) : LatchId::none());
    if (stays) continue;
    add_waiting(made.back(), from_cu ? nothing : reading, send_slice(g, slice, 1, left.back()));
  }
  Sums sums;
  if (wgs_add_ && op_ == CollectiveOp::all_reduce) hand_over(g, sums, nothing);
  if (!finished_.empty()) sending.finish = finished_[g];
  if (!wgs_add_) add_last_sums(g, sums);
  end(g, sending);
  const std::vector<std::size_t> sent = sent_with(g, slices, round);
  for (std::size_t number = 0; number < items; ++number) {
    const std::size_t s = number / slice_wgs_;
    const bool waits = number + 1 >= ahead + slice_wgs_;
    add_item(g, slices[s], static_cast<std::uint32_t>(number % slice_wgs_), made[s],
             work_of(leaves_from_its_cu(g, slices[s]) || is_kept(g, slices[s]),
                     number < round ? 0 : sent[number - round]),
             waits ? left[(number + 1 - ahead) / slice_wgs_ - 1] : LatchId::none());
    if (is_kept(g, slices[s]) && (number + 1) % slice_wgs_ == 0) {
      add_round_of_sums(g, sums, slices[s].index, computing.max_grid);
    }
  }
  if (wgs_add_) add_last_sums(g, sums);
  end(g, computing);
}

// Of each result that its wave sends, how many of its round are sent: about at the same time.
// 0: it is not, or that slows nobody.
std::vector<std::size_t> FusedProducer::sent_with(std::uint32_t g,
                                                  const std::vector<Logical>& slices,
                                                  std::size_t round) const {
  std::vector<std::size_t> sent(slices.size() * slice_wgs_);
  if (options_.fused.rate_while_sending == 1) return sent;
  for (std::size_t first = 0; first < sent.size(); first += round) {
    std::vector<std::size_t> together;
    for (std::size_t i = first; i < std::min(sent.size(), first + round); ++i) {
      if (leaves_from_its_cu(g, slices[i / slice_wgs_])) together.push_back(i);
    }
    for (const std::size_t i : together) sent[i] = together.size();
  }
  return sent;
}

// Of a result, kept or written, whose CU has one to send from the round before, with so many
// others.
std::uint32_t FusedProducer::work_of(bool kept, std::size_t results) {
  if (results == 0) return kept ? kept_ : written_;
  const auto [known, added] = slowed_.try_emplace(results);
  if (added) {
    const Duration lost = sends_.lost_while_sending(grid_.bytes_of(1), results);
    const auto slowed = [&](Work work) {
      work.fixed += lost;
      return graph_.add_work(work);
    };
    known->second = {slowed(grid_.written), slowed(kept_work())};
  }
  return known->second[kept ? 1 : 0];
}

// What a WG does for a result that it, or its wave, goes on with from where it was made.
Work FusedProducer::kept_work() const {
  Work kept = grid_.stored;
  kept.shares = 1;
  return kept;
}

// Where they leave from registers, the WG goes on when the link has taken them.
std::uint32_t FusedProducer::stored_parts(std::uint32_t g, const Logical& slice) const {
  const bool from_registers = leaves_from_its_cu(g, slice) && options_.fused.unsent == 0;
  return from_registers ? kPartsFromRegisters : 1;
}

}  // namespace weft
