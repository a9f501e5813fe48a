// The caches and the DRAM of one GPU, as far as the cache model needs them. Plain data; every
// number comes from a file of configs/cache/machines, together with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/quantity.h"

namespace weft::cache {

enum class Replacement : std::uint8_t {
  lru,    // the line whose last use is longest ago
  random  // any line
};

// A level is one cache or several of the same make: an L1 for each CU, an L2 for each die, one
// memory-side cache. A cache is cut into slices, each with its port, its sets and its MSHRs.
struct LevelSpec {
  Bytes capacity{};  // of one cache
  int slices = 1;    // of one cache
  int ways = 16;
  int mshrs = 0;          // of one slice: misses that wait for their data
  Bandwidth bandwidth{};  // of one cache, all its slices together
  Duration latency{};     // of a load that this level answers, from the CU and back, all idle
  Replacement replacement = Replacement::lru;

  bool operator==(const LevelSpec&) const = default;
};

// Where a line of the L2 may stand when there are several dies.
enum class Dies : std::uint8_t {
  home,  // every address has a home die; the others may keep copies, and miss into the home
  apart  // each die caches for its CUs alone, and misses into the memory (side cache, DRAM)
};

struct DramSpec {
  int channels = 0;
  int banks = 0;                 // of one channel
  Bytes row{};                   // what a bank holds open
  Bandwidth bandwidth{};         // of all channels together
  Duration latency{};            // of a load that the DRAM answers, from the CU and back, all idle
  Duration activate{};           // opening a row
  Duration precharge{};          // closing the row before it
  Duration activate_interval{};  // between two activations of a channel
  Duration close_after{};        // an idle bank closes its row by itself
  int queue = 1;                 // requests among which the scheduler groups those of one row

  bool operator==(const DramSpec&) const = default;
};

struct Hierarchy {
  std::string name{};
  int cus = 0;
  Bytes line{};        // of all levels
  Bytes sector{};      // the part of a line that is fetched and written back by itself
  Bytes interleave{};  // consecutive bytes in one slice, and in one channel
  LevelSpec l1{};      // one a CU
  LevelSpec l2{};      // one a die
  int dies = 1;
  Dies l2_dies = Dies::home;
  Duration die_to_die{};            // what a load that another die answers takes longer
  std::optional<LevelSpec> side{};  // memory-side cache
  DramSpec dram{};

  bool operator==(const Hierarchy&) const = default;
};

}  // namespace weft::cache
