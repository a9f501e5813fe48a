// Gathers of rows at random places of tables: how many of them hit in the caches (docs/model.md,
// "Gathers"). How long a step of them takes is in sim/gpu_model/gather_law.h.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gather_law.h"
#include "sim/scenario/scenario.h"

namespace weft {

// The order in which a kernel's WGs visit the tables, and what they do at the same time.
struct GatherWalk {
  TableWalk walk = TableWalk::by_table;
  std::int64_t tables = 0;
  std::int64_t rows_per_table = 0;
  double zipf = 0;  // row x of a table has the weight (x + 1)^-zipf
  std::int64_t row_bytes = 0;
  std::int64_t wgs = 0;             // of the kernel on one GPU
  std::int64_t wgs_of_a_table = 0;  // by_table: consecutive WGs of one table
  std::int64_t rows_per_wg = 0;     // pooled rows
  std::int64_t rows_at_once = 0;    // pooled rows that a WG works on at once
  std::int64_t pooling = 0;
  double in_flight = 1;     // rows that a thread has in flight
  int on_cu = 0;            // WGs that run at once on a CU
  bool fences = false;      // a WG that has made its pooled rows empties its CU's L1
  bool l2_is_warm = false;  // from earlier lookups like these
  double unevenness = 0;    // spread of the CUs' speeds: standard deviation / mean
  double streamed = 0;      // bytes of other traffic through the L2s, per byte looked up
  bool operator==(const GatherWalk&) const = default;
};

// Simulates at most two million lookups in caches of the GPU's sizes, which at the start are empty,
// or full after many lookups like these. Pure: the same walk has the same draws.
RowsFound find_rows(const GatherWalk& walk, const GpuSpec& gpu);

}  // namespace weft
