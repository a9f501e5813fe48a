// DirtyRows: which lines of each DRAM row are dirty in an L2, for a bounded number of lines.
//
// After the dirty-block index (Seshadri et al., "The Dirty-Block Index", ISCA 2014). There is a
// list of rows for each channel of a die. If it is full, a store to one more line evicts the
// row written longest ago. The paper's index is full of rows, however few lines of them are dirty;
// stores down a column then evict rows that the next ones write again.
#pragma once

#include <algorithm>
#include <bit>
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
    std::uint32_t most;          // lines of a list that may be dirty at once
  };
  // The paper's: a quarter of the cache's lines.
  static constexpr std::uint32_t most_of(std::uint32_t lines) {
    return std::max(lines / 4, std::uint32_t{1});
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

  [[nodiscard]] bool any() const { return lines_ > 0; }
  // The row that has to be evicted before this line can be marked, if any; it may be the line's
  // own.
  [[nodiscard]] std::optional<std::uint32_t> in_the_way(std::uint32_t row,
                                                        std::uint32_t line) const {
    const std::uint32_t list = row / rows_of_list_;
    if (lists_[list].lines < most_ || is_marked(row, line)) return std::nullopt;
    return oldest(list);
  }
  // Of a list, the row written longest ago.
  [[nodiscard]] std::optional<std::uint32_t> oldest(std::uint32_t list) const {
    if (lists_[list].lines == 0) return std::nullopt;
    return slots_[lists_[list].oldest].row;
  }
  // When the last line of a marked row was written.
  [[nodiscard]] Ps written_at(std::uint32_t row) const {
    return slots_[slot_index(row)].written_at;
  }

  void mark(std::uint32_t row, std::uint32_t line, Ps now) {
    SIM_ASSERT(line < 64);
    List& list = lists_[row / rows_of_list_];
    const bool is_new = !is_marked(row, line);
    list.lines += static_cast<std::uint32_t>(is_new);
    lines_ += static_cast<std::uint32_t>(is_new);
    SIM_ASSERT(list.lines <= most_);
    if (slot_of_[row] == 0) {
      take_slot(row);
    } else {
      unlink(slot_index(row));
    }
    const std::uint32_t index = slot_index(row);
    append(index);
    slots_[index].dirty |= std::uint64_t{1} << line;
    slots_[index].written_at = now;
  }
  // The dirty lines of a marked row, a bit each; the row is then no longer marked.
  std::uint64_t take(std::uint32_t row) {
    const std::uint32_t gone = slot_index(row);
    unlink(gone);
    List& list = lists_[row / rows_of_list_];
    slots_[gone].newer = list.free;
    list.free = gone;
    slot_of_[row] = 0;
    const std::uint64_t dirty = std::exchange(slots_[gone].dirty, 0);
    const auto lines = static_cast<std::uint32_t>(std::popcount(dirty));
    list.lines -= lines;
    lines_ -= lines;
    return dirty;
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
    std::uint32_t lines = 0;     // that are marked
  };

  [[nodiscard]] bool is_marked(std::uint32_t row, std::uint32_t line) const {
    return slot_of_[row] != 0 && (slots_[slot_index(row)].dirty >> line & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t slot_index(std::uint32_t row) const {
    SIM_ASSERT(slot_of_[row] != 0);
    return row / rows_of_list_ * most_ + slot_of_[row] - 1;
  }
  void take_slot(std::uint32_t row) {
    const std::uint32_t number = row / rows_of_list_;
    List& list = lists_[number];
    std::uint32_t taken = list.free;
    if (taken == kNone) {
      taken = number * most_ + list.used++;
    } else {
      list.free = slots_[taken].newer;
    }
    slots_[taken].row = row;
    slot_of_[row] = taken - number * most_ + 1;
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
  std::vector<Slot> slots_;             // `most` a list, for rows of one line each
  std::vector<List> lists_;
  std::uint32_t rows_of_list_;
  std::uint32_t most_;
  std::uint32_t lines_ = 0;  // of all lists
};

}  // namespace weft::cache
