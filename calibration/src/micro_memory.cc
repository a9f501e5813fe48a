// Memory of one GPU: reading and copying against the number of WGs, and what one WG can have in
// flight.

#include "buffers.h"
#include "data.h"
#include "kernels.h"
#include "streaming.h"
#include "suite.h"

namespace calibration {
namespace {

// Fewer bytes for few WGs, so that a case takes milliseconds.
std::size_t bytes_for(const Plan& plan, int wgs) {
  return plan.at_most(std::size_t{wgs < 16 ? 64U : 1024U} << 20U, std::size_t{1} << 20U);
}

// Reads `words` of 16 bytes, `loads` independent ones at a time and thread.
template <int loads>
__global__ void read_words(const uint4* from, std::size_t words, unsigned* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (; i + (loads - 1) * stride < words; i += loads * stride) {
    uint4 word[loads];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      word[l] = from[i + l * stride];
    }
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      sum ^= word[l].x ^ word[l].y ^ word[l].z ^ word[l].w;
    }
  }
  for (; i < words; i += stride) {
    sum ^= from[i].x;
  }
  if (sum == 0x9E3779B9U) {  // never, but the compiler does not know it
    *sink = sum;
  }
}

template <int loads>
std::vector<double> measure_read(const Bench& bench, Grid grid, std::size_t bytes) {
  const Buffers<uint4> from(bench.machine, bytes / sizeof(uint4), Reach::local);
  const Buffers<unsigned> sink(bench.machine, 1, Reach::local);
  for (int g = 0; g < bench.machine.size(); ++g) {
    fill_test_data(bench.machine.gpu(g), reinterpret_cast<float*>(from[g]), bytes / sizeof(float),
                   1);
  }
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < bench.machine.size(); ++g) {
      bench.machine.gpu(g).use();
      launch(read_words<loads>, grid, bench.machine.gpu(g).main, from[g], from.count(), sink[g]);
    }
  }});
}

std::vector<double> measure_read(const Bench& bench, int loads, Grid grid, std::size_t bytes) {
  switch (loads) {
    case 1:
      return measure_read<1>(bench, grid, bytes);
    case 2:
      return measure_read<2>(bench, grid, bytes);
    case 4:
      return measure_read<4>(bench, grid, bytes);
    case 8:
      return measure_read<8>(bench, grid, bytes);
    default:
      return measure_read<16>(bench, grid, bytes);
  }
}

std::vector<double> measure_copy(const Bench& bench, int wgs, std::size_t bytes) {
  const Buffers<uint4> from(bench.machine, bytes / sizeof(uint4), Reach::local);
  const Buffers<uint4> to(bench.machine, bytes / sizeof(uint4), Reach::local);
  for (int g = 0; g < bench.machine.size(); ++g) {
    fill_test_data(bench.machine.gpu(g), reinterpret_cast<float*>(from[g]), bytes / sizeof(float),
                   1);
  }
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < bench.machine.size(); ++g) {
      bench.machine.gpu(g).use();
      launch(copy_words, {.wgs = wgs}, bench.machine.gpu(g).main, from[g], to[g], from.count());
    }
  }});
}

void add_read(const Plan& plan, int wgs, Cases& cases) {
  const std::size_t bytes = bytes_for(plan, wgs);
  JsonLine line = line_of("micro.hbm_read", plan);
  line.set("wgs", wgs).set("bytes", static_cast<std::int64_t>(bytes));
  cases.push_back({line, Depth::quick, [=](const Bench& bench) {
                     return measure_read(bench, 4, {.wgs = wgs}, bytes);
                   }});
}

void add_copy(const Plan& plan, int wgs, Cases& cases) {
  const std::size_t bytes = bytes_for(plan, wgs);
  JsonLine line = line_of("micro.hbm_copy", plan);
  line.set("wgs", wgs).set("bytes", static_cast<std::int64_t>(bytes));
  cases.push_back(
      {line, Depth::quick, [=](const Bench& bench) { return measure_copy(bench, wgs, bytes); }});
}

void add_in_flight(const Plan& plan, int wgs, int threads, int loads, Cases& cases) {
  const std::size_t bytes = bytes_for(plan, wgs);
  JsonLine line = line_of("micro.wg_in_flight", plan);
  line.set("wgs", wgs)
      .set("threads", threads)
      .set("loads", loads)
      .set("bytes_in_flight", threads * loads * 16)
      .set("bytes", static_cast<std::int64_t>(bytes));
  cases.push_back({line, Depth::full, [=](const Bench& bench) {
                     return measure_read(bench, loads, {.wgs = wgs, .threads = threads}, bytes);
                   }});
}

}  // namespace

void add_memory(const Plan& plan, Cases& cases) {
  for (const int wgs : {1, 4, 16, plan.units / 4, plan.units / 2, plan.units, 2 * plan.units,
                        4 * plan.units, 8 * plan.units}) {
    add_read(plan, wgs, cases);
  }
  for (const int wgs : {1, 4, 16, plan.units / 2, plan.units, 4 * plan.units, 8 * plan.units}) {
    add_copy(plan, wgs, cases);
  }
  for (const int wgs : {1, plan.units}) {
    for (const int threads : {64, 256, 1024}) {
      for (const int loads : {1, 2, 4, 8, 16}) {
        add_in_flight(plan, wgs, threads, loads, cases);
      }
    }
  }
}

}  // namespace calibration
