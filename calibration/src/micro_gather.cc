// Rows at random places of a table: rate against the size of a row, of the table, and the number
// of WGs. As the embedding operator reads: four rows in flight in a thread, 16 bytes of each.

#include "buffers.h"
#include "data.h"
#include "kernels.h"
#include "suite.h"

namespace calibration {
namespace {

struct GatherShape {
  int row_bytes;
  std::size_t table_bytes;
  int wgs;
  std::size_t rows;
};

constexpr int occupancy = 6;  // WGs on an SM or CU, and the registers that this leaves them

__global__ void __launch_bounds__(threads_per_wg, occupancy)
    gather_rows(const uint4* table, const std::uint32_t* indices, std::size_t rows, unsigned lanes,
                unsigned* sink) {
  const unsigned lane = threadIdx.x % lanes;
  const std::size_t rows_at_once = blockDim.x / lanes;
  const std::size_t stride = gridDim.x * rows_at_once;
  unsigned sum = 0;
  std::size_t row = blockIdx.x * rows_at_once + threadIdx.x / lanes;
  for (; row + 3 * stride < rows; row += 4 * stride) {
    uint4 word[4];
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      word[l] = table[static_cast<std::size_t>(indices[row + l * stride]) * lanes + lane];
    }
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      sum ^= word[l].x ^ word[l].y ^ word[l].z ^ word[l].w;
    }
  }
  for (; row < rows; row += stride) {
    sum ^= table[static_cast<std::size_t>(indices[row]) * lanes + lane].x;
  }
  if (sum == 0x9E3779B9U) {  // never, but the compiler does not know it
    *sink = sum;
  }
}

std::vector<double> measure(const Bench& bench, const GatherShape& shape) {
  const Machine& machine = bench.machine;
  const Buffers<uint4> table(machine, shape.table_bytes / sizeof(uint4), Reach::local);
  const Buffers<std::uint32_t> indices(machine, shape.rows, Reach::local);
  const Buffers<unsigned> sink(machine, 1, Reach::local);
  const auto table_rows =
      static_cast<std::uint32_t>(shape.table_bytes / static_cast<std::size_t>(shape.row_bytes));
  for (int g = 0; g < machine.size(); ++g) {
    const Gpu& gpu = machine.gpu(g);
    fill_test_data(gpu, reinterpret_cast<float*>(table[g]), shape.table_bytes / 4, 1);
    fill_indices(gpu, indices[g], shape.rows, static_cast<std::uint32_t>(2 + g), table_rows);
  }
  const auto lanes = static_cast<unsigned>(shape.row_bytes / 16);
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      launch(gather_rows, {.wgs = shape.wgs}, machine.gpu(g).main, table[g], indices[g], shape.rows,
             lanes, sink[g]);
    }
  }});
}

void add(const Plan& plan, int row_bytes, std::size_t usual_table, int wgs, Depth depth,
         Cases& cases) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  // One WG alone takes milliseconds for 4 MiB.
  const std::size_t gathered = plan.at_most((wgs == 1 ? 4 : 256) * mebibyte, mebibyte);
  const GatherShape shape{row_bytes, plan.at_most(usual_table, mebibyte), wgs,
                          gathered / static_cast<std::size_t>(row_bytes)};
  JsonLine line = line_of("micro.gather", plan);
  line.set("row_bytes", shape.row_bytes)
      .set("table_bytes", static_cast<std::int64_t>(shape.table_bytes))
      .set("wgs", shape.wgs)
      .set("rows", static_cast<std::int64_t>(shape.rows));
  cases.push_back({line, depth, [=](const Bench& bench) { return measure(bench, shape); }});
}

}  // namespace

void add_gather(const Plan& plan, Cases& cases) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  const int full = occupancy * plan.units;
  for (const int row_bytes : {64, 128, 256, 512, 1024, 2048}) {
    add(plan, row_bytes, 2048 * mebibyte, full, Depth::quick, cases);
  }
  for (const int wgs : {1, plan.units / 4, plan.units, 2 * plan.units, 4 * plan.units}) {
    add(plan, 1024, 2048 * mebibyte, wgs, Depth::full, cases);
  }
  for (const std::size_t table : {4, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256, 512, 1024}) {
    for (const int row_bytes : {64, 1024}) {
      add(plan, row_bytes, table * mebibyte, full, Depth::full, cases);
    }
  }
}

}  // namespace calibration
