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

Residents::Residents(std::span<const Running> kernels, int cus, MemoryPath& path)
    : path_(path), cus_(static_cast<std::size_t>(cus)) {
  for (const Running& running : kernels) add(running, cus);
}

void Residents::add(const Running& running, int cus) {
  const Kernel& kernel = running.kernel;
  const auto in_flight = static_cast<std::uint32_t>(kernel.in_flight);
  const std::int64_t slots = std::min(std::int64_t{cus} * kernel.wgs_per_cu, running.wgs);
  for (std::int64_t s = 0; s < slots; ++s) {
    Slot& slot = slots_.emplace_back();
    slot.cu = static_cast<std::uint32_t>(s % cus);
    slot.grid = static_cast<std::uint32_t>(grids_.size());
    slot.done = static_cast<std::uint32_t>(done_.size());
    done_.resize(done_.size() + in_flight);
  }
  if (grids_.empty()) left_ = static_cast<std::uint32_t>(slots);
  grids_.push_back({.walk = &running.walk,
                    .wgs = running.wgs,
                    .compute = kernel.compute.count(),
                    .in_flight = in_flight});
}

Ps Residents::run(Ps start) {
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    slots_[s].last = start;
    start_next_wg(s);
  }
  while (left_ > 0) {
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
  for (const Slot& slot : slots_) {
    if (slot.grid == 0) end = std::max(end, slot.last);
  }
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
  Grid& grid = grids_[slots_[s].grid];
  if (grid.next_wg == grid.wgs) {
    if (slots_[s].grid == 0) --left_;
    return;
  }
  slots_[s].cursor = grid.walk->begin(grid.next_wg++);
  push_slot(s, slots_[s].last);
}

void Residents::wake_slot(std::uint32_t s) {
  Slot& slot = slots_[s];
  const Grid& grid = grids_[slot.grid];
  if (!grid.walk->next(slot.cursor, slot.turn)) {
    start_next_wg(s);
    return;
  }
  if (slot.turn.count == 0) {
    slot.last = std::max(slot.last, slot.at + grid.compute);
    push_slot(s, std::max(slot.at + grid.compute, done_[slot.done + slot.oldest]));
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
        loads_beside_ += static_cast<std::int64_t>(slot.grid != 0);
      }
      ++slot.issued;
    }
  }
  return true;
}

void Residents::end_turn(std::uint32_t s, Ps now) {
  Slot& slot = slots_[s];
  const Grid& grid = grids_[slot.grid];
  done_[slot.done + slot.oldest] = slot.turn_done;
  if (++slot.oldest == grid.in_flight) slot.oldest = 0;
  slot.last = std::max(slot.last, slot.turn_done);
  push_slot(s, std::max(now, done_[slot.done + slot.oldest]));
}

}  // namespace weft::cache
