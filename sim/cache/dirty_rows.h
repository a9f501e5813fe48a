// DirtyRows: which lines of each DRAM row are dirty in an L2, for a bounded number of rows.
//
// After the dirty-block index (Seshadri et al., "The Dirty-Block Index", ISCA 2014). There is a
// list of rows for each channel of a die. Where a list is full, a store to one row more drives out
// the row written longest ago.
#pragma once

#include <algorithm>
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
  struct Size {
    std::uint32_t lists;
    std::uint32_t rows_of_list;  // that there are; row r of list i has the number i * these + r
    std::uint32_t most;          // of a list that may be dirty at once
  };
  // The paper's: as many rows as a quarter of the cache's lines would fill.
  static constexpr std::uint32_t most_rows(std::uint32_t lines, std::uint32_t lines_of_a_row) {
    return std::max(lines / 4 / lines_of_a_row, std::uint32_t{1});
  }

  explicit DirtyRows(const Size& size)
      : slot_of_(std::size_t{size.lists} * size.rows_of_list),
        slots_(std::size_t{size.lists} * size.most),
        lists_(size.lists),
        rows_of_list_(size.rows_of_list),
        most_(size.most) {
    SIM_ASSERT(most_ > 0);
    SIM_ASSERT(slot_of_.size() < kNone);
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
  [[nodiscard]] Ps written_at(std::uint32_t row) const {
    return slots_[slot_index(row)].written_at;
  }

  void mark(std::uint32_t row, std::uint32_t line, Ps now) {
    SIM_ASSERT(line < 64);
    if (slot_of_[row] == 0) {
      take_slot(row);
    } else {
      unlink(slot_index(row));
    }
    Slot& marked = slots_[slot_index(row)];
    append(slot_index(row));
    marked.dirty |= std::uint64_t{1} << line;
    marked.written_at = now;
  }
  // The dirty lines of a marked row, a bit each; the row is then no longer marked.
  std::uint64_t take(std::uint32_t row) {
    const std::uint32_t gone = slot_index(row);
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

  [[nodiscard]] std::uint32_t slot_index(std::uint32_t row) const {
    SIM_ASSERT(slot_of_[row] != 0);
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
    slot_of_[row] = taken - number * most_ + 1;
    ++list.count;
    ++count_;
  }
  void unlink(std::uint32_t index) {
    const Slot& gone = slots_[index];
    List& list = lists_[gone.row / rows_of_list_];
    (gone.older == kNone ? list.oldest : slots_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? list.newest : slots_[gone.newer].older) = gone.older;
  }
  void append(std::uint32_t index) {
    List& list = lists_[slots_[index].row / rows_of_list_];
    slots_[index].older = list.newest;
    slots_[index].newer = kNone;
    (list.newest == kNone ? list.oldest : slots_[list.newest].newer) = index;
    list.newest = index;
  }

  std::vector<std::uint32_t> slot_of_;  // each row's among those of its list, + 1; 0: not marked
  std::vector<Slot> slots_;             // `most` a list
  std::vector<List> lists_;
  std::uint32_t rows_of_list_;
  std::uint32_t most_;
  std::uint32_t count_ = 0;  // of all lists
};

}  // namespace weft::cache
