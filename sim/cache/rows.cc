#include "sim/cache/rows.h"

#include <algorithm>
#include <cmath>

#include "sim/core/rng.h"

namespace weft::cache {

namespace {

// (e^z - 1) / z and ln(1 + z) / z, also where z is nearly 0.
double grown(double z) { return std::abs(z) > 1e-8 ? std::expm1(z) / z : 1 + z / 2; }
double shrunk(double z) { return std::abs(z) > 1e-8 ? std::log1p(z) / z : 1 - z / 2; }

}  // namespace

RowDraw::RowDraw(const Gather& gather) : rows_(gather.table_rows), zipf_(gather.zipf) {
  if (zipf_ <= 0) return;
  least_ = area(1.5) - 1;
  most_ = area(static_cast<double>(rows_) + 0.5);
  surely_ = 2 - end_of_area(area(2.5) - std::pow(2, -zipf_));
}

double RowDraw::area(double x) const {
  const double log = std::log(x);
  return grown((1 - zipf_) * log) * log;
}

double RowDraw::end_of_area(double area) const {
  return std::exp(shrunk((1 - zipf_) * area) * area);
}

std::int64_t RowDraw::row(std::uint64_t bits) const {
  __extension__ using Wide = unsigned __int128;
  if (zipf_ <= 0) {
    return static_cast<std::int64_t>((static_cast<Wide>(bits) * static_cast<Wide>(rows_)) >> 64U);
  }
  const auto last = static_cast<double>(rows_);
  // Each row has the area of its weight, below the curve around its number; what lies outside of it
  // is drawn again.
  for (;; bits = mix64(bits + 0x9E3779B97F4A7C15ULL)) {
    const double drawn = most_ + static_cast<double>(bits >> 11U) * 0x1p-53 * (least_ - most_);
    const double x = end_of_area(drawn);
    const double number = std::clamp(std::floor(x + 0.5), 1.0, last);
    if (number - x <= surely_ || drawn >= area(number + 0.5) - std::pow(number, -zipf_)) {
      return static_cast<std::int64_t>(number) - 1;
    }
  }
}

RowCache::RowCache(std::int64_t rows)
    : ways_(static_cast<int>(std::min<std::int64_t>(rows, kMaxWays))) {
  if (rows > 0) sets_.resize(static_cast<std::size_t>(rows / ways_));
}

void RowCache::forget() { std::fill(sets_.begin(), sets_.end(), Set{}); }

bool RowCache::look_up(std::uint64_t row) {
  if (sets_.empty()) return false;
  const std::uint64_t hash = mix64(row);
  Set& set = sets_[hash % sets_.size()];
  const auto tag = static_cast<Line>(hash / sets_.size() & INT32_MAX);
  int way = find(set, tag);
  const bool hit = way >= 0;
  if (!hit) {
    way = candidate(set, 0, ways_, Replacement::lru);
    set.tags[static_cast<std::size_t>(way)] = tag + 1;
  }
  touch(set, way);
  return hit;
}

}  // namespace weft::cache
