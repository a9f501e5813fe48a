// Flags between GPUs: alone, behind a slice one way, and a stream of slices each with its flag.

#include "buffers.h"
#include "flags.h"
#include "kernels.h"
#include "suite.h"

namespace calibration {
namespace {

__device__ void store_slice(uint4* to, unsigned words) {
  const uint4 word = make_uint4(threadIdx.x, 1, 2, 3);
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
    to[i] = word;
  }
  __syncthreads();
}

// Ball games of two GPUs, one WG each: a slice and a flag there, a slice and a flag back.
__global__ void play(Flag* mine, Flag* theirs, uint4* to, unsigned words, int rounds, unsigned run,
                     bool serves) {
  const unsigned before = (run - 1) * static_cast<unsigned>(rounds);
  for (int round = 1; round <= rounds; ++round) {
    const unsigned ball = before + static_cast<unsigned>(round);
    if (!serves && threadIdx.x == 0) {
      wait_for_flag(mine, ball);
    }
    __syncthreads();
    store_slice(to, words);
    if (threadIdx.x == 0) {
      set_flag(theirs, ball);
      if (serves) {
        wait_for_flag(mine, ball);
      }
    }
  }
}

// Each WG stores `slices` slices of `words`, each with a fence and a flag of its own.
__global__ void send_slices(uint4* to, Flag* flags, unsigned words, int slices, unsigned run) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(slices);
  for (int s = 0; s < slices; ++s) {
    const std::size_t slice = first + static_cast<std::size_t>(s);
    store_slice(to + slice * words, words);
    if (threadIdx.x == 0) {
      set_flag(flags + slice, run);
    }
  }
}

// Half a round trip, in microseconds.
std::vector<double> measure_one_way(const Bench& bench, unsigned slice_bytes, int rounds) {
  const Machine& machine = bench.machine;
  const Buffers<Flag> flags(machine, 1, Reach::peers);
  const Buffers<uint4> slices(machine, slice_bytes / 16 + 1, Reach::peers);
  const int threads = slice_bytes == 0 ? 1 : threads_per_wg;
  flags.fill_bytes(0);
  unsigned first_run = 0;  // flags count from the first run of this case
  std::vector<double> samples = bench.timer.behind_gate({.queue = [&](unsigned run) {
    first_run = first_run == 0 ? run : first_run;
    for (const int g : {0, 1}) {
      machine.gpu(g).use();
      launch(play, {.wgs = 1, .threads = threads}, machine.gpu(g).main, flags[g], flags[1 - g],
             slices[1 - g], slice_bytes / 16, rounds, run - first_run + 1, g == 0);
    }
  }});
  for (double& sample : samples) {
    sample /= 2.0 * rounds;
  }
  return samples;
}

std::vector<double> measure_stream(const Bench& bench, unsigned slice_bytes, int wgs, int slices) {
  const Machine& machine = bench.machine;
  const std::size_t count = static_cast<std::size_t>(wgs) * static_cast<std::size_t>(slices);
  const Buffers<Flag> flags(machine, count, Reach::peers);
  const Buffers<uint4> to(machine, count * (slice_bytes / 16), Reach::peers);
  flags.fill_bytes(0);
  return bench.timer.behind_gate({.queue = [&](unsigned run) {
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      launch(send_slices, {.wgs = wgs}, machine.gpu(g).main, to[machine.next(g)],
             flags[machine.next(g)], slice_bytes / 16, slices, run);
    }
  }});
}

}  // namespace

void add_flags(const Plan& plan, Cases& cases) {
  const int rounds = plan.at_most(1000, 10);
  cases.push_back({line_of("micro.flag_one_way", plan).set("n", rounds), Depth::quick,
                   [=](const Bench& bench) { return measure_one_way(bench, 0, rounds); }});
  for (const int bytes : {16, 1024, 4096, 16384, 65536}) {
    JsonLine line = line_of("micro.slice_one_way", plan);
    line.set("slice_bytes", bytes).set("n", rounds);
    cases.push_back({line, Depth::quick, [=](const Bench& bench) {
                       return measure_one_way(bench, static_cast<unsigned>(bytes), rounds);
                     }});
  }
  for (const int wgs : {1, 16, plan.units, 4 * plan.units}) {
    for (const int bytes : {1024, 4096, 16384, 65536, 262144}) {
      const int slices = bytes <= 16384 ? 32 : 8;
      JsonLine line = line_of("micro.store_fence_flag", plan);
      line.set("slice_bytes", bytes).set("wgs", wgs).set("slices_per_wg", slices);
      cases.push_back({line, Depth::quick, [=](const Bench& bench) {
                         return measure_stream(bench, static_cast<unsigned>(bytes), wgs, slices);
                       }});
    }
  }
}

}  // namespace calibration
