#include "sim/cache/memory_path.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/core/assert.h"

namespace weft::cache {

MemoryPath::MemoryPath(const Hierarchy& hierarchy, Line lines)
    : dies_(static_cast<std::uint32_t>(hierarchy.dies)),
      has_home_(hierarchy.dies > 1 && hierarchy.l2_dies == Dies::home),
      die_to_die_(hierarchy.die_to_die.count()),
      l1_(hierarchy.l1, hierarchy.cus, hierarchy.line, hierarchy.sector),
      l2_(hierarchy.l2, hierarchy.dies, hierarchy.line, hierarchy.sector),
      dram_(hierarchy) {
  SIM_ASSERT(hierarchy.l1.slices == 1);
  if (hierarchy.side) side_.emplace(*hierarchy.side, 1, hierarchy.line, hierarchy.sector);
  for (std::uint32_t cu = 0; cu < static_cast<std::uint32_t>(hierarchy.cus); ++cu) {
    die_of_cu_.push_back(cu % dies_);
  }
  lay_routes(hierarchy);
  // All channels hold as many rows as the last line's block asks of any.
  const auto run =
      static_cast<std::uint32_t>(hierarchy.interleave.count() / hierarchy.line.count());
  const std::uint32_t blocks = lines / (run * dram_.channels()) + 1;
  rows_ = blocks * run / dram_.lines_per_row() + 1;
}

void MemoryPath::lay_routes(const Hierarchy& hierarchy) {
  const std::uint32_t channels = dram_.channels();
  const auto slices = static_cast<std::uint32_t>(hierarchy.l2.slices);
  const std::uint32_t homes = has_home_ ? dies_ : 1;
  SIM_ASSERT(channels % (slices * homes) == 0);
  const std::uint32_t of_home = channels / homes;  // channels
  const std::uint32_t in_slice = of_home / slices;
  l2_ranks_ = channels / slices;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const std::uint32_t home = channel / of_home;
    const std::uint32_t in_home = channel % of_home;
    routes_.push_back({.home = home,
                       .l2_slice = in_home / in_slice,
                       .l2_rank = home * in_slice + in_home % in_slice});
  }
  if (!hierarchy.side) return;
  const auto side_slices = static_cast<std::uint32_t>(hierarchy.side->slices);
  SIM_ASSERT(channels % side_slices == 0);
  side_ranks_ = channels / side_slices;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    routes_[channel].side_slice = channel / side_ranks_;
    routes_[channel].side_rank = channel % side_ranks_;
  }
}

void MemoryPath::start_kernel(const Policy& policy) {
  policy_ = policy;
  l1_.forget_lines();
  if (policy.cache_rinse && !dirty_) make_dirty_rows();
}

void MemoryPath::make_dirty_rows() {
  const std::uint32_t lines = l2_.lines_per_slice() * (has_home_ ? dies_ : 1) / l2_ranks_;
  dirty_.emplace(DirtyRows::Size{
      .lists = dies_ * dram_.channels(), .rows_of_list = rows_, .most = DirtyRows::most_of(lines)});
}

Moment MemoryPath::leave_l1(const Places& places, const Request& request, Ps now) {
  const Ps start = l1_.pass(places.l1, request, {.joined = now, .through = now}).through;
  return {.joined = start, .through = start};
}

Answer MemoryPath::load(const Request& request, const Places& places, Ps now, Ps patience) {
  const Passing passing{.request = request, .dram = places.dram};
  if (policy_.loads == Loads::bypass) {
    ++l1_counts_.loads;
    ++l1_counts_.bypasses;
    ++l2_counts_.loads;
    ++l2_counts_.bypasses;
    const Moment left = leave_l1(places, request, now);
    return {.at = memory_load(passing, l2_.pass(places.l2, request, left))};
  }
  Evicted evicted;  // of an L1, and so clean
  return l1_.load(places.l1, request, {.joined = now, .through = now},
                  {.when_full = when_full(), .patience = patience}, {l1_counts_, evicted},
                  [&](Moment at) {
                    const InDie near{.die = die_of_cu_[request.cu], .place = places.l2};
                    at.joined = at.through;
                    return load_l2(near, passing, at, l2_counts_);
                  });
}

Ps MemoryPath::load_l2(const InDie& at, const Passing& passing, Moment when, LevelCounts& counts) {
  const Request& request = passing.request;
  rinse_idle(passing.dram.part, when.joined);
  const bool no_use = policy_.pc_bypass && predictor_.bypasses(request.instruction, at.place.set);
  Evicted evicted;
  const Answer answer =
      l2_.load(at.place, request, when,
               {.when_full = when_full(), .allocate = no_use ? Allocate::no : Allocate::yes},
               {counts, evicted}, [&](Moment below) {
                 const std::uint32_t home = has_home_ ? routes_[passing.dram.part].home : at.die;
                 if (home == at.die) return memory_load(passing, below);
                 const InDie far{.die = home, .place = l2_place(home, passing.dram)};
                 return load_l2(far, passing, below, home_counts_) + die_to_die_;
               });
  if (evicted.any) evict(at.die, evicted, when);
  return answer.at;
}

Ps MemoryPath::store(const Request& request, const Places& places, Ps now) {
  ++l1_counts_.stores;
  ++l1_counts_.bypasses;
  const Moment left = leave_l1(places, request, now);
  const std::uint32_t near = die_of_cu_[request.cu];
  const std::uint32_t die = has_home_ ? routes_[places.dram.part].home : near;
  const Level::Place at = die == near ? places.l2 : l2_place(die, places.dram);
  if (policy_.stores == Stores::bypass) {
    ++l2_counts_.stores;
    ++l2_counts_.bypasses;
    return memory_store(request.line, places.dram, request.sectors, l2_.pass(at, request, left));
  }
  rinse_idle(places.dram.part, left.joined);
  const bool dirty = policy_.stores == Stores::write_back;
  Evicted evicted;
  const Level::Stored stored =
      l2_.store(at, request, left, dirty ? Level::Mark::dirty : Level::Mark::clean, when_full(),
                {l2_counts_, evicted});
  const Moment taken{.joined = left.joined, .through = stored.at};
  if (evicted.any) evict(die, evicted, taken);
  if (!dirty || !stored.has_line) {
    return memory_store(request.line, places.dram, request.sectors, taken);
  }
  any_dirty_ = true;
  if (policy_.cache_rinse) mark_dirty(die, places.dram, taken);
  return stored.at + l2_.latency();
}

void MemoryPath::evict(std::uint32_t die, const Evicted& evicted, Moment when) {
  if (policy_.pc_bypass) predictor_.learn(evicted.way);
  if (evicted.way.dirty != 0) write_back(die, evicted, when);
}

void MemoryPath::write_back(std::uint32_t die, const Evicted& dirty, Moment when) {
  const Interleave::Place place = dram_.place(dirty.line);
  memory_store(dirty.line, place, dirty.way.dirty, when);
  if (!policy_.cache_rinse) return;
  rinse(row_number(die, place), std::uint64_t{1} << dram_.line_in_row(place), when);
}

void MemoryPath::mark_dirty(std::uint32_t die, const Interleave::Place& place, Moment when) {
  const std::uint32_t row = row_number(die, place);
  const std::uint32_t line = dram_.line_in_row(place);
  if (const auto oldest = dirty_->in_the_way(row, line)) rinse(*oldest, 0, when);
  dirty_->mark(row, line, when.through);
}

void MemoryPath::rinse(std::uint32_t row, std::uint64_t except, Moment when) {
  const std::uint32_t channel = row / rows_ % dram_.channels();
  const std::uint32_t die = row / rows_ / dram_.channels();
  std::uint64_t lines = dirty_->take(row) & ~except;
  for (; lines != 0; lines &= lines - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(lines));
    const Interleave::Place place{.part = channel,
                                  .local = row % rows_ * dram_.lines_per_row() + bit};
    const Line line = dram_.line_at(place);
    const std::uint8_t sectors = l2_.clean(l2_place(die, place), line);
    SIM_ASSERT(sectors != 0);
    ++l2_counts_.write_backs;
    memory_store(line, place, sectors, when);
  }
}

void MemoryPath::rinse_until(std::uint32_t channel, Ps now) {
  for (std::uint32_t die = 0; die < dies_; ++die) {
    while (const auto row = dirty_->oldest(die * dram_.channels() + channel)) {
      const Ps start = std::max(idle_from(channel), dirty_->written_at(*row));
      if (start >= now) break;
      rinse(*row, 0, {.joined = start, .through = start});
    }
  }
}

Ps MemoryPath::memory_load(const Passing& passing, Moment when) {
  const std::uint8_t sectors = passing.request.sectors;
  if (!side_) return dram_.read(passing.dram, sectors, when);
  Evicted evicted;
  const Answer answer =
      side_->load(side_place(passing.dram), passing.request, when, {}, {side_counts_, evicted},
                  [&](Moment below) { return dram_.read(passing.dram, sectors, below); });
  evict_side(evicted, when);
  return answer.at;
}

Ps MemoryPath::memory_store(Line line, const Interleave::Place& dram, std::uint8_t sectors,
                            Moment when) {
  Ps taken = 0;
  if (!side_) {
    taken = dram_.write(dram, sectors, when);
  } else {
    Evicted evicted;
    taken = side_
                ->store(side_place(dram), {.line = line, .sectors = sectors}, when,
                        Level::Mark::dirty, WhenFull::stall, {side_counts_, evicted})
                .at;
    evict_side(evicted, when);
  }
  last_write_ = std::max(last_write_, taken);
  return taken;
}

void MemoryPath::evict_side(const Evicted& evicted, Moment when) {
  if (!evicted.any || evicted.way.dirty == 0) return;
  dram_.write(dram_.place(evicted.line), evicted.way.dirty, when);
}

Ps MemoryPath::end_kernel(Ps now) {
  for (std::uint32_t channel = 0; channel < dram_.channels(); ++channel) rinse_idle(channel, now);
  if (any_dirty_) {
    Sets& sets = l2_.sets();
    const std::size_t per_die = l2_.sets_per_cache();
    // All dies and slices walk through their sets at once.
    for (std::size_t turn = 0; turn < sets.size(); ++turn) {
      const std::size_t die = turn % dies_;
      Set& set = sets[die * per_die + turn / dies_];
      for (std::size_t way = 0; way < kMaxWays; ++way) {
        if (set.ways[way].dirty == 0) continue;
        const Evicted dirty{.any = true, .line = set.tags[way] - 1, .way = set.ways[way]};
        set.ways[way].dirty = 0;
        ++l2_counts_.write_backs;
        write_back(static_cast<std::uint32_t>(die), dirty, {.joined = now, .through = now});
      }
    }
    any_dirty_ = false;
  }
  return std::max({now, last_write_, dram_.idle_at()});
}

Sample MemoryPath::counts() const {
  return {.l1 = l1_counts_,
          .l2 = l2_counts_,
          .home = home_counts_,
          .side = side_counts_,
          .dram = dram_.counts(),
          .time = {},
          .write_back = {}};
}

}  // namespace weft::cache
