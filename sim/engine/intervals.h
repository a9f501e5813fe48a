// Intervals: amounts per equal interval of time, for several parallel tracks.
//
// A run does not know its end while it is running. So intervals begin short; whenever there are
// kMost of them, neighbours are merged, and all are twice as long from then on. Amounts are
// integers and none is lost: the sum over the intervals is what was added.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/quantity.h"

namespace weft {

class Intervals {
 public:
  static constexpr std::size_t kMost = 512;  // even

  Intervals() : Intervals(0) {}
  explicit Intervals(std::size_t tracks, Duration length = nanoseconds(1));

  // For what is known to end at `end`: the shortest length of 1, 2, 4 ... ns that suffices.
  static Intervals lasting(std::size_t tracks, SimTime end);

  [[nodiscard]] Duration length() const { return length_; }
  [[nodiscard]] std::size_t tracks() const { return tracks_; }
  // The interval that contains this time (its start included, its end not); makes room for it.
  std::size_t at(SimTime time);

  void add(std::size_t interval, std::size_t track, std::int64_t amount);
  // Spread evenly over the time between; all at once where there is none.
  void spread(std::size_t track, SimTime from, SimTime until, std::int64_t amount);

  // Adds what happened elsewhere in the same intervals; after close() of both.
  void add(const Intervals& other);

  // Nothing happens from `end` on: the last interval ends there.
  void close(SimTime end);

  // Only after close().
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] SimTime from(std::size_t interval) const;
  [[nodiscard]] SimTime until(std::size_t interval) const;
  [[nodiscard]] std::int64_t amount(std::size_t interval, std::size_t track) const {
    return amounts_[interval * tracks_ + track];
  }

 private:
  void merge_neighbours();

  std::size_t tracks_;
  Duration length_;
  std::vector<std::int64_t> amounts_;  // by interval, then track
  std::size_t size_ = 0;
  SimTime end_;
};

}  // namespace weft
