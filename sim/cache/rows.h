// Rows of tables: which one is looked up, and which of them a cache still holds.
#pragma once

#include <cstdint>

#include "sim/cache/accesses.h"
#include "sim/cache/line_array.h"

namespace weft::cache {

// Draws rows of a table by Zipf's law: rejection-inversion (Hörmann, Derflinger:
// Rejection-inversion to generate variates from monotone discrete distributions, ACM TOMACS 6(3),
// 1996), exact except for the rounding of logarithms and powers, and without a table of sums.
class RowDraw {
 public:
  explicit RowDraw(const Gather& gather);

  // The row of 64 random bits; the same bits, the same row.
  [[nodiscard]] std::int64_t row(std::uint64_t bits) const;

 private:
  [[nodiscard]] double area(double x) const;  // under y^-zipf from 1 to x
  [[nodiscard]] double end_of_area(double area) const;

  std::int64_t rows_;
  double zipf_;
  double least_ = 0;  // areas drawn from
  double most_ = 0;
  double surely_ = 0;  // a number that was rounded up by no more than this is taken
};

// A cache of which a line is a whole row: sets of 16 rows, the least recently used goes first. No
// times: a row is present as soon as it is requested.
class RowCache {
 public:
  // For this many rows; above 16, rounded down to a multiple of 16.
  explicit RowCache(std::int64_t rows);

  // Whether the row was there; it is now. Rows are identified by 31 bits of a hash and their
  // set.
  bool look_up(std::uint64_t row);
  void forget();
  [[nodiscard]] std::int64_t rows() const {
    return static_cast<std::int64_t>(sets_.size()) * ways_;
  }

 private:
  int ways_;
  Sets sets_;
};

}  // namespace weft::cache
