// Time to read rows at random addresses (docs/model.md, "Gathers"). How many of them the caches
// hold is found by walking the workload's order (sim/workloads/gather.h).
//
//   missed(n) = gather.latency + gather.doubling x log2 n           n rows per thread in flight
//   step      = missed(n) - (missed(n) - gather.cached) x (fraction of the rows in L1 or L2)^n
//   spread    = gather.unfairness x (demand - 1.6)                   of CUs' speeds, where above 0
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// Fractions of the looked-up rows.
struct RowsFound {
  double in_l1 = 0;
  double in_l2 = 0;
  double in_side_cache = 0;
};

// Time of a step that loads `in_flight` rows and waits for the last of them.
Duration gather_latency(const GpuSpec& gpu, double in_flight, const RowsFound& found);

// By how much a demand exceeds 1.6 times the memory's bandwidth, up to which the CUs of an H200 run
// at equal speed; 0 below.
double uneven_demand(double demand);

// Spread of the CUs' speeds, standard deviation / mean, where all WGs together would draw `demand`
// times the memory's bandwidth; at most 0.5.
double unevenness(const GpuSpec& gpu, double demand);

// A kernel whose WGs each take `steps` steps in turn; the caches hold the rows in these fractions.
struct ChaseKernel {
  std::int64_t wgs = 1;
  int threads = 0;       // each loads kLoadBytes of every row that it waits for
  double in_flight = 1;  // rows
  std::int64_t steps = 1;
  RowsFound found;
};
// Bytes that all its WGs request in a step.
double bytes_of_step(const ChaseKernel& kernel);
// Closed form: a step's latency, bent where all WGs together approach the memory's bandwidth.
double chase_seconds(const GpuSpec& gpu, const ChaseKernel& kernel);

}  // namespace weft
