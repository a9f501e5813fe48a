#include "sim/engine/intervals.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

// amount x part / whole, rounded down.
std::int64_t share_of(std::int64_t amount, Duration part, Duration whole) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(amount, part.count(), &product)) return product / whole.count();
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(amount) * part.count() / whole.count());
}

}  // namespace

Intervals::Intervals(std::size_t tracks, Duration length)
    : tracks_(tracks), length_(length), amounts_(tracks * kMost) {
  SIM_ASSERT(length.count() > 0);
}

Intervals Intervals::lasting(std::size_t tracks, SimTime end) {
  Duration length = nanoseconds(1);
  while (SimTime{} + length * kMost <= end) length = length * 2;
  return Intervals(tracks, length);
}

std::size_t Intervals::at(SimTime time) {
  while (time.count() / length_.count() >= static_cast<std::int64_t>(kMost)) merge_neighbours();
  return static_cast<std::size_t>(time.count() / length_.count());
}

void Intervals::merge_neighbours() {
  for (std::size_t i = 0; i < kMost / 2; ++i) {
    for (std::size_t track = 0; track < tracks_; ++track) {
      const std::int64_t second = amounts_[(2 * i + 1) * tracks_ + track];
      amounts_[i * tracks_ + track] = amounts_[2 * i * tracks_ + track];
      add(i, track, second);
    }
  }
  std::fill(amounts_.begin() + static_cast<std::ptrdiff_t>(kMost / 2 * tracks_), amounts_.end(), 0);
  length_ = length_ * 2;
}

void Intervals::add(std::size_t interval, std::size_t track, std::int64_t amount) {
  std::int64_t& sum = amounts_[interval * tracks_ + track];
  if (__builtin_add_overflow(sum, amount, &sum)) sum = INT64_MAX;
}

void Intervals::spread(std::size_t track, SimTime from, SimTime until, std::int64_t amount) {
  SIM_ASSERT(from <= until);
  const std::size_t last = at(until);
  const std::size_t first = at(from);
  if (first == last) return add(last, track, amount);
  const Duration whole = until - from;
  std::int64_t left = amount;
  const auto give = [&](std::size_t interval, std::int64_t part) {
    add(interval, track, part);
    left -= part;
  };
  const SimTime next = SimTime{} + length_ * static_cast<std::int64_t>(first + 1);
  give(first, share_of(amount, next - from, whole));
  if (first + 1 < last) {
    const std::int64_t each = share_of(amount, length_, whole);
    for (std::size_t i = first + 1; i < last; ++i) give(i, each);
  }
  give(last, left);
}

void Intervals::add(const Intervals& other) {
  SIM_ASSERT(length_ == other.length_ && amounts_.size() == other.amounts_.size());
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t track = 0; track < tracks_; ++track) add(i, track, other.amount(i, track));
  }
}

void Intervals::close(SimTime end) {
  end_ = end;
  const std::size_t last = end.count() == 0 ? 0 : at(SimTime::from_count(end.count() - 1));
  for (std::size_t i = last + 1; i < kMost; ++i) {
    for (std::size_t track = 0; track < tracks_; ++track) {
      add(last, track, amount(i, track));
    }
  }
  size_ = end.count() == 0 ? 0 : last + 1;
  amounts_.resize(size_ * tracks_);
}

SimTime Intervals::from(std::size_t interval) const {
  return SimTime{} + length_ * static_cast<std::int64_t>(interval);
}

SimTime Intervals::until(std::size_t interval) const { return std::min(from(interval + 1), end_); }

}  // namespace weft
