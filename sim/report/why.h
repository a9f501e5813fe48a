// Why: two or three sentences that explain a run, made from its numbers.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

// What bounds a mode. Links and HBM come first: CUs are busy whenever WGs are resident, even while
// these wait for memory, so they are named only where neither links nor HBM are near their limit.
// Below that the longest part of the time is named.
enum class Bound {
  links,     // the busiest link is in use for nearly all of the time
  proxy,     // so is the CPU thread that posts for a GPU, and more than the links
  hbm,       // so is the memory
  phases,    // computing and communicating take turns, each bounds its own part
  wgs,       // computing, on CUs that are full of WGs: limited by their own loads and arithmetic
  tail,      // computing, on few CUs
  transfer,  // communicating, below every link's rate
  ends,      // GPUs have ended and wait for the last one
  gaps,      // GPUs have no kernel before that: launches, or waiting for other GPUs
};

Bound bound_of(const RunReport& report, const RunResult& result);

std::string why(const RunReport& report);

}  // namespace weft
