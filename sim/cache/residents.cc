#include "sim/cache/residents.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"

namespace weft::cache {
namespace {

constexpr unsigned kOrderBits = 14;         // of a time in ps: the same 16.384 ns
constexpr Ps kAhead = Ps{1} << kOrderBits;  // how far an L1 may book its port
constexpr std::uint64_t kIsCu = std::uint64_t{1} << 32U;
constexpr std::uint32_t kPrepared = 8;  // requests on the way into the host's caches

}  // namespace

Residents::Residents(const Kernel& kernel, const WgWalk& walk, int cus, MemoryPath& path)
    : walk_(walk),
      path_(path),
      compute_(kernel.compute.count()),
      in_flight_(static_cast<std::uint32_t>(kernel.in_flight)),
      cus_(static_cast<std::size_t>(cus)) {
  const std::int64_t resident = std::int64_t{cus} * kernel.wgs_per_cu;
  slots_.resize(static_cast<std::size_t>(std::min(resident, walk.wgs())));
  done_.resize(slots_.size() * in_flight_);
}

Ps Residents::run(Ps start) {
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    slots_[s].last = start;
    slots_[s].cu = s % static_cast<std::uint32_t>(cus_.size());
    start_next_wg(s);
  }
  while (!queue_.empty()) {
    const std::uint64_t who = queue_.pop().content;
    const auto index = static_cast<std::uint32_t>(who);
    if ((who & kIsCu) == 0) {
      wake_slot(index);
    } else {
      cus_[index].scheduled = false;
      wake_cu(index, cus_[index].at);
    }
  }
  Ps end = start;
  for (const Slot& slot : slots_) end = std::max(end, slot.last);
  return end;
}

void Residents::push_slot(std::uint32_t s, Ps at) {
  SIM_ASSERT(at < kTimeEnd);
  slots_[s].at = at;
  queue_.push(SimTime::from_count(at >> kOrderBits), s);
}

void Residents::push_cu(std::uint32_t c, Ps at) {
  cus_[c].scheduled = true;
  cus_[c].at = at;
  queue_.push(SimTime::from_count(at >> kOrderBits), kIsCu | c);
}

void Residents::start_next_wg(std::uint32_t s) {
  if (next_wg_ == walk_.wgs()) return;
  slots_[s].cursor = walk_.begin(next_wg_++);
  push_slot(s, slots_[s].last);
}

void Residents::wake_slot(std::uint32_t s) {
  Slot& slot = slots_[s];
  if (!walk_.next(slot.cursor, slot.turn)) {
    start_next_wg(s);
    return;
  }
  if (slot.turn.count == 0) {
    slot.last = std::max(slot.last, slot.at + compute_);
    push_slot(s, std::max(slot.at + compute_, done_[s * in_flight_ + slot.oldest]));
    return;
  }
  slot.issued = 0;
  slot.turn_done = slot.at;
  Cu& cu = cus_[slot.cu];
  (cu.waiting++ == 0 ? cu.first : slots_[cu.last].next) = s;
  cu.last = s;
  if (!cu.scheduled) wake_cu(slot.cu, slot.at);
}

void Residents::wake_cu(std::uint32_t c, Ps now) {
  Cu& cu = cus_[c];
  while (cu.waiting > 0) {
    if (!issue_turn(slots_[cu.first], now)) {
      push_cu(c, std::max(now, path_.l1_port_free(c)));
      return;
    }
    const std::uint32_t s = cu.first;
    cu.first = slots_[s].next;
    --cu.waiting;
    end_turn(s, now);
  }
}

bool Residents::issue_turn(Slot& slot, Ps now) {
  const Turn& turn = slot.turn;
  std::array<MemoryPath::Places, kPrepared> places;
  Request request{.instruction = turn.instruction, .cu = slot.cu};
  while (slot.issued < turn.count) {
    const std::uint32_t first = slot.issued;
    const std::uint32_t end = std::min(first + kPrepared, turn.count);
    for (std::uint32_t i = first; i < end; ++i) {
      places[i - first] = path_.places(slot.cu, turn.lines[i]);
      path_.prefetch(places[i - first]);
    }
    for (std::uint32_t i = first; i < end; ++i) {
      if (path_.l1_port_free(slot.cu) > now + kAhead) return false;
      request.line = turn.lines[i];
      request.sectors = turn.sectors[i];
      if (turn.op == Op::store) {
        slot.turn_done = std::max(slot.turn_done, path_.store(request, places[i - first], now));
      } else {
        const Answer answer = path_.load(request, places[i - first], now, now + kAhead);
        if (answer.retry) return false;
        slot.turn_done = std::max(slot.turn_done, answer.at);
      }
      ++slot.issued;
    }
  }
  return true;
}

void Residents::end_turn(std::uint32_t s, Ps now) {
  Slot& slot = slots_[s];
  done_[s * in_flight_ + slot.oldest] = slot.turn_done;
  if (++slot.oldest == in_flight_) slot.oldest = 0;
  slot.last = std::max(slot.last, slot.turn_done);
  push_slot(s, std::max(now, done_[s * in_flight_ + slot.oldest]));
}

}  // namespace weft::cache
