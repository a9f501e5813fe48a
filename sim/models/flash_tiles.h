// FlashAttention's tiles, from its source and from profiles: queries, and keys of heads of up to 64
// and of more elements. One that splits keys has few queries; FlashAttention-2 has the other for
// keys that are neither split nor in pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

struct FlashTile {
  std::int64_t rows;
  std::int64_t keys_of_64;  // of heads of at most 64 elements, 128 and more
  std::int64_t keys_of_128;
  std::int64_t keys_of_more;
  int stages;  // blocks of keys and of values in shared memory
  int threads;
  int registers;  // of a thread
};
inline constexpr FlashTile kSplitTile{64, 256, 128, 64, 1, 128, 250};
inline constexpr FlashTile kWholeTile{128, 128, 64, 64, 1, 128, 250};
inline constexpr FlashTile kFlash3Tile{64, 128, 128, 80, 2, 256, 168};

// Keys of a block.
inline std::int64_t keys_of(const FlashTile& tile, std::int64_t head_dim) {
  if (head_dim <= 64) return tile.keys_of_64;
  return head_dim <= 128 ? tile.keys_of_128 : tile.keys_of_more;
}

// Its WG: the queries and the stages' keys and values, of 2 bytes, lie in shared memory.
inline WgShape wg_of(const FlashTile& tile, std::int64_t head_dim, const GpuSpec& gpu) {
  const std::int64_t vectors = tile.rows + 2 * tile.stages * keys_of(tile, head_dim);
  return {.threads = tile.threads,
          .registers_per_thread = tile.registers,
          .lds = bytes(std::min(gpu.cu.lds.count(), vectors * head_dim * 2)),
          .loads_in_flight = 16};
}

}  // namespace weft
