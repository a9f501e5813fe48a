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
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/core/assert.h"

namespace weft::cache {

class DirtyRows {
 public:
  static constexpr std::uint32_t kShare = 4;  // of the lines, the part that may be dirty

  // Row r of list i has the number i * rows_of_list + r.
  DirtyRows(std::uint32_t lists, std::uint32_t rows_of_list, std::uint32_t most)
      : rows_(std::size_t{lists} * rows_of_list),
        lists_(lists),
        rows_of_list_(rows_of_list),
        most_(most) {
    SIM_ASSERT(rows_.size() < kNone);
    SIM_ASSERT(most_ > 0);
  }

  // The row that has to make room before this one may be marked, if any.
  [[nodiscard]] std::optional<std::uint32_t> in_the_way(std::uint32_t row) const {
    const List& list = lists_[row / rows_of_list_];
    if (rows_[row].dirty != 0 || list.count < most_) return std::nullopt;
    return list.oldest;
  }
  // Of a list, the row written longest ago.
  [[nodiscard]] std::optional<std::uint32_t> oldest(std::uint32_t list) const {
    if (lists_[list].count == 0) return std::nullopt;
    return lists_[list].oldest;
  }
  // When the last of its lines was written.
  [[nodiscard]] Ps written_at(std::uint32_t row) const { return rows_[row].written_at; }

  void mark(std::uint32_t row, std::uint32_t line, Ps now) {
    if (rows_[row].dirty != 0) unlink(row);
    append(row);
    rows_[row].dirty |= std::uint64_t{1} << line;
    rows_[row].written_at = now;
  }
  // The lines of a marked row that are, a bit each; none is from now on.
  std::uint64_t take(std::uint32_t row) {
    unlink(row);
    const std::uint64_t dirty = rows_[row].dirty;
    rows_[row].dirty = 0;
    return dirty;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Row {
    std::uint64_t dirty = 0;
    Ps written_at = 0;
    std::uint32_t older = kNone;  // of the list
    std::uint32_t newer = kNone;
  };
  struct List {
    std::uint32_t oldest = kNone;
    std::uint32_t newest = kNone;
    std::uint32_t count = 0;
  };

  void unlink(std::uint32_t row) {
    List& list = lists_[row / rows_of_list_];
    const Row& gone = rows_[row];
    (gone.older == kNone ? list.oldest : rows_[gone.older].newer) = gone.newer;
    (gone.newer == kNone ? list.newest : rows_[gone.newer].older) = gone.older;
    --list.count;
  }
  void append(std::uint32_t row) {
    List& list = lists_[row / rows_of_list_];
    rows_[row].older = list.newest;
    rows_[row].newer = kNone;
    (list.newest == kNone ? list.oldest : rows_[list.newest].newer) = row;
    list.newest = row;
    ++list.count;
  }

  std::vector<Row> rows_;
  std::vector<List> lists_;
  std::uint32_t rows_of_list_;
  std::uint32_t most_;
};

}  // namespace weft::cache
