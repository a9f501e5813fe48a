// Rows at random places of tables: how many of them the caches still hold (docs/model.md,
// "Gathers"). What a step of them takes is in sim/gpu_model/gather_law.h.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gather_law.h"
#include "sim/scenario/scenario.h"

namespace weft {

// In which order a kernel's WGs come to the tables, and how far apart they are at one time.
struct GatherWalk {
  TableWalk walk = TableWalk::by_table;
  std::int64_t tables = 0;
  std::int64_t rows_per_table = 0;
  double zipf = 0;  // row x of a table has the weight (x + 1)^-zipf
  std::int64_t row_bytes = 0;
  std::int64_t wgs = 0;             // of the kernel on one GPU
  std::int64_t wgs_of_a_table = 0;  // by_table: that come one after another
  std::int64_t rows_per_wg = 0;     // pooled rows of one WG
  std::int64_t rows_at_once = 0;    // of them
  std::int64_t pooling = 0;
  double in_flight = 1;     // rows that a thread has on their way at once
  int on_cu = 0;            // WGs that run at once on a CU
  bool fences = false;      // a WG that has made its pooled rows empties its CU's L1
  bool l2_is_warm = false;  // from earlier lookups like these
  double unevenness = 0;    // spread of the CUs' speeds: standard deviation / mean
  double streamed = 0;      // bytes that pass through the L2s beside it, for one that is looked up
  bool operator==(const GatherWalk&) const = default;
};

// Walks at most two million look-ups through caches of the GPU's sizes, which are empty at the
// start or have seen so many look-ups like these that they are full. Pure: the same draws for the
// same walk.
RowsFound find_rows(const GatherWalk& walk, const GpuSpec& gpu);

}  // namespace weft
