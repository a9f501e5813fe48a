#include "sim/cache/level.h"

#include "sim/core/assert.h"

namespace weft::cache {
namespace {

std::uint32_t sets_of_slice(const LevelSpec& spec, Bytes line) {
  const std::int64_t set = line.count() * spec.ways * spec.slices;
  SIM_ASSERT(set > 0);
  SIM_ASSERT(spec.capacity.count() % set == 0);
  return static_cast<std::uint32_t>(spec.capacity.count() / set);
}

}  // namespace

Level::Level(const LevelSpec& spec, int caches, Bytes line, Bytes sector)
    : ways_(spec.ways),
      replacement_(spec.replacement),
      latency_(spec.latency.count()),
      slices_(static_cast<std::uint32_t>(spec.slices)),
      sets_(sets_of_slice(spec, line)),
      mshrs_(static_cast<std::size_t>(caches) * slices_, spec.mshrs) {
  SIM_ASSERT(0 < ways_ && ways_ <= kMaxWays);
  SIM_ASSERT(spec.mshrs > 0);
  for (std::size_t mask = 0; mask < kMasks; ++mask) {
    const std::int64_t moved = kSectorsOf[mask] * sector.count() * spec.slices;
    service_[mask] = time_for(moved, spec.bandwidth.count()).count();
  }
  const auto slices = static_cast<std::size_t>(caches) * slices_;
  lines_.resize(slices * sets_.parts());
  port_free_.resize(slices);
}

void Level::stall(const Set& set, int way, std::uint32_t slice, Ps& start, LevelCounts& counts) {
  Ps until = mshrs_.free_at(slice, start);
  if (way < 0 && victim(set, ways_, replacement_, until) < 0) until = first_ready(set, ways_);
  counts.stalled += picoseconds(until - start);
  port_free_[slice] += until - start;
  start = until;
}

Level::Stored Level::store(const Place& place, const Request& request, Moment when, Mark mark,
                           WhenFull when_full, Account account) {
  Ps start = grant(place.slice, request.sectors, when);
  ++account.counts.stores;
  Set& set = lines_[place.set];
  int way = find(set, request.line);
  if (way < 0) {
    way = victim(set, ways_, replacement_, start);
    if (way < 0) {
      if (when_full == WhenFull::bypass) {
        ++account.counts.bypasses;
        return {.at = start, .has_line = false};
      }
      // A store needs no MSHR: it brings its data.
      const Ps until = first_ready(set, ways_);
      account.counts.stalled += picoseconds(until - start);
      port_free_[place.slice] += until - start;
      start = until;
      way = victim(set, ways_, replacement_, start);
    }
    replace(set, way, request, account);
  } else {
    touch(set, way);
  }
  Way& state = set.ways[static_cast<std::size_t>(way)];
  state.valid = (state.valid | request.sectors) & 15U;
  if (mark == Mark::dirty) state.dirty = (state.dirty | request.sectors) & 15U;
  return {.at = start, .has_line = true};
}

std::uint8_t Level::clean(const Place& place, Line line) {
  Set& set = lines_[place.set];
  const int way = find(set, line);
  if (way < 0) return 0;
  Way& state = set.ways[static_cast<std::size_t>(way)];
  const auto dirty = static_cast<std::uint8_t>(state.dirty);
  state.dirty = 0;
  return dirty;
}

void Level::forget_lines() { std::fill(lines_.begin(), lines_.end(), Set{}); }

}  // namespace weft::cache
