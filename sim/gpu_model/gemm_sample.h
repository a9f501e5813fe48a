// What a GEMM reads from the HBM according to the cache model: its tiles are walked through the L2s
// and the side cache of a GPU that has `caches`, panel by panel (docs/model.md, "GEMM").
//
// A panel is what a WG loads of A or of B for one step of k; the model's cache lines are as long as
// panels allow, so that 100,000 of them give what millions would. Each distinct GEMM is sampled
// once per process, and the answer is kept.
#pragma once

#include <cstdint>

#include "sim/cache/accesses.h"
#include "sim/cache/spec.h"
#include "sim/core/quantity.h"

namespace weft {

// The tiles of a GEMM and how the WGs of one GPU take them.
struct GemmTiles {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t together = 1;  // rows whose tiles are walked column by column
  std::int64_t split_k = 1;
  std::int64_t row_bytes = 0;  // of A: k elements
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t element_bytes = 0;  // of C
  int cus = 0;
  int wgs_per_cu = 1;
  Duration arithmetic{};       // of a WG, with all its neighbours at work
  std::int64_t in_flight = 0;  // bytes of a WG
  Bandwidth beside{};          // other traffic that passes through the L2s during the GEMM
  bool operator==(const GemmTiles&) const = default;
};

// HBM bytes that all WGs of the GEMM read, without those of the other traffic (`beside`).
Bytes sampled_traffic(const GemmTiles& tiles, const cache::Hierarchy& caches);

// What sampled_traffic() walks, and through which caches.
struct GemmSample {
  cache::Hierarchy caches;
  cache::Application application;
  std::int64_t wgs = 0;  // how many are walked
};
GemmSample gemm_sample(const GemmTiles& tiles, const cache::Hierarchy& caches);

}  // namespace weft
