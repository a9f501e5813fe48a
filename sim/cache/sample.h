// The cache model: what a kernel's accesses become in a hierarchy of caches under a policy.
//
//   const std::vector<Sample> of_kernels = sample(hierarchy, application, {.policy = cache_rw});
//
// Pure: the same input gives the same samples, and nothing is kept from one call to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cache/accesses.h"
#include "sim/cache/policy.h"
#include "sim/cache/spec.h"
#include "sim/core/quantity.h"

namespace weft::cache {

// Requests of one line each, at one level. loads = hits + merged + misses + bypasses.
struct LevelCounts {
  std::int64_t loads = 0;
  std::int64_t stores = 0;
  std::int64_t hits = 0;         // loads that found all their bytes
  std::int64_t merged = 0;       // loads that found them on their way
  std::int64_t misses = 0;       // loads that took an MSHR
  std::int64_t bypasses = 0;     // loads and stores that went on without one, or without a line
  std::int64_t write_backs = 0;  // dirty lines sent on
  Duration stalled;              // of all slices: waiting for an MSHR or a line

  bool operator==(const LevelCounts&) const = default;
};

struct DramCounts {
  Bytes read;
  Bytes written;
  std::int64_t row_hits = 0;
  std::int64_t row_misses = 0;     // the bank had no row open
  std::int64_t row_conflicts = 0;  // the bank had another one open

  bool operator==(const DramCounts&) const = default;
};

struct Sample {
  LevelCounts l1;
  LevelCounts l2;    // of the dies nearest to the CUs
  LevelCounts home;  // of the home die, for what missed in another one
  LevelCounts side;
  DramCounts dram;
  Duration time;        // from the kernel's start to its end, write-back included
  Duration write_back;  // the part of it after the last WG's end
  // Of concurrent kernels, whose requests are included in all counts above. A load is of one line.
  std::int64_t loads_beside = 0;

  bool operator==(const Sample&) const = default;
};

struct SampleOptions {
  Policy policy;
  std::int64_t passes = 1;  // so many times over the same data; the samples are those of the last
  std::uint64_t seed = 1;   // of the gathers
  std::int64_t wgs = 0;     // of each kernel only the first so many; 0: all
};

// One sample for each kernel and repetition of the last pass, in the order in which they ran, but
// none for concurrent ones.
// Kernels find in the L2 what those before them left.
std::vector<Sample> sample(const Hierarchy& hierarchy, const Application& application,
                           const SampleOptions& options);

Sample sum(const std::vector<Sample>& samples);

}  // namespace weft::cache
