// Rows of tables: which one is asked for, and which of them a cache still holds.
#pragma once

#include <cstdint>

#include "sim/cache/accesses.h"
#include "sim/cache/line_array.h"

namespace weft::cache {

// A row of a table drawn by 64 random bits.
std::int64_t drawn_row(const Gather& gather, std::uint64_t bits);

// A cache of which a line is a whole row: sets of 16 rows, the least recently used goes first. No
// times: a row is there as soon as it was asked for.
class RowCache {
 public:
  // For so many rows, down to a multiple of 16. Fewer than 16 are 16; 0 keeps nothing.
  explicit RowCache(std::int64_t rows);

  // Whether the row was there; it is now. Rows are told apart by 31 bits of a hash beside their
  // set.
  bool look_up(std::uint64_t row);

 private:
  Sets sets_;
};

}  // namespace weft::cache
