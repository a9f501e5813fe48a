// What a step of random rows takes where each place is computed from the rows read before: the
// latency of 1, 2 or 4 rows in flight, against the size of what they are spread over, and how far
// the SMs or CUs drift apart where they ask for more than the memory gives.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "buffers.h"
#include "data.h"
#include "kernels.h"
#include "statistics.h"
#include "streaming.h"
#include "suite.h"

namespace calibration {
namespace {

constexpr int chase_occupancy = 6;  // WGs on an SM or CU, and the registers that this leaves them
constexpr int in_flight_max = 4;
constexpr std::uint32_t table_seed = 1;

struct ChaseShape {
  int row_bytes;
  std::size_t table_bytes;
  int wgs;
  int in_flight;  // rows of a thread
  int steps;

  unsigned lanes() const { return static_cast<unsigned>(row_bytes / 16); }
  unsigned rows() const {
    return static_cast<unsigned>(table_bytes / static_cast<std::size_t>(row_bytes));
  }
  // Chains of steps: one for each row that the WGs read at once.
  std::size_t chains() const { return static_cast<std::size_t>(wgs) * (threads_per_wg / lanes()); }
};

// A chain's key says where its next rows are: for each of them another product of it.
__host__ __device__ inline unsigned place_of(unsigned key, int which, unsigned rows) {
  constexpr unsigned odd[in_flight_max] = {0x9E3779B1U, 0x85EBCA6BU, 0xC2B2AE35U, 0x27D4EB2FU};
  const std::uint64_t product = static_cast<std::uint64_t>(key * odd[which]) * rows;
  return static_cast<unsigned>(product >> 32);
}

// The key of the next step, of this one's and of what was read.
__host__ __device__ inline unsigned next_key(unsigned key, unsigned read) {
  return (key * 0x01000193U + 1U) ^ read;
}

// Of another run other rows: a repeat finds none of its own in the L2.
__host__ __device__ inline unsigned first_key(unsigned run, std::size_t chain) {
  return mixed(run + 1, chain);
}

// The SM or CU that runs this WG.
__device__ inline unsigned unit_of_wg() {
#if defined(__CUDACC__)
  unsigned unit;
  asm("mov.u32 %0, %%smid;" : "=r"(unit));
  return unit;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_s_getreg(7 << 11 | 8 << 6 | 4);  // 8 bits from bit 8 on of HW_ID: CU, SE
#else
  return blockIdx.x;
#endif
}

// A thread waits for all rows of a step before it knows a place of the next.
template <int in_flight>
__device__ unsigned chase(const uint4* table, unsigned rows, unsigned lanes, unsigned key,
                          int steps) {
  const unsigned lane = threadIdx.x % lanes;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    uint4 word[in_flight];
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      word[l] =
          load_past_l1(table + static_cast<std::size_t>(place_of(key, l, rows)) * lanes + lane);
    }
    unsigned read = 0;
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      read ^= word[l].x ^ word[l].y ^ word[l].z ^ word[l].w;
    }
    key = next_key(key, read);
  }
  return key;
}

// Leaves of each chain its last key, where it ran, and the clock's ticks of its first half: until
// then all others run too.
template <int in_flight>
__global__ void __launch_bounds__(threads_per_wg, chase_occupancy)
    chase_rows(const uint4* table, unsigned rows, unsigned lanes, int steps, unsigned run,
               uint4* ends) {
  const std::size_t chain =
      static_cast<std::size_t>(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes;
  unsigned key = first_key(run, chain);
  const auto start = clock64();
  key = chase<in_flight>(table, rows, lanes, key, steps / 2);
  const auto ticks = clock64() - start;
  key = chase<in_flight>(table, rows, lanes, key, steps - steps / 2);
  if (threadIdx.x % lanes == 0) {
    ends[chain] = make_uint4(key, unit_of_wg(), static_cast<unsigned>(ticks), 0);
  }
}

using ChaseKernel = void (*)(const uint4*, unsigned, unsigned, int, unsigned, uint4*);
ChaseKernel kernel_for(int in_flight) {
  switch (in_flight) {
    case 1:
      return chase_rows<1>;
    case 2:
      return chase_rows<2>;
    default:
      return chase_rows<in_flight_max>;
  }
}

void expect_end(const ChaseShape& shape, unsigned run, const std::vector<uint4>& ends,
                std::size_t chain) {
  unsigned key = first_key(run, chain);
  for (int s = 0; s < shape.steps; ++s) {
    unsigned read = 0;
    for (int l = 0; l < shape.in_flight; ++l) {
      read ^= mixed(table_seed, place_of(key, l, shape.rows()));
    }
    key = next_key(key, read);
  }
  if (ends[chain].x != key) {
    throw WrongAnswer("chain " + std::to_string(chain) + " ends at " +
                      std::to_string(ends[chain].x) + ", not " + std::to_string(key));
  }
}

// Standard deviation of the SMs' or CUs' mean times over their mean; 0 of a single one.
double spread_of(const std::vector<uint4>& ends) {
  std::map<unsigned, std::pair<double, int>> units;
  for (const uint4& end : ends) {
    auto& [sum, chains] = units[end.y];
    sum += end.z;
    ++chains;
  }
  double mean = 0;
  double square = 0;
  for (const auto& [unit, of_unit] : units) {
    const double time = of_unit.first / of_unit.second;
    mean += time / static_cast<double>(units.size());
    square += time * time / static_cast<double>(units.size());
  }
  return mean == 0 ? 0 : std::sqrt(std::max(0.0, square - mean * mean)) / mean;
}

Measured measure(const Bench& bench, const ChaseShape& shape) {
  const Machine& machine = bench.machine;
  const Buffers<uint4> table(machine, shape.table_bytes / sizeof(uint4), Reach::local);
  const Buffers<uint4> ends(machine, shape.chains(), Reach::local);
  for (int g = 0; g < machine.size(); ++g) {
    fill_rows(machine.gpu(g), table[g], shape.rows(), shape.lanes(), table_seed);
  }
  const ChaseKernel kernel = kernel_for(shape.in_flight);
  std::vector<double> spreads;  // of each GPU and run
  unsigned last_run = 0;
  Work work;
  work.queue = [&](unsigned run) {
    last_run = run;
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      launch(kernel, {.wgs = shape.wgs}, machine.gpu(g).main, table[g], shape.rows(), shape.lanes(),
             shape.steps, run, ends[g]);
    }
  };
  work.verify = [&] {
    std::vector<uint4> of_gpu(shape.chains());
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      check(
          hipMemcpy(of_gpu.data(), ends[g], of_gpu.size() * sizeof(uint4), hipMemcpyDeviceToHost));
      expect_end(shape, last_run, of_gpu, 0);
      expect_end(shape, last_run, of_gpu, of_gpu.size() - 1);
      spreads.push_back(spread_of(of_gpu));
    }
  };
  Measured measured(bench.timer.behind_gate(work),
                    facts_of(machine.gpu(0), kernel, {.wgs = shape.wgs}));
  if (shape.wgs > 1) {
    constexpr double millionths = 1e6;
    measured.seen = {{"spread_ppm", std::llround(summarize(spreads).median * millionths)}};
  }
  return measured;
}

void add(const Plan& plan, ChaseShape shape, Cases& cases) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  shape.table_bytes = plan.at_most(shape.table_bytes, mebibyte);
  shape.steps = plan.at_most(shape.steps, 16);
  JsonLine line = line_of("micro.chase", plan);
  line.set("row_bytes", shape.row_bytes)
      .set("table_bytes", static_cast<std::int64_t>(shape.table_bytes))
      .set("wgs", shape.wgs)
      .set("in_flight", shape.in_flight)
      .set("steps", shape.steps);
  cases.push_back({line, Depth::quick, [=](const Bench& bench) { return measure(bench, shape); }});
}

}  // namespace

void add_chase(const Plan& plan, Cases& cases) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  constexpr std::size_t far_apart = 4096 * mebibyte;
  constexpr std::size_t near = 2 * mebibyte;  // fits the L2 of every die
  constexpr int usual = 1024;                 // steps; fewer tell what a kernel takes beside them
  const std::array depths = {1, 2, in_flight_max};
  for (const std::size_t table : {far_apart, 16 * mebibyte, near}) {
    for (const int wgs : {1, plan.units / 4, plan.units}) {
      for (const int in_flight : depths) {
        add(plan, {1024, table, wgs, in_flight, usual}, cases);
      }
    }
  }
  for (const int wgs : {1, plan.units}) {
    for (const int steps : {16, 64, 256}) {
      add(plan, {1024, near, wgs, 1, steps}, cases);
    }
  }
  for (const int row_bytes : {64, 256}) {
    for (const int in_flight : depths) {
      add(plan, {row_bytes, far_apart, plan.units / 4, in_flight, usual}, cases);
    }
  }
  for (const std::size_t mebibytes : {8, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048}) {
    add(plan, {1024, mebibytes * mebibyte, plan.units / 4, 1, usual}, cases);
  }
  for (const int wgs_of_unit : {2, 3, 4, 5, chase_occupancy}) {
    for (const int in_flight : depths) {
      add(plan, {1024, far_apart, wgs_of_unit * plan.units, in_flight, usual}, cases);
    }
  }
}

}  // namespace calibration
