// Why: two or three sentences that explain a run, made from its numbers.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

// What bounds a mode. Links and HBM come first: CUs are busy whenever WGs are resident, also while
// these wait for memory, so they are named only where neither links nor HBM are near their limit.
// Where computing and communicating take turns, one resource must be busy in both to be the bound.
enum class Bound {
  links,     // the busiest link is in use for most of the time
  proxy,     // so is the CPU thread that posts for a GPU, and more than the links
  hbm,       // so is the memory
  phases,    // computing and communicating take turns, each bounds its own part
  wgs,       // CUs are full of WGs that wait for their own loads or arithmetic
  tail,      // kernels compute for most of the time, on few CUs
  transfer,  // communicating for most of the time, below every link's rate
  gaps,      // none of these: launches and fixed costs
};

Bound bound_of(const RunReport& report, const RunResult& result);

std::string why(const RunReport& report);

}  // namespace weft
