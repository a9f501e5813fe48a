// MemoryPath: what happens to one load or store of a line, through L1, L2 of one or several dies,
// memory-side cache and DRAM, under the policy of the kernel that runs.
//
// Each slice of the L2 serves an equal part of the DRAM's channels, and so does each of the
// memory-side cache. Caches are kept coherent for nothing: a store leaves copies of its line
// elsewhere usable, as if it had updated them. L1s forget all lines when a kernel starts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cache/dirty_rows.h"
#include "sim/cache/dram.h"
#include "sim/cache/level.h"
#include "sim/cache/policy.h"
#include "sim/cache/reuse_predictor.h"
#include "sim/cache/sample.h"
#include "sim/cache/spec.h"

namespace weft::cache {

class MemoryPath {
 public:
  // `lines`: addresses are below this many lines.
  MemoryPath(const Hierarchy& hierarchy, Line lines);

  void start_kernel(const Policy& policy);

  // Where a line stands in the DRAM, in the L1 of a CU and in the L2 of the CU's die.
  struct Places {
    Interleave::Place dram;
    Level::Place l1;
    Level::Place l2;
  };
  [[nodiscard]] Places places(std::uint32_t cu, Line line) const {
    const Interleave::Place dram = dram_.place(line);
    return {.dram = dram, .l1 = l1_.place(cu, 0, line), .l2 = l2_place(die_of_cu_[cu], dram)};
  }
  // Brings them into the caches of the host.
  void prefetch(const Places& places) const {
    l1_.prefetch(places.l1);
    l2_.prefetch(places.l2);
  }

  // A load that the L1 cannot take until after `patience` is to be asked for again.
  Answer load(const Request& request, const Places& places, Ps now, Ps patience);
  // When the store is known to have been taken.
  Ps store(const Request& request, const Places& places, Ps now);
  [[nodiscard]] Ps l1_port_free(std::uint32_t cu) const { return l1_.port_free(cu); }

  // Writes back what is dirty in the L2; when that and all else is done.
  Ps end_kernel(Ps now);
  // Everything since the start; times are not in it.
  [[nodiscard]] Sample counts() const;

 private:
  // What a channel's lines meet on their way.
  struct Route {
    std::uint32_t home = 0;      // die
    std::uint32_t l2_slice = 0;  // in each die
    std::uint32_t l2_rank = 0;   // among the channels of that slice
    std::uint32_t side_slice = 0;
    std::uint32_t side_rank = 0;
  };
  [[nodiscard]] Level::Place l2_place(std::uint32_t die, const Interleave::Place& dram) const {
    const Route& route = routes_[dram.part];
    return l2_.place(die, route.l2_slice, dram.local * l2_ranks_ + route.l2_rank);
  }
  [[nodiscard]] Level::Place side_place(const Interleave::Place& dram) const {
    const Route& route = routes_[dram.part];
    return side_->place(0, route.side_slice, dram.local * side_ranks_ + route.side_rank);
  }
  void lay_routes(const Hierarchy& hierarchy);

  // A request on its way, and where its line stands in the DRAM.
  struct Passing {
    const Request& request;
    const Interleave::Place& dram;
  };
  struct InDie {
    std::uint32_t die;
    Level::Place place;
  };
  // Through the port of the L1 and past its lines.
  Moment leave_l1(const Places& places, const Request& request, Ps now);
  Ps load_l2(const InDie& at, const Passing& passing, Moment when, LevelCounts& counts);
  Ps memory_load(const Passing& passing, Moment when);
  Ps memory_store(Line line, const Interleave::Place& dram, std::uint8_t sectors, Moment when);
  void evict(std::uint32_t die, const Evicted& evicted, Moment when);
  void evict_side(const Evicted& evicted, Moment when);
  // Writes a dirty line back, and with it, if the policy says so, the others of its row.
  void write_back(std::uint32_t die, const Evicted& dirty, Moment when);

  // What `cache_rinse` does. A row has a number among those of all channels of all dies.
  [[nodiscard]] std::uint32_t row_number(std::uint32_t die, const Interleave::Place& place) const {
    return (die * dram_.channels() + place.part) * rows_ + dram_.row_of(place);
  }
  void make_dirty_rows();
  // Remembers that a line is dirty; the row that has to make room for its row is written back.
  void mark_dirty(std::uint32_t die, const Interleave::Place& place, Moment when);
  // Writes back what is marked of a row, except these lines.
  void rinse(std::uint32_t row, std::uint64_t except, Moment when);
  // Writes back rows in the time for which the channel, and what stands before it, have had nothing
  // to do; of several dies one after another. No line may leave the L2 between this and its
  // write-back, so that it comes before a lookup. (The lookup in a home die comes after the one
  // in another die, whose lines are clean.)
  void rinse_idle(std::uint32_t channel, Ps now) {
    if (policy_.cache_rinse && dirty_->any() && idle_from(channel) < now) {
      rinse_until(channel, now);
    }
  }
  void rinse_until(std::uint32_t channel, Ps now);
  [[nodiscard]] Ps idle_from(std::uint32_t channel) const {
    const Ps dram = dram_.free_at(channel);
    return side_ ? std::max(dram, side_->port_free(routes_[channel].side_slice)) : dram;
  }
  [[nodiscard]] WhenFull when_full() const {
    return policy_.allocation_bypass ? WhenFull::bypass : WhenFull::stall;
  }

  std::uint32_t dies_;
  bool has_home_;
  Ps die_to_die_;
  std::vector<std::uint32_t> die_of_cu_;  // in turn
  std::vector<Route> routes_;             // of each channel
  std::uint32_t l2_ranks_ = 0;            // channels of a slice
  std::uint32_t side_ranks_ = 0;
  Policy policy_;
  Level l1_;
  Level l2_;
  std::optional<Level> side_;
  Dram dram_;
  ReusePredictor predictor_;
  std::uint32_t rows_;              // of a channel
  std::optional<DirtyRows> dirty_;  // rinse only; a list for each channel of each die
  bool any_dirty_ = false;
  Ps last_write_ = 0;  // when the last store to the memory was taken
  LevelCounts l1_counts_;
  LevelCounts l2_counts_;
  LevelCounts home_counts_;
  LevelCounts side_counts_;
};

}  // namespace weft::cache
