// Runs of the cache model (docs/cache.md) as a table, CSV and JSON. All three show the same
// measures; a rate of nothing is left empty.
#pragma once

#include <string>
#include <vector>

#include "sim/cache/policy.h"
#include "sim/cache/sample.h"
#include "sim/cache/spec.h"

namespace weft {

// An application under a policy.
struct CacheRun {
  std::string application;
  cache::NamedPolicy policy;
  cache::Sample sample;  // all its kernels together
};

struct CacheReport {
  cache::Hierarchy machine;
  std::vector<CacheRun> runs;  // those of one application are adjacent
};

std::string cache_table(const CacheReport& report);  // one per application
std::string cache_csv(const CacheReport& report);
std::string cache_json(const CacheReport& report);

}  // namespace weft
