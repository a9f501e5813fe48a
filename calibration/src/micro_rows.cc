// Tiles of a matrix stored in a peer's memory, as fused GEMMs send them: rows that are `pitch`
// apart, from shared memory, by the threads' stores or by bulk copies of the SM's copy engine.

#include "buffers.h"
#include "kernels.h"
#include "suite.h"

#if defined(CALIBRATION_WGMMA)
#include "bulk_copy.h"
#endif

namespace calibration {
namespace {

constexpr int staged_bytes = 64 << 10;  // a tile

enum class By { stores, bulk };
enum class Ways { one, both };  // the first GPU alone stores, or each into the next

struct Rows {
  std::size_t tiles;
  int row_bytes;
  int pitch_bytes;  // tiles lie side by side in it, then below
};

__device__ inline char* row_at(char* to, const Rows& shape, std::size_t tile, int row) {
  const auto across = static_cast<std::size_t>(shape.pitch_bytes / shape.row_bytes);
  const auto rows = static_cast<std::size_t>(staged_bytes / shape.row_bytes);
  return to +
         (tile / across * rows + static_cast<std::size_t>(row)) *
             static_cast<std::size_t>(shape.pitch_bytes) +
         tile % across * static_cast<std::size_t>(shape.row_bytes);
}

// A warp stores a row after the other.
__global__ void store_rows(char* to, Rows shape) {
  HIP_DYNAMIC_SHARED(uint4, staged_words)
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int words = shape.row_bytes / static_cast<int>(sizeof(uint4));
  for (std::size_t tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x) {
    for (int row = static_cast<int>(threadIdx.x) / 32; row < staged_bytes / shape.row_bytes;
         row += threads_per_wg / 32) {
      auto* out = reinterpret_cast<uint4*>(row_at(to, shape, tile, row));
      for (int i = lane; i < words; i += 32) {
        out[i] = staged_words[row * words + i];
      }
    }
  }
}

#if defined(CALIBRATION_WGMMA)
// The lanes of one warp hand over a row each; the tile is there before the next one is sent.
__global__ void copy_rows_in_bulk(char* to, Rows shape) {
  extern __shared__ __align__(128) char staged_tile[];
  const unsigned from = shared_address(staged_tile);
  if (threadIdx.x >= 32) {
    return;
  }
  for (std::size_t tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x) {
    for (int row = static_cast<int>(threadIdx.x); row < staged_bytes / shape.row_bytes; row += 32) {
      copy_in_bulk(row_at(to, shape, tile, row),
                   from + static_cast<unsigned>(row * shape.row_bytes),
                   static_cast<unsigned>(shape.row_bytes));
    }
    end_group_of_copies();
    wait_until_there();
    __syncwarp();
  }
}

constexpr bool has_bulk_copies = true;
#else
constexpr bool has_bulk_copies = false;
constexpr auto copy_rows_in_bulk = store_rows;  // not taken
#endif

std::vector<double> measure(const Bench& bench, By by, Ways ways, int wgs, const Rows& shape) {
  const Machine& machine = bench.machine;
  const auto kernel = by == By::stores ? store_rows : copy_rows_in_bulk;
  const Grid grid{.wgs = wgs, .shared_bytes = staged_bytes};
  const auto across = static_cast<std::size_t>(shape.pitch_bytes / shape.row_bytes);
  const std::size_t bands = (shape.tiles + across - 1) / across;
  const Buffers<char> to(machine, bands * across * staged_bytes, Reach::peers);
  for (const Gpu& gpu : machine.gpus()) {
    prepare_kernel(gpu, kernel, grid);
  }
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < (ways == Ways::one ? 1 : machine.size()); ++g) {
      machine.gpu(g).use();
      launch(kernel, grid, machine.gpu(g).main, to[machine.next(g)], shape);
    }
  }});
}

void add(const Plan& plan, By by, Ways ways, int wgs, int row_bytes, int pitch_bytes, Cases& cases,
         Depth depth = Depth::full) {
  const std::size_t stored_bytes = plan.at_most(std::size_t{64} << 20U, std::size_t{1} << 20U);
  const Rows shape{stored_bytes / staged_bytes, row_bytes, pitch_bytes};
  JsonLine line = line_of("micro.p2p_rows", plan);
  line.set("by", by == By::stores ? "stores" : "bulk")
      .set("ways", ways == Ways::one ? 1 : 2)
      .set("wgs", wgs)
      .set("row_bytes", row_bytes)
      .set("pitch_bytes", pitch_bytes)
      .set("bytes", static_cast<std::int64_t>(stored_bytes));
  cases.push_back(
      {line, depth, [=](const Bench& bench) { return measure(bench, by, ways, wgs, shape); }});
}

}  // namespace

void add_peer_rows(const Plan& plan, Cases& cases) {
  for (const By by : {By::stores, By::bulk}) {
    if (by == By::bulk && !has_bulk_copies) {
      continue;
    }
    for (const Ways ways : {Ways::one, Ways::both}) {
      for (const int row_bytes : {128, 256, 512, 1024, 2048, 8192}) {
        add(plan, by, ways, plan.units, row_bytes, 8192, cases);
      }
      for (const int wgs : {1, 4, 8, 16, 32, 64}) {
        add(plan, by, ways, wgs, 512, 8192, cases);
      }
      add(plan, by, ways, plan.units, 512, 2048, cases, Depth::quick);
      add(plan, by, ways, plan.units, 512, 32768, cases);
    }
  }
}

}  // namespace calibration
