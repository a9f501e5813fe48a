// What loads and stores of a GPU's memory take (docs/model.md, "Memory" and "Gathers").
//
// Little's law: a WG that has b bytes in flight moves b in each latency. Where all WGs together ask
// for more than there is, all take longer alike:
//
//   latency(n) = memory.latency + memory.doubling x log2 n      n loads of a thread in flight
//   alone      = latency x ceil(bytes of a WG / its bytes in flight)
//   share      = (read + write_cost x written) / bandwidth      of all WGs
//   together   = (alone^p + share^p)^(1/p)                      p: memory.bend
//
// Lowering asks for the parts, of one WG, as Durations; the engine's shared server (sim/core) puts
// them together event by event. The closed forms below, in seconds, are of kernels whose WGs are
// all alike and run at once: the micro-benchmarks that parameters are fitted to.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// Bytes that a WG has on their way to it.
std::int64_t bytes_in_flight(const WgShape& wg);

// From a thread's loads of a stream, so many of them, to the last one's data.
Duration stream_latency(const GpuSpec& gpu, int loads_in_flight);

// How many times a WG that loads so much waits for what it has in flight.
std::int64_t waits_for(std::int64_t loaded, const WgShape& wg);

// What is added to bytes that are written, for they cost more than those read.
Bytes surcharge_of_writes(const MemorySpec& memory, std::int64_t written);

// What the L2 of a die keeps of what WGs of all CUs read; 0 where there is none.
Bytes kept_on_a_die(const L2Spec& l2);

// What takes so long for each WG alone and reads so much through the L2, of so many WGs, `slots` of
// which run at once: bent as the memory's; the mean of all rounds, for in the last one fewer share
// the L2. An L2 of unknown bandwidth is never the limit.
Duration shared_l2_time(const GpuSpec& gpu, Duration alone, std::int64_t bytes_of_a_wg,
                        std::int64_t wgs, std::int64_t slots);

// Bytes a second that are asked for where so many take so long alone; and how many times what the
// memory gives that is.
double asked_rate(double bytes, Duration alone);
double memory_demand(const GpuSpec& gpu, double bytes, Duration alone);

// A kernel whose WGs each read an equal part of `read`; what they write is posted: nobody waits.
struct StreamKernel {
  std::int64_t wgs = 1;
  WgShape wg;  // its threads and loads in flight
  std::int64_t read = 0;
  std::int64_t written = 0;
};
double stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel);
// The same from the L2, which keeps all of it.
double l2_stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel);

// So many bytes at this rate, in seconds, not rounded.
double transfer_seconds(double bytes, Bandwidth rate);

}  // namespace weft
