// Sets of the sectors of a line: a bit each.
#pragma once

#include <array>
#include <cstdint>

namespace weft::cache {

constexpr unsigned kMaxSectors = 4;
constexpr std::size_t kMasks = 1U << kMaxSectors;

// How many sectors are in a mask.
inline constexpr std::array<std::int64_t, kMasks> kSectorsOf{0, 1, 1, 2, 1, 2, 2, 3,
                                                             1, 2, 2, 3, 2, 3, 3, 4};

}  // namespace weft::cache
