// Level: all caches of one level. A request is granted a slice's port, looks its line up, and on a
// miss takes an MSHR and a line; the level below is a function that says when the data come.
//
// A slice serves in order: a request that must wait for an MSHR or a line delays those after it.
//
// What is simplified: a request joins the queues of all levels at once, so that what it waits is
// the longest of their queues and not their sum, and the whole latency lies on the way back.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/cache/line_array.h"
#include "sim/cache/mshrs.h"
#include "sim/cache/sample.h"
#include "sim/cache/sectors.h"
#include "sim/cache/spec.h"

namespace weft::cache {

struct Request {
  Line line = 0;
  std::uint8_t sectors = 0;      // a bit each
  std::uint8_t instruction = 0;  // below kInstructions
  std::uint32_t cu = 0;
};

// A line that had to make room; what of it is dirty must be written.
struct Evicted {
  bool any = false;
  Line line = 0;
  Way way;
};

// What a request adds to: the counts of its level, and the line that it drove out.
struct Account {
  LevelCounts& counts;
  Evicted& evicted;
};

// What a request does that finds no line which it may replace.
enum class WhenFull : std::uint8_t {
  stall,  // waits, and those behind it
  bypass  // goes on to the level below, and takes no MSHR either
};

enum class Allocate : std::uint8_t { yes, no };

constexpr Ps kForEver = INT64_MAX;

struct Miss {
  WhenFull when_full = WhenFull::stall;
  Allocate allocate = Allocate::yes;
  Ps patience = kForEver;  // waits beyond this time are the caller's, who then asks again
};

// When a load has its data. With `retry`, when it must be asked for again.
struct Answer {
  Ps at;
  bool retry = false;
};

class Level {
 public:
  // `caches` of them, for lines of sectors of this size.
  Level(const LevelSpec& spec, int caches, Bytes line, Bytes sector);

  struct Place {
    std::uint32_t slice;  // among those of all caches
    std::uint32_t set;    // among those of all slices; sets of one number side by side
  };
  // Of a line in a slice of a cache, given its number among the lines that the slice may hold.
  [[nodiscard]] Place place(std::uint32_t cache, std::uint32_t slice, std::uint32_t number) const {
    const std::uint32_t set = sets_.part(number);
    return {.slice = cache * slices_ + slice,
            .set = (cache * sets_.parts() + set) * slices_ + slice};
  }
  void prefetch(const Place& place) const {
    const char* set = reinterpret_cast<const char*>(&lines_[place.set]);
    __builtin_prefetch(set);
    __builtin_prefetch(set + 64);
  }

  // When the port takes a request that passes without looking its line up.
  Moment pass(const Place& place, const Request& request, Moment when) {
    return {.joined = when.joined, .through = grant(place.slice, request.sectors, when)};
  }

  // `below(moment)` says when the data come from there.
  template <class Below>
  Answer load(const Place& place, const Request& request, Moment when, Miss miss, Account account,
              Below below);

  // When the store is taken, and whether a line holds it now.
  struct Stored {
    Ps at;
    bool has_line;
  };
  enum class Mark : std::uint8_t { clean, dirty };
  Stored store(const Place& place, const Request& request, Moment when, Mark mark,
               WhenFull when_full, Account account);

  // The dirty sectors of a line, which are clean from now on.
  std::uint8_t clean(const Place& place, Line line);
  void forget_lines();

  [[nodiscard]] Sets& sets() { return lines_; }
  [[nodiscard]] std::size_t sets_per_cache() const { return std::size_t{slices_} * sets_.parts(); }
  [[nodiscard]] std::uint32_t lines_per_slice() const {
    return static_cast<std::uint32_t>(ways_) * sets_.parts();
  }
  // From when on a slice's port is free.
  [[nodiscard]] Ps port_free(std::uint32_t slice) const { return port_free_[slice]; }
  [[nodiscard]] Ps latency() const { return latency_; }

 private:
  Ps grant(std::uint32_t slice, std::uint8_t sectors, Moment when) {
    const Ps start = std::max(port_free_[slice], when.joined);
    port_free_[slice] = start + service_[sectors];
    return std::max(start, when.through);
  }
  // For an MSHR and, if there is none yet (way < 0), a way for the line.
  // The slice does nothing until there are both; that time becomes the start.
  void stall(const Set& set, int way, std::uint32_t slice, Ps& start, LevelCounts& counts);
  // Puts the line into a way whose own has arrived.
  static void replace(Set& set, int way, const Request& request, Account account) {
    const auto index = static_cast<std::size_t>(way);
    account.evicted = {
        .any = set.tags[index] != 0, .line = set.tags[index] - 1, .way = set.ways[index]};
    account.counts.write_backs += static_cast<std::int64_t>(set.ways[index].dirty != 0);
    ++set.draws;
    set.tags[index] = request.line + 1;
    set.ways[index] = Way{};
    set.ways[index].instruction = request.instruction & (kInstructions - 1);
    touch(set, way);
  }

  int ways_;
  Replacement replacement_;
  Ps latency_;
  std::uint32_t slices_;  // of a cache
  Spread sets_;           // of a slice
  Mshrs mshrs_;
  std::array<Ps, kMasks> service_{};  // of a port, for these sectors
  Sets lines_;
  std::vector<Ps> port_free_;
};

template <class Below>
Answer Level::load(const Place& place, const Request& request, Moment when, Miss miss,
                   Account account, Below below) {
  LevelCounts& counts = account.counts;
  Ps start = grant(place.slice, request.sectors, when);
  Set& set = lines_[place.set];
  int way = find(set, request.line);
  if (way >= 0) {
    Way& state = set.ways[static_cast<std::size_t>(way)];
    touch(set, way);
    state.used_again = 1;
    if ((state.valid & request.sectors) == request.sectors) {
      ++counts.loads;
      if (!is_pending(set, way, start)) {
        ++counts.hits;
        return {.at = start + latency_};
      }
      ++counts.merged;
      return {.at = std::max(start + latency_, time_of(set.ready[static_cast<std::size_t>(way)]))};
    }
  }
  int room = way < 0 ? victim(set, ways_, replacement_, start) : way;
  const bool no_line = room < 0;
  if ((way < 0 && miss.allocate == Allocate::no) ||
      (no_line && miss.when_full == WhenFull::bypass)) {
    ++counts.loads;
    ++counts.bypasses;
    return {.at = below({.joined = when.joined, .through = start})};
  }
  if (no_line || mshrs_.free_at(place.slice, start) > start) {
    stall(set, way, place.slice, start, counts);
    if (start > miss.patience) return {.at = start, .retry = true};
    if (way < 0) room = victim(set, ways_, replacement_, start);
  }
  ++counts.loads;
  ++counts.misses;
  if (way < 0) replace(set, room, request, account);
  Way& state = set.ways[static_cast<std::size_t>(room)];
  state.valid = (state.valid | request.sectors) & 15U;
  const Ps done = below({.joined = when.joined, .through = start});
  set_ready(set, room, done);
  mshrs_.take(place.slice, done);
  return {.at = done};
}

}  // namespace weft::cache
