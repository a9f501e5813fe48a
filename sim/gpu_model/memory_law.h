// The time of loads and stores in a GPU's memory (docs/model.md, "Memory" and "Gathers").
//
// Little's law: a WG that has b bytes in flight moves b per latency. Where all WGs together demand
// more than the bandwidth, all are slowed alike:
//
//   latency(n) = memory.latency + memory.doubling x log2 n      n loads per thread in flight
//   alone      = latency x ceil(bytes of a WG / its bytes in flight)
//   share      = (read + write_cost x written) / bandwidth      of all WGs
//   together   = (alone^p + share^p)^(1/p)                      p: memory.bend
//
// Lowering asks for the parts, of one WG, as Durations; the engine's shared server (sim/core)
// combines them event by event. The closed forms below, in seconds, are for kernels whose WGs are
// all alike and run at once: the micro-benchmarks that parameters are fitted to.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// Bytes that a WG keeps in flight.
std::int64_t bytes_in_flight(const WgShape& wg);

// From the issue of a thread's `loads_in_flight` loads of a stream to the last one's data.
Duration stream_latency(const GpuSpec& gpu, int loads_in_flight);

// How many times a WG that loads `loaded` bytes waits for what it has in flight.
std::int64_t waits_for(std::int64_t loaded, const WgShape& wg);

// What is added to bytes that are written, because they cost more than bytes read.
Bytes surcharge_of_writes(const MemorySpec& memory, std::int64_t written);

// How much the L2 of a die keeps of what WGs of all CUs read; 0 where there is none.
Bytes kept_on_a_die(const L2Spec& l2);

// The time of a WG that takes `alone` by itself and reads `bytes_of_a_wg` through the L2, of `wgs`
// WGs of which `slots` run at once: bent as the memory's; the mean of all rounds, because fewer
// share the L2 in the last one. An L2 of unknown bandwidth is never the limit.
Duration shared_l2_time(const GpuSpec& gpu, Duration alone, std::int64_t bytes_of_a_wg,
                        std::int64_t wgs, std::int64_t slots);

// Demand: the bytes per second of `bytes` that take `alone` by themselves; and the same as a
// multiple of the memory's bandwidth.
double asked_rate(double bytes, Duration alone);
double memory_demand(const GpuSpec& gpu, double bytes, Duration alone);

// A kernel whose WGs each read an equal part of `read`; writes are posted: nobody waits for them.
struct StreamKernel {
  std::int64_t wgs = 1;
  WgShape wg;  // its threads and loads in flight
  std::int64_t read = 0;
  std::int64_t written = 0;
};
double stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel);
// The same from the L2, which holds all of it.
double l2_stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel);

// The time of `bytes` at this rate, in seconds, not rounded.
double transfer_seconds(double bytes, Bandwidth rate);

// What a WG takes for registers that its threads keep in memory: they are stored once, which is
// posted, and loaded once, from the L2, a thread's `loads_in_flight` words of 16 B at a time.
Duration spill_time(const GpuSpec& gpu, const WgShape& wg, int spilled_per_thread);

}  // namespace weft
