// The cache model once more, slow and obvious: lists, sets, divisions, one request at a time. What
// it must agree on with sim/cache is everything: each time, each count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/cache/level.h"
#include "sim/cache/policy.h"
#include "sim/cache/sample.h"
#include "sim/cache/spec.h"

namespace weft::cache::reference {

using Number = std::int64_t;

// Where block n begins among `parts`: the fraction of n golden ratios, in 32 bits.
inline Number block_start(Number n, Number parts) {
  const Number fraction = n * 0x9E3779B1LL % (1LL << 32U);
  return fraction * parts / (1LL << 32U);
}
// Runs dealt in turn, each block of them beginning elsewhere.
inline std::pair<Number, Number> deal(Number line, Number parts, Number run) {
  const Number block = line / run / parts;
  const Number part = (line / run % parts + block_start(block, parts)) % parts;
  return {part, block * run + line % run};
}

using Sectors = std::set<int>;
inline Sectors sectors_of(unsigned mask) {
  Sectors set;
  for (int s = 0; s < 4; ++s) {
    if ((mask >> static_cast<unsigned>(s) & 1U) != 0) set.insert(s);
  }
  return set;
}
inline bool has_all(const Sectors& have, const Sectors& want) {
  return std::includes(have.begin(), have.end(), want.begin(), want.end());
}

struct Line {  // of a set
  Number line = 0;
  Sectors valid{};
  Sectors dirty{};
  int instruction = 0;
  bool used_again = false;
  Ps ready = 0;
  int way = 0;
};

struct Ask {
  Number line = 0;
  Sectors sectors{};
  int instruction = 0;
  int cu = 0;
};

struct Outcome {
  Ps at = 0;
  bool retry = false;
  std::optional<Line> evicted;
};

struct Moments {
  Ps joined = 0;
  Ps through = 0;
};

struct Rules {
  bool bypass_when_full = false;
  bool allocate = true;
  Ps patience = INT64_MAX;
};

class Level {
 public:
  Level(const LevelSpec& spec, Bytes line, Bytes sector) : spec_(spec), sector_(sector) {
    sets_ = spec.capacity.count() / line.count() / spec.ways / spec.slices;
  }
  struct At {
    Number slice;
    Number set;
  };
  [[nodiscard]] At place(Number cache, Number slice, Number number) const {
    return {cache * spec_.slices + slice, deal(number, sets_, 1).first};
  }

  Ps grant(Number slice, const Sectors& sectors, Moments when) {
    const Ps start = std::max(port_free_[slice], when.joined);
    const Number size = static_cast<Number>(sectors.size()) * sector_.count() * spec_.slices;
    port_free_[slice] = start + time_for(size, spec_.bandwidth.count()).count();
    return std::max(start, when.through);
  }

  template <class Below>
  Outcome load(At at, const Ask& ask, Moments when, Rules rules, LevelCounts& counts, Below below) {
    Ps start = grant(at.slice, ask.sectors, when);
    const auto found = find(at, ask.line);
    auto& set = lines_[{at.slice, at.set}];
    if (found) {
      set.splice(set.begin(), set, *found);
      (*found)->used_again = true;
      if (has_all((*found)->valid, ask.sectors)) {
        ++counts.loads;
        const bool late = (*found)->ready > start;
        ++(late ? counts.merged : counts.hits);
        const Ps hit = start + spec_.latency.count();
        return {late ? std::max(hit, (*found)->ready) : hit, false, {}};
      }
    }
    const bool no_line = !found && !has_room(at, start);
    if ((!found && !rules.allocate) || (no_line && rules.bypass_when_full)) {
      ++counts.loads;
      ++counts.bypasses;
      return {below(Moments{when.joined, start}), false, {}};
    }
    const bool full = no_line || in_use(at.slice, start) >= spec_.mshrs;
    if (full) {
      Ps until = start;
      if (in_use(at.slice, start) >= spec_.mshrs) until = first_end(at.slice);
      if (!found && !has_room(at, until)) until = first_arrival(at);
      wait(at.slice, start, until, counts);
      if (start > rules.patience) return {start, true, {}};
    }
    ++counts.loads;
    ++counts.misses;
    Outcome outcome;
    if (!found) outcome.evicted = insert(at, ask, start, counts);
    Line& line = set.front();
    line.valid.insert(ask.sectors.begin(), ask.sectors.end());
    outcome.at = below(Moments{when.joined, start});
    line.ready = std::max(line.ready, (outcome.at + 1023) / 1024 * 1024);
    // An MSHR ends with the tick of 8.192 ns in which the data come, within 2047 ticks.
    const Ps now = seen_[at.slice] / kTick;
    const Ps end = std::min(outcome.at / kTick + 1, now + 2047);
    if (end > now) mshrs_[at.slice].insert(end * kTick);
    return outcome;
  }

  struct Stored {
    Ps at;
    bool has_line;
    std::optional<Line> evicted;
  };
  Stored store(At at, const Ask& ask, Moments when, bool bypass_when_full, LevelCounts& counts) {
    Ps start = grant(at.slice, ask.sectors, when);
    ++counts.stores;
    auto& set = lines_[{at.slice, at.set}];
    std::optional<Line> evicted;
    if (const auto found = find(at, ask.line)) {
      set.splice(set.begin(), set, *found);
    } else {
      if (!has_room(at, start)) {
        if (bypass_when_full) {
          ++counts.bypasses;
          return {start, false, {}};
        }
        wait(at.slice, start, first_arrival(at), counts);
      }
      evicted = insert(at, ask, start, counts);
    }
    set.front().valid.insert(ask.sectors.begin(), ask.sectors.end());
    return {start, true, evicted};
  }
  Ps port_free(Number slice) { return port_free_[slice]; }
  // The line that the last store to this set wrote.
  void mark_dirty(At at, const Ask& ask) {
    lines_[{at.slice, at.set}].front().dirty.insert(ask.sectors.begin(), ask.sectors.end());
  }

  // All lines that are dirty, of one set number after another, slice by slice.
  std::map<std::pair<Number, Number>, std::list<Line>>& sets() { return lines_; }
  [[nodiscard]] Number slices() const { return spec_.slices; }
  [[nodiscard]] Ps latency() const { return spec_.latency.count(); }
  void forget() { lines_.clear(); }

 private:
  using Where = std::list<Line>::iterator;
  std::optional<Where> find(At at, Number line) {
    auto& set = lines_[{at.slice, at.set}];
    const auto found =
        std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.line == line; });
    if (found == set.end()) return std::nullopt;
    return found;
  }
  bool has_room(At at, Ps now) {
    const auto& set = lines_[{at.slice, at.set}];
    return std::ssize(set) < spec_.ways ||
           std::any_of(set.begin(), set.end(), [&](const Line& l) { return l.ready <= now; });
  }
  Ps first_arrival(At at) {
    Ps first = INT64_MAX;
    for (const Line& line : lines_[{at.slice, at.set}]) first = std::min(first, line.ready);
    return first;
  }
  // A slice's clock does not run backwards.
  Number in_use(Number slice, Ps now) {
    seen_[slice] = std::max(seen_[slice], now / kTick * kTick);
    auto& ends = mshrs_[slice];
    return static_cast<Number>(std::distance(ends.upper_bound(seen_[slice]), ends.end()));
  }
  Ps first_end(Number slice) { return *mshrs_[slice].upper_bound(seen_[slice]); }
  void wait(Number slice, Ps& start, Ps until, LevelCounts& counts) {
    counts.stalled += picoseconds(until - start);
    port_free_[slice] += until - start;
    start = until;
  }
  std::optional<Line> insert(At at, const Ask& ask, Ps now, LevelCounts& counts) {
    auto& set = lines_[{at.slice, at.set}];
    std::optional<Line> evicted;
    if (std::ssize(set) == spec_.ways) {
      auto last = std::prev(set.end());
      while (last->ready > now) --last;
      evicted = *last;
      if (!evicted->dirty.empty()) ++counts.write_backs;
      set.erase(last);
    }
    // Empty ways are taken from the last to the first.
    const int way = evicted ? evicted->way : spec_.ways - 1 - static_cast<int>(set.size());
    set.push_front({.line = ask.line, .instruction = ask.instruction, .way = way});
    return evicted;
  }

  static constexpr Ps kTick = 8192;
  LevelSpec spec_;
  Bytes sector_;
  Number sets_;
  std::map<Number, Ps> seen_;
  std::map<std::pair<Number, Number>, std::list<Line>> lines_;  // last used first
  std::map<Number, Ps> port_free_;
  std::map<Number, std::multiset<Ps>> mshrs_;  // when they end
};

class Dram {
 public:
  Dram(const DramSpec& spec, Bytes line, Bytes sector)
      : spec_(spec), line_(line), sector_(sector) {}

  struct At {
    Number channel;
    Number number;  // of the line in the channel
    bool operator<(const At& other) const {
      return std::pair(channel, number) < std::pair(other.channel, other.number);
    }
  };
  [[nodiscard]] Number row_of(At at) const { return at.number * line_.count() / spec_.row.count(); }

  Ps read(At at, const Sectors& sectors, Moments when) {
    counts.read += sector_ * std::ssize(sectors);
    return access(at, sectors, when) + spec_.latency.count();
  }
  Ps write(At at, const Sectors& sectors, Moments when) {
    counts.written += sector_ * std::ssize(sectors);
    return access(at, sectors, when);
  }
  Ps free_at(Number channel) { return channels_[channel].bus_free; }
  DramCounts counts;
  Ps idle_at = 0;

 private:
  struct Bank {
    Ps free = 0;
    std::optional<Number> open;
    std::vector<std::pair<Number, Number>> rows;  // and the last request; four at most
  };
  struct Channel {
    Ps bus_free = 0;
    Ps activate_free = 0;
    Number requests = 0;
    std::map<Number, Bank> banks;
  };

  Ps opening(Bank& bank, Number row, Number request, Ps now) {
    const bool closed = !bank.open || now > bank.free + spec_.close_after.count();
    if (closed) bank.rows.clear();
    for (auto& [known, last] : bank.rows) {
      if (known != row || (row != bank.open && request - last >= spec_.queue)) continue;
      ++counts.row_hits;
      last = request;
      return 0;
    }
    ++(closed ? counts.row_misses : counts.row_conflicts);
    std::erase_if(bank.rows, [&](const auto& known) { return known.first == row; });
    if (bank.rows.size() == 4) {
      bank.rows.erase(std::min_element(bank.rows.begin(), bank.rows.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; }));
    }
    bank.rows.emplace_back(row, request);
    bank.open = row;
    const Ps precharge = closed ? 0 : spec_.precharge.count();
    return precharge + spec_.activate.count();
  }

  Ps access(At at, const Sectors& sectors, Moments when) {
    Channel& channel = channels_[at.channel];
    const auto [bank_number, row] = deal(row_of(at), spec_.banks, 1);
    Bank& bank = channel.banks[bank_number];
    const Number size = std::ssize(sectors) * sector_.count() * spec_.channels;
    const Ps burst = time_for(size, spec_.bandwidth.count()).count();
    const Ps open = opening(bank, row, ++channel.requests, when.joined);
    Ps begin = when.joined;
    if (open > 0) {
      begin = std::max(channel.activate_free, begin);
      channel.activate_free = begin + spec_.activate_interval.count();
    }
    bank.free = std::max(bank.free, begin) + open + burst;
    channel.bus_free = std::max(channel.bus_free, when.joined) + burst;
    const Ps done = std::max({bank.free, channel.bus_free, when.through + open + burst});
    idle_at = std::max(idle_at, done);
    return done;
  }

  DramSpec spec_;
  Bytes line_;
  Bytes sector_;
  std::map<Number, Channel> channels_;
};

}  // namespace weft::cache::reference
