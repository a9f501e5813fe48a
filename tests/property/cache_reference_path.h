// The way of a request through all levels, slow and obvious. See cache_reference.h.
#pragma once

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "tests/property/cache_reference.h"

namespace weft::cache::reference {

class Path {
 public:
  Path(const Hierarchy& hierarchy, const Policy& policy)
      : machine_(hierarchy),
        policy_(policy),
        l1_(hierarchy.l1, hierarchy.line, hierarchy.sector),
        l2_(hierarchy.l2, hierarchy.line, hierarchy.sector),
        dram_(hierarchy.dram, hierarchy.line, hierarchy.sector) {
    if (hierarchy.side) side_.emplace(*hierarchy.side, hierarchy.line, hierarchy.sector);
    reuse_.fill(15);
  }

  Outcome load(const Ask& ask, Ps now, Ps patience) {
    if (policy_.loads == Loads::bypass) {
      ++counts.l1.loads, ++counts.l1.bypasses, ++counts.l2.loads, ++counts.l2.bypasses;
      const Ps left = l1_.grant(ask.cu, ask.sectors, {now, now});
      const Ps through = l2_.grant(l2_at(die_of(ask), ask.line).slice, ask.sectors, {left, left});
      return {memory_load(ask, {left, through}), false, {}};
    }
    return l1_.load(l1_.place(ask.cu, 0, ask.line), ask, {now, now},
                    {policy_.allocation_bypass, true, patience}, counts.l1, [&](Moments at) {
                      return load_l2(die_of(ask), ask, {at.through, at.through}, counts.l2);
                    });
  }

  Ps store(const Ask& ask, Ps now) {
    ++counts.l1.stores, ++counts.l1.bypasses;
    const Ps left = l1_.grant(ask.cu, ask.sectors, {now, now});
    const Number die = has_home() ? home_of(ask.line) : die_of(ask);
    const Level::At at = l2_at(die, ask.line);
    if (policy_.stores == Stores::bypass) {
      ++counts.l2.stores, ++counts.l2.bypasses;
      const Ps through = l2_.grant(at.slice, ask.sectors, {left, left});
      return memory_store(ask.line, ask.sectors, {left, through});
    }
    rinse_idle(dram_at(ask.line).channel, left);
    const bool dirty = policy_.stores == Stores::write_back;
    const Level::Stored stored =
        l2_.store(at, ask, {left, left}, policy_.allocation_bypass, counts.l2);
    const Moments taken{left, stored.at};
    if (stored.evicted) evict(die, *stored.evicted, taken);
    if (!dirty || !stored.has_line) return memory_store(ask.line, ask.sectors, taken);
    remember(die, ask.line, taken);
    l2_.mark_dirty(at, ask);  // after the rinses: its row may be one that was written back
    return stored.at + l2_.latency();
  }

  Ps end_kernel(Ps now) {
    for (Number channel = 0; channel < machine_.dram.channels; ++channel) rinse_idle(channel, now);
    const Number sets = machine_.l2.capacity.count() / machine_.line.count() / machine_.l2.ways /
                        machine_.l2.slices;
    for (Number set = 0; set < sets; ++set) {
      for (Number slice = 0; slice < machine_.l2.slices; ++slice) {
        for (Number die = 0; die < machine_.dies; ++die) flush(die, slice, set, now);
      }
    }
    return std::max({now, last_write_, dram_.idle_at});
  }

  [[nodiscard]] Sample result() const {
    Sample all = counts;
    all.dram = dram_.counts;
    return all;
  }
  void forget_l1() { l1_.forget(); }

 private:
  [[nodiscard]] bool has_home() const {
    return machine_.dies > 1 && machine_.l2_dies == Dies::home;
  }
  [[nodiscard]] Number die_of(const Ask& ask) const { return ask.cu % machine_.dies; }
  [[nodiscard]] Dram::At dram_at(Number line) const {
    const auto [channel, number] =
        deal(line, machine_.dram.channels, machine_.interleave.count() / machine_.line.count());
    return {channel, number};
  }
  [[nodiscard]] Number home_of(Number line) const {
    return dram_at(line).channel / (machine_.dram.channels / machine_.dies);
  }
  // Neighbouring channels of a die share a slice; each line of a slice has a number of its own.
  [[nodiscard]] Level::At l2_at(Number die, Number line) const {
    const Dram::At at = dram_at(line);
    const Number homes = has_home() ? machine_.dies : 1;
    const Number of_home = machine_.dram.channels / homes;
    const Number in_slice = of_home / machine_.l2.slices;
    const Number in_home = at.channel % of_home;
    const Number rank = at.channel / of_home * in_slice + in_home % in_slice;
    return l2_.place(die, in_home / in_slice, at.number * in_slice * homes + rank);
  }
  [[nodiscard]] Level::At side_at(Number line) const {
    const Dram::At at = dram_at(line);
    const Number in_slice = machine_.dram.channels / machine_.side->slices;
    return side_->place(0, at.channel / in_slice, at.number * in_slice + at.channel % in_slice);
  }

  Ps load_l2(Number die, const Ask& ask, Moments when, LevelCounts& level) {
    rinse_idle(dram_at(ask.line).channel, when.joined);
    const Level::At at = l2_at(die, ask.line);
    const Number index =
        (die * sets_of_l2() + at.set) * machine_.l2.slices + at.slice % machine_.l2.slices;
    const bool no_use = policy_.pc_bypass &&
                        reuse_[static_cast<std::size_t>(ask.instruction)] == 0 && index % 32 != 0;
    const Outcome outcome =
        l2_.load(at, ask, when, {policy_.allocation_bypass, !no_use}, level, [&](Moments below) {
          const Number home = has_home() ? home_of(ask.line) : die;
          if (home == die) return memory_load(ask, below);
          return load_l2(home, ask, below, counts.home) + machine_.die_to_die.count();
        });
    if (outcome.evicted) evict(die, *outcome.evicted, when);
    return outcome.at;
  }
  [[nodiscard]] Number sets_of_l2() const {
    return machine_.l2.capacity.count() / machine_.line.count() / machine_.l2.ways /
           machine_.l2.slices;
  }

  void evict(Number die, const Line& line, Moments when) {
    if (policy_.pc_bypass) {
      int& reuse = reuse_[static_cast<std::size_t>(line.instruction)];
      reuse = line.used_again ? std::min(reuse + 4, 15) : std::max(reuse - 1, 0);
    }
    if (!line.dirty.empty()) write_back(die, line.line, line.dirty, when);
  }

  void write_back(Number die, Number line, const Sectors& dirty, Moments when) {
    memory_store(line, dirty, when);
    const Dram::At at = dram_at(line);
    auto& rows = dirty_rows_[{die, at.channel}];
    const Number row = dram_.row_of(at);
    const auto mine = [row](const DirtyRow& other) { return other.row == row; };
    if (std::erase_if(rows, mine) > 0) rinse(die, at.channel, row, when);
  }

  // Rows with dirty lines of a channel in a die, the one written longest ago first.
  struct DirtyRow {
    Number row = 0;
    Ps written_at = 0;
    std::set<Number> lines{};
  };
  // At most a quarter of the lines that the die's L2 has for the channel.
  [[nodiscard]] Number most_lines() const {
    const Number lines = machine_.l2.capacity.count() / machine_.line.count();
    const Number channels = machine_.dram.channels / (has_home() ? machine_.dies : 1);
    return std::max<Number>(lines / channels / 4, 1);
  }
  void remember(Number die, Number line, Moments when) {
    if (!policy_.cache_rinse) return;
    const Dram::At at = dram_at(line);
    auto& rows = dirty_rows_[{die, at.channel}];
    const auto mine = [row = dram_.row_of(at)](const DirtyRow& other) { return other.row == row; };
    const auto known = std::find_if(rows.begin(), rows.end(), mine);
    const bool is_new = known == rows.end() || !known->lines.contains(line);
    Number dirty = 0;
    for (const DirtyRow& other : rows) dirty += std::ssize(other.lines);
    if (is_new && dirty == most_lines()) {
      const Number oldest = rows.front().row;
      rows.pop_front();
      rinse(die, at.channel, oldest, when);
    }
    DirtyRow row{.row = dram_.row_of(at)};
    if (const auto old = std::find_if(rows.begin(), rows.end(), mine); old != rows.end()) {
      row = *old;
      rows.erase(old);
    }
    row.written_at = when.through;
    row.lines.insert(line);
    rows.push_back(row);
  }
  void rinse_idle(Number channel, Ps now) {
    for (Number die = 0; die < machine_.dies; ++die) {
      auto& rows = dirty_rows_[{die, channel}];
      while (!rows.empty()) {
        const DirtyRow oldest = rows.front();
        Ps start = std::max(dram_.free_at(channel), oldest.written_at);
        if (side_) {
          const Number in_slice = machine_.dram.channels / machine_.side->slices;
          start = std::max(start, side_->port_free(channel / in_slice));
        }
        if (start >= now) break;
        rows.pop_front();
        rinse(die, channel, oldest.row, {start, start});
      }
    }
  }
  // Writes the dirty lines of a row back, in the order of the row.
  void rinse(Number die, Number channel, Number row, Moments when) {
    std::map<Number, Line*> lines;
    for (auto& [where, set] : l2_.sets()) {
      if (where.first / machine_.l2.slices != die) continue;
      for (Line& line : set) {
        const Dram::At at = dram_at(line.line);
        if (line.dirty.empty() || at.channel != channel || dram_.row_of(at) != row) continue;
        lines[at.number] = &line;
      }
    }
    for (auto& [number, line] : lines) {
      ++counts.l2.write_backs;
      memory_store(line->line, line->dirty, when);
      line->dirty.clear();
    }
  }

  void flush(Number die, Number slice, Number set, Ps now) {
    const auto found = l2_.sets().find({die * machine_.l2.slices + slice, set});
    if (found == l2_.sets().end()) return;
    for (int way = 0; way < machine_.l2.ways; ++way) {
      for (Line& line : found->second) {
        if (line.way != way || line.dirty.empty()) continue;
        const Sectors dirty = line.dirty;
        line.dirty.clear();
        ++counts.l2.write_backs;
        write_back(die, line.line, dirty, {now, now});
      }
    }
  }

  Ps memory_load(const Ask& ask, Moments when) {
    const auto from_dram = [&](Moments at) {
      return dram_.read(dram_at(ask.line), ask.sectors, at);
    };
    if (!side_) return from_dram(when);
    const Outcome outcome = side_->load(side_at(ask.line), ask, when, {}, counts.side, from_dram);
    if (outcome.evicted) evict_side(*outcome.evicted, when);
    return outcome.at;
  }
  Ps memory_store(Number line, const Sectors& sectors, Moments when) {
    Ps taken = 0;
    if (!side_) {
      taken = dram_.write(dram_at(line), sectors, when);
    } else {
      const Ask ask{.line = line, .sectors = sectors};
      const Level::Stored stored = side_->store(side_at(line), ask, when, false, counts.side);
      side_->mark_dirty(side_at(line), ask);
      taken = stored.at;
      if (stored.evicted) evict_side(*stored.evicted, when);
    }
    last_write_ = std::max(last_write_, taken);
    return taken;
  }
  void evict_side(const Line& line, Moments when) {
    if (!line.dirty.empty()) dram_.write(dram_at(line.line), line.dirty, when);
  }

  Hierarchy machine_;
  Policy policy_;
  Level l1_;
  Level l2_;
  std::optional<Level> side_;
  Dram dram_;
  std::array<int, 64> reuse_{};
  std::map<std::pair<Number, Number>, std::list<DirtyRow>> dirty_rows_;  // of {die, channel}
  Ps last_write_ = 0;
  Sample counts;
};

}  // namespace weft::cache::reference
