// Memory of one GPU: reading and copying against the number of WGs, what one WG can have in flight,
// and reading again what L2 may hold.

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

// So few threads that their registers hold what is in flight.
constexpr int threads_max(int loads) { return loads > 8 ? 256 : 1024; }

// Reads `words` of 16 bytes, `loads` independent ones at a time and thread. Without the bounds nvcc
// saves registers and has four in flight, however many are asked for.
template <int loads>
__global__ void __launch_bounds__(threads_max(loads), loads > 4 ? 1 : 2)
    read_words(const uint4* from, std::size_t words, unsigned* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
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

// Reads `words` of 16 bytes again and again, `reads` in all, four at a time and thread.
__global__ void read_again(const uint4* from, unsigned words, std::size_t reads, unsigned* sink) {
  constexpr int loads = 4;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const auto step = static_cast<unsigned>(stride % words);
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  auto at = static_cast<unsigned>(i % words);
  unsigned sum = 0;
  for (; i + (loads - 1) * stride < reads; i += loads * stride) {
    uint4 word[loads];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      word[l] = load_past_l1(from + at);
      at = at + step < words ? at + step : at + step - words;
    }
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      sum ^= word[l].x ^ word[l].y ^ word[l].z ^ word[l].w;
    }
  }
  for (; i < reads; i += stride) {
    sum ^= from[i % words].x;
  }
  if (sum == 0x9E3779B9U) {  // never, but the compiler does not know it
    *sink = sum;
  }
}

// `queue` launches, on one GPU, what reads `bytes` of test data.
std::vector<double> measure_reading(
    const Bench& bench, std::size_t bytes,
    const std::function<void(const Gpu& gpu, const uint4* from, unsigned* sink)>& queue) {
  const Machine& machine = bench.machine;
  const Buffers<uint4> from(machine, bytes / sizeof(uint4), Reach::local);
  const Buffers<unsigned> sink(machine, 1, Reach::local);
  for (int g = 0; g < machine.size(); ++g) {
    fill_test_data(machine.gpu(g), reinterpret_cast<float*>(from[g]), bytes / sizeof(float), 1);
  }
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      queue(machine.gpu(g), from[g], sink[g]);
    }
  }});
}

template <int loads>
std::vector<double> measure_read(const Bench& bench, Grid grid, std::size_t bytes) {
  return measure_reading(bench, bytes, [=](const Gpu& gpu, const uint4* from, unsigned* sink) {
    launch(read_words<loads>, grid, gpu.main, from, bytes / sizeof(uint4), sink);
  });
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
  const Buffers<uint4> to(bench.machine, bytes / sizeof(uint4), Reach::local);
  return measure_reading(bench, bytes, [&](const Gpu& gpu, const uint4* from, unsigned*) {
    launch(copy_words, {.wgs = wgs}, gpu.main, from, to[gpu.device], bytes / sizeof(uint4));
  });
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

void add_read_again(const Plan& plan, std::size_t mebibytes, int wgs, Cases& cases) {
  constexpr std::size_t all_bytes = std::size_t{1} << 30U;
  const std::size_t buffer_bytes = plan.at_most(mebibytes << 20U, std::size_t{1} << 18U);
  const std::size_t passes = plan.at_most(all_bytes / buffer_bytes, std::size_t{2});
  const std::size_t words = buffer_bytes / sizeof(uint4);
  JsonLine line = line_of("micro.l2_read", plan);
  line.set("wgs", wgs)
      .set("buffer_bytes", static_cast<std::int64_t>(buffer_bytes))
      .set("bytes", static_cast<std::int64_t>(buffer_bytes * passes));
  cases.push_back({line, Depth::quick, [=](const Bench& bench) {
                     const auto queue = [=](const Gpu& gpu, const uint4* from, unsigned* sink) {
                       launch(read_again, {.wgs = wgs}, gpu.main, from, words, words * passes,
                              sink);
                     };
                     return measure_reading(bench, buffer_bytes, queue);
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
        if (threads <= threads_max(loads)) {
          add_in_flight(plan, wgs, threads, loads, cases);
        }
      }
    }
  }
  for (const std::size_t mebibytes : {2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128}) {
    add_read_again(plan, mebibytes, 8 * plan.units, cases);
  }
  for (const int wgs : {1, plan.units / 2, plan.units, 2 * plan.units, 4 * plan.units}) {
    add_read_again(plan, 16, wgs, cases);
  }
}

}  // namespace calibration
