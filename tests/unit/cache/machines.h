// Small machines for tests: numbers that are easy to calculate with.
#pragma once

#include "sim/cache/sample.h"

namespace weft::cache {

// 4 CUs with 8 KiB of L1, 64 KiB of L2 in 4 slices, 4 channels of 4 banks. Lines of 128 B in
// sectors of 32 B. Every port and the DRAM move a line in 1 ns a slice.
inline Hierarchy small_machine() {
  return {.name = "small",
          .cus = 4,
          .line = bytes(128),
          .sector = bytes(32),
          .interleave = bytes(256),
          .l1 = {.capacity = kibibytes(8),
                 .slices = 1,
                 .ways = 16,
                 .mshrs = 64,
                 .bandwidth = gigabytes_per_second(128),
                 .latency = nanoseconds(10)},
          .l2 = {.capacity = kibibytes(64),
                 .slices = 4,
                 .ways = 16,
                 .mshrs = 64,
                 .bandwidth = gigabytes_per_second(512),
                 .latency = nanoseconds(100)},
          .die_to_die = nanoseconds(50),
          .dram = {.channels = 4,
                   .banks = 4,
                   .row = kibibytes(1),
                   .bandwidth = gigabytes_per_second(512),
                   .latency = nanoseconds(300),
                   .activate = nanoseconds(14),
                   .precharge = nanoseconds(12),
                   .activate_interval = nanoseconds(2),
                   .close_after = microseconds(1),
                   .queue = 1}};
}

// A kernel of WGs that each read or write `per_wg` bytes of their own, one after another.
inline Kernel stream_kernel(std::int64_t wgs, Bytes per_wg, Op op = Op::load) {
  return {.name = "stream",
          .grid_rows = wgs,
          .instruction = kibibytes(4),
          .accesses = {{.op = op, .per_row = per_wg.count(), .row = per_wg}}};
}

// WGs that each read `rows` random rows.
inline Kernel gather_kernel(std::int64_t wgs, std::int64_t rows, Bytes row, const Gather& gather) {
  return {.name = "gather",
          .grid_rows = wgs,
          .instruction = kibibytes(4),
          .accesses = {{.rows = rows, .row = row, .pitch = row.count(), .gather = gather}}};
}

inline double hit_rate(const LevelCounts& counts) {
  return static_cast<double>(counts.hits + counts.merged) / static_cast<double>(counts.loads);
}

}  // namespace weft::cache
