// DirtyRows: which lines of each DRAM row are dirty in an L2, for a bounded number of rows.
//
// After the dirty-block index (Seshadri et al., "The Dirty-Block Index", ISCA 2014): a list for
// each channel of a die remembers as many rows as a quarter of the lines that the die's L2 has for
// the channel. A store to one row more drives out the row written longest ago. So at most a quarter
// of the L2 is dirty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/core/assert.h"

namespace weft::cache {

class DirtyRows {
 public:
  static constexpr std::uint32_t kShare = 4;  // of the lines, the part that may be dirty

  // Row r of list i has the number i * rows_of_list + r.
  DirtyRows(std::uint32_t lists, std::uint32_t rows_of_list, std::uint32_t most)
      : slot_of_(std::size_t{lists} * rows_of_list),
        slots_(std::size_t{lists} * most),
        lists_(lists),
        rows_of_list_(rows_of_list),
        most_(most) {
    SIM_ASSERT(0 < most_ && most_ < UINT16_MAX);
    SIM_ASSERT(slots_.size() < kNone);
  }

  [[nodiscard]] bool any() const { return count_ > 0; }
  // The row that has to make room before this one may be marked, if any.
  [[nodiscard]] std::optional<std::uint32_t> in_the_way(std::uint32_t row) const {
    const std::uint32_t list = row / rows_of_list_;
    if (slot_of_[row] != 0 || lists_[list].count < most_) return std::nullopt;
    return oldest(list);
  }
  // Of a list, the row written longest ago.
  [[nodiscard]] std::optional<std::uint32_t> oldest(std::uint32_t list) const {
    if (lists_[list].count == 0) return std::nullopt;
    return slots_[lists_[list].oldest].row;
  }
  // When the last line of a marked row was written.
  [[nodiscard]] Ps written_at(std::uint32_t row) const { return slots_[slot(row)].written_at; }

  void mark(std::uint32_t row, std::uint32_t line, Ps now) {
    if (slot_of_[row] == 0) {
      take_slot(row);
    } else {
      unlink(slot(row));
    }
    Slot& marked = slots_[slot(row)];
    append(slot(row));
    marked.dirty |= std::uint64_t{1} << line;
    marked.written_at = now;
  }
  // The lines of a marked row that are, a bit each; none is from now on.
  std::uint64_t take(std::uint32_t row) {
    const std::uint32_t gone = slot(row);
    unlink(gone);
    List& list = lists_[row / rows_of_list_];
    slots_[gone].newer = list.free;
    list.free = gone;
    --list.count;
    --count_;
    slot_of_[row] = 0;
    return std::exchange(slots_[gone].dirty, 0);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::uint64_t dirty = 0;
    Ps written_at = 0;
    std::uint32_t row = 0;
    std::uint32_t older = kNone;  // of the list
    std::uint32_t newer = kNone;  // or the next free one
  };
  struct List {
    std::uint32_t oldest = kNone;
    std::uint32_t newest = kNone;
    std::uint32_t free = kNone;  // slots that were used before
    std::uint32_t used = 0;      // slots that ever were
    std::uint32_t count = 0;
  };

  [[nodiscard]] std::uint32_t slot(std::uint32_t row) const {
    return row / rows_of_list_ * most_ + slot_of_[row] - 1;
  }
  void take_slot(std::uint32_t row) {
    const std::uint32_t number = row / rows_of_list_;
    List& list = lists_[number];
    SIM_ASSERT(list.count < most_);
    std::uint32_t taken = list.free;
    if (taken == kNone) {
      taken = number * most_ + list.used++;
    } else {
      list.free = slots_[taken].newer;
    }
    slots_[taken].row = row;
    slot_of_[row] = static_cast<std::uint16_t>(taken - number * most_ + 1);
    ++list.count;
    ++count_;
  }
  void unlink(std::uint32_t slot) {
    const Slot& gone = slots_[slot];
    List& list = lists_[gone.row / rows_of_list_];
    (gone.older == kNone ? list.oldest : slots_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? list.newest : slots_[gone.newer].older) = gone.older;
  }
  void append(std::uint32_t slot) {
    List& list = lists_[slots_[slot].row / rows_of_list_];
    slots_[slot].older = list.newest;
    slots_[slot].newer = kNone;
    (list.newest == kNone ? list.oldest : slots_[list.newest].newer) = slot;
    list.newest = slot;
  }

  std::vector<std::uint16_t> slot_of_;  // each row's among those of its list, + 1; 0: not marked
  std::vector<Slot> slots_;             // `most` a list
  std::vector<List> lists_;
  std::uint32_t rows_of_list_;
  std::uint32_t most_;
  std::uint32_t count_ = 0;  // of all lists
};

}  // namespace weft::cache
