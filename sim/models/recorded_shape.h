// A kernel of a recorded trace: its time and, if the recording tells, what it computes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/boxed.h"
#include "sim/core/quantity.h"

namespace weft {

enum class RecordedKind : std::uint8_t { gemm, attention, norm, elementwise, embedding, copy };
const char* name_of(RecordedKind kind);

// `batch` products C = A B, C of m x n, on each GPU.
struct RecordedGemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  // Tile of the kernel, from its name; 0: the name does not tell.
  int tile_m = 0;
  int tile_n = 0;
  int split_k = 1;
  bool operator==(const RecordedGemm&) const = default;
};

// As AttentionShape has them; small, as there may be many.
struct RecordedAttention {
  std::int32_t batch = 1;
  std::int32_t heads = 0;
  std::int32_t kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t value_head_dim = 0;
  std::int32_t queries = 0;
  std::int32_t keys = 0;
  bool causal = false;
  bool backward = false;
  bool operator==(const RecordedAttention&) const = default;
};

// From the shapes of the operator that launched the kernel: each operand is read once, each result
// written once.
struct RecordedWork {
  RecordedKind kind = RecordedKind::elementwise;
  Flops flops{};
  Bytes read{};
  Bytes written{};
  std::int64_t element_bytes = 2;
  bool matrix = false;    // its flops run on the matrix units
  std::int64_t rows = 0;  // of an embedding's result, which is made row by row
  std::optional<RecordedGemm> gemm = {};
  std::optional<RecordedAttention> attention = {};
  bool operator==(const RecordedWork&) const = default;
};

// What one rank's kernel did: beside an uneven all-to-all, ranks have grids and work of their own.
struct RecordedOfRank {
  Duration time;
  std::int64_t wgs = 1;
  Boxed<RecordedWork> work = {};  // absent: as the first rank's
  bool operator==(const RecordedOfRank&) const = default;
};

struct RecordedShape {
  Duration time;                             // of the slowest rank
  std::vector<RecordedOfRank> by_rank = {};  // in its group, if ranks are joined; else empty
  std::int64_t wgs = 1;
  int threads = 256;
  int registers_per_thread = 32;
  Bytes lds;
  Boxed<RecordedWork> work = {};
  // Other kernels ran concurrently when it was recorded: what they cost it is part of its time.
  bool beside = false;
  // Not a kernel: the host was at work for `time` before it launched what waits for this.
  bool host = false;
  bool operator==(const RecordedShape&) const = default;

  [[nodiscard]] RecordedShape of_rank(std::size_t rank) const;
};

// Whether they are equal except for their times and what ran concurrently.
bool same_kernel(const RecordedShape& a, const RecordedShape& b);

// The same except for their grids and how much they do; GEMMs also of other tiles.
bool same_but_for_size(const RecordedShape& a, const RecordedShape& b);

}  // namespace weft
