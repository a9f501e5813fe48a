#include "sim/cache/rows.h"

#include <algorithm>
#include <cmath>

#include "sim/core/rng.h"

namespace weft::cache {

// The weights (x + 1)^-s of n rows as areas under y^-s from 1 to n + 1, whose integral can be
// turned round: near enough to a Zipf law, and no table of n sums.
std::int64_t drawn_row(const Gather& gather, std::uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  const auto rows = static_cast<std::uint64_t>(gather.table_rows);
  if (gather.zipf <= 0) return static_cast<std::int64_t>((static_cast<Wide>(bits) * rows) >> 64U);
  const double u = static_cast<double>(bits >> 11U) * 0x1p-53;
  const double end = static_cast<double>(rows) + 1;
  const double power = 1 - gather.zipf;
  const double y = std::abs(power) < 1e-9 ? std::pow(end, u)
                                          : std::pow(1 + u * (std::pow(end, power) - 1), 1 / power);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(y) - 1, 0, gather.table_rows - 1);
}

RowCache::RowCache(std::int64_t rows) {
  constexpr std::int64_t kSet = kMaxWays;
  if (rows > 0) sets_.resize(static_cast<std::size_t>(std::max(rows, kSet) / kSet));
}

bool RowCache::look_up(std::uint64_t row) {
  if (sets_.empty()) return false;
  const std::uint64_t hash = mix64(row);
  Set& set = sets_[hash % sets_.size()];
  const auto tag = static_cast<Line>(hash / sets_.size() & INT32_MAX);
  int way = find(set, tag);
  const bool hit = way >= 0;
  if (!hit) {
    way = candidate(set, 0, kMaxWays, Replacement::lru);
    set.tags[static_cast<std::size_t>(way)] = tag + 1;
  }
  touch(set, way);
  return hit;
}

}  // namespace weft::cache
