#include "sim/models/split_keys.h"

#include <algorithm>
#include <cmath>

#include "sim/core/round_up.h"
#include "sim/gpu_model/cu_law.h"
#include "sim/gpu_model/gemm_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/models/flash_tiles.h"

namespace weft {
namespace {

constexpr std::int64_t kFewQueries = 16;  // fewer leave the matrix units idle anyway
constexpr std::int64_t kLeastKeys = 256;  // per WG of a library's kernel

// cuDNN 9's decoding kernel, from its profile on an H200: query rows per WG, which share keys, and
// bytes of shared memory per element of a head; loads per thread, of 128: a block of 128 keys of
// 128 elements.
constexpr std::int64_t kLibraryRows = 16;
constexpr std::int64_t kLibraryLds = 680;
constexpr int kLoads = 16;

constexpr std::int64_t kFewBlocks = 4;  // that FlashAttention-3 does not split
constexpr std::int64_t kMostParts = 128;
constexpr std::int64_t kFlash2WgsOnCu = 2;  // that its rule takes to fit
constexpr double kFilled = 0.8;             // of the slots, by whole sequences: nothing is split
constexpr double kAsGood = 0.85;            // of the best number's share of filled slots
constexpr std::int64_t kAccumulator = 4;    // bytes of an element of a part's result

// The kernel that reads the keys, and what surrounds it.
struct SplitKernel {
  WgShape wg;
  std::int64_t rows = 1;   // WGs for each group of queries that shares keys
  std::int64_t parts = 1;  // of the keys, of which the last ones may have none
  std::int64_t keys = 0;   // of a part, but for the last
  Duration arithmetic;     // of a WG, with those that share its CU
  Duration start;          // of a WG
  Duration around;         // kernels before and after
};

std::int64_t rows_that_share(const AttentionShape& shape) {
  return shape.queries * shape.heads / shape.kv_heads;
}

Bytes queries_and_results(const AttentionShape& shape) {
  return bytes(shape.batch * shape.queries * shape.heads * (shape.head_dim + shape.value_head_dim) *
               size_of(shape.dtype).count());
}

// Products and softmax as in a prompt (sim/models/attention_kernel.cc), of all rows of the tile, by
// a WG and those beside it on its CU. The loop over keys waits for both in turn, so they count as
// what its loads allow and not as arithmetic beside them: together they take longer than either
// (H200: 64 elements a head, 3.6 TB/s of 4.4).
Duration flash_arithmetic(const FlashTile& tile, const AttentionShape& shape, const GpuSpec& gpu,
                          std::int64_t keys, std::int64_t wgs) {
  const EngineAttentionSpec& engine = *gpu.engine_attention;
  const std::int64_t on_cu = std::min<std::int64_t>(
      resident(gpu, wg_of(tile, shape.head_dim, gpu), {}), round_up(wgs, gpu.cus));
  const std::int64_t scores = tile.rows * keys * on_cu;
  return attention_time({.products = flops(2 * scores) * (shape.head_dim + shape.value_head_dim),
                         .reached = matrix_rate(gpu, engine.efficiency),
                         .scores = scores,
                         .exponentials = engine.exponentials},
                        gpu, share_of_cu(gpu, gpu.wave_size * 4));
}

// What precedes and follows the kernel: copies of queries and results, and the sum of the parts.
Duration around(const AttentionShape& shape, const GpuSpec& gpu, std::int64_t parts) {
  const EngineAttentionSpec& engine = *gpu.engine_attention;
  Duration time;
  Bytes moved;
  if (parts > 1) {
    time += engine.sum + engine.part * parts;
    moved += bytes(2 * parts * shape.batch * shape.queries * shape.heads * shape.value_head_dim *
                   kAccumulator);
  }
  if (shape.batch > 1 && shape.kv_heads > 1 && shape.heads > shape.kv_heads &&
      engine.regroup > Duration{}) {
    time += engine.regroup;
    moved += queries_and_results(shape) * 2;
  }
  return time + transfer_time(moved, gpu.memory.bandwidth);
}

// FlashAttention-3's WGs stay: while they finish one part, one of their warps loads the next; but
// not the queries of heads that share keys, whose rows the multiplying warps gather themselves.
SplitKernel engine_kernel(const AttentionShape& shape, const GpuSpec& gpu) {
  const EngineAttentionSpec& engine = *gpu.engine_attention;
  const bool third = engine.kernel == EngineKernel::flash_3;
  FlashTile tile = third ? kFlash3Tile : kSplitTile;
  const auto heads = [&] { return shape.kv_heads * round_up(rows_that_share(shape), tile.rows); };
  SplitKernel made;
  made.parts = flash_parts(engine.kernel,
                           {.sequences = shape.batch,
                            .heads = heads(),
                            .blocks = round_up(shape.keys, keys_of(tile, shape.head_dim))},
                           gpu.cus);
  if (made.parts == 1 && engine.kernel == EngineKernel::flash_2) tile = kWholeTile;
  const std::int64_t block = keys_of(tile, shape.head_dim);
  made.wg = wg_of(tile, shape.head_dim, gpu);
  made.rows = round_up(rows_that_share(shape), tile.rows);
  const std::int64_t blocks = round_up(round_up(shape.keys, block), made.parts);  // of a part
  made.keys = std::min(shape.keys, blocks * block);
  made.arithmetic = flash_arithmetic(tile, shape, gpu, blocks * block,
                                     shape.batch * heads() * round_up(shape.keys, made.keys));
  made.around = around(shape, gpu, made.parts);
  (third && rows_that_share(shape) == 1 ? made.around : made.start) += engine.start;
  return made;
}

// The least power of two that gives every CU a WG; of unknown libraries enough for all that fit.
std::int64_t library_parts(const AttentionShape& shape, const GpuSpec& gpu, const WgShape& wg) {
  const std::int64_t groups = shape.batch * shape.kv_heads;
  const std::int64_t most = std::max<std::int64_t>(1, shape.keys / kLeastKeys);
  if (!gpu.library_attention) {
    return std::clamp<std::int64_t>(resident_on_gpu(gpu, wg, {}) / groups, 1, most);
  }
  std::int64_t parts = 1;
  while (parts * groups < gpu.cus && parts * 2 <= most) parts *= 2;
  return parts;
}

SplitKernel library_kernel(const AttentionShape& shape, const GpuSpec& gpu) {
  SplitKernel made;
  if (!gpu.library_attention) {
    made.wg = {
        .threads = 256, .registers_per_thread = 64, .lds = bytes(32'768), .loads_in_flight = 8};
    made.parts = library_parts(shape, gpu, made.wg);
    made.keys = round_up(shape.keys, made.parts);
    return made;
  }
  made.wg = {.threads = 128,
             .registers_per_thread = 168,
             .lds = bytes(std::min(gpu.cu.lds.count(), kLibraryLds * shape.head_dim)),
             .loads_in_flight = kLoads};
  made.rows = round_up(rows_that_share(shape), kLibraryRows);
  made.parts = library_parts(shape, gpu, made.wg);
  made.keys = round_up(shape.keys, made.parts);
  made.start = gpu.library_attention->split_start;
  if (made.parts > 1) made.start += gpu.library_attention->sum;
  return made;
}

// What the L2 still has of `size` bytes that were read in the same order just before: all that fits
// once, nothing from twice that on, where the rest of a round pushes out what the next would find.
double still_in_l2(const L2Spec& l2, std::int64_t size) {
  const auto kept = static_cast<double>(kept_on_a_die(l2).count());
  return std::clamp((2 * kept - static_cast<double>(size)) / static_cast<double>(size), 0.0, 1.0);
}

// A whole part of the keys: those of other WGs for the same heads come from the L2. Results of
// parts are counted with the kernel that adds them (around()).
Work part_work(const AttentionShape& shape, const GpuSpec& gpu, const SplitKernel& kernel) {
  const std::int64_t size = size_of(shape.dtype).count();
  const std::int64_t dims = shape.head_dim + shape.value_head_dim;
  const std::int64_t read = kernel.keys * dims * size;
  Work work = copy_work(gpu, kernel.wg, read, 0);
  std::int64_t missed = round_up(read, kernel.rows);
  if (shape.repeated) {
    const std::int64_t all = shape.batch * shape.kv_heads * shape.keys * dims * size;
    missed = std::llround(static_cast<double>(missed) * (1 - still_in_l2(gpu.l2, all)));
  }
  const std::int64_t rows = round_up(rows_that_share(shape), kernel.rows);
  const std::int64_t own = kernel.parts > 1 ? shape.head_dim : dims;
  work.traffic = bytes(missed + rows * own * size);
  work.memory_alone = longer(work.memory_alone, kernel.arithmetic);
  work.flops = flops(2 * kernel.keys * dims) * rows;
  work.fixed = kernel.start;
  return work;
}

// The last part of a head's keys has what the others leave.
void add_parts(OpKernel& kernel, const AttentionShape& shape, const SplitKernel& split) {
  const std::int64_t with_keys = round_up(shape.keys, split.keys);
  const std::int64_t last = shape.keys - (with_keys - 1) * split.keys;
  const std::int64_t groups = shape.batch * shape.kv_heads * split.rows;
  const auto run = [&](std::int64_t count, double scale) {
    if (count == 0) return;
    kernel.runs.push_back({.work = 0,
                           .scale = static_cast<std::uint32_t>(std::llround(scale * Item::kUnit)),
                           .count = static_cast<std::uint32_t>(count)});
  };
  run(groups * (with_keys - 1), 1);
  run(groups, static_cast<double>(last) / static_cast<double>(split.keys));
}

// FlashAttention-2's rule: of the numbers of parts that `counts`, the least that fills 0.85 of the
// slots that the best one fills.
template <class Counts>
std::int64_t filling_parts(std::int64_t groups, std::int64_t slots, std::int64_t blocks,
                           Counts counts) {
  if (static_cast<double>(groups) >= kFilled * static_cast<double>(slots)) return 1;
  const auto filled = [&](std::int64_t parts) {
    const std::int64_t wgs = groups * parts;
    return static_cast<double>(wgs) / static_cast<double>(round_up(wgs, slots) * slots);
  };
  const std::int64_t most = std::min({kMostParts, slots, blocks});
  double best = 0;
  for (std::int64_t parts = 1; parts <= most; ++parts) {
    if (counts(parts)) best = std::max(best, filled(parts));
  }
  std::int64_t parts = 1;
  while (!counts(parts) || filled(parts) < kAsGood * best) ++parts;
  return parts;
}

}  // namespace

bool splits_keys(const AttentionShape& shape) {
  return shape.queries < kFewQueries && !shape.backward;
}

std::int64_t flash_parts(EngineKernel kernel, const FlashWork& work, std::int64_t cus) {
  if (kernel != EngineKernel::flash_3) {
    // Not those with which the longest part is as long as with fewer parts.
    const auto shortens = [&](std::int64_t parts) {
      return parts == 1 || round_up(work.blocks, parts) != round_up(work.blocks, parts - 1);
    };
    return filling_parts(work.sequences * work.heads, kFlash2WgsOnCu * cus, work.blocks, shortens);
  }
  if (work.blocks <= kFewBlocks) return 1;
  // As if there were one sequence; then as many blocks a part as a CU has, and a tenth more.
  const std::int64_t most =
      filling_parts(work.heads, cus, work.blocks, [](std::int64_t) { return true; });
  const std::int64_t on_cu = round_up(11 * work.sequences * work.heads * work.blocks, 10 * cus);
  return std::clamp<std::int64_t>(round_up(work.blocks, on_cu), 1, most);
}

OpKernel split_keys_kernel(const AttentionShape& whole, const GpuSpec& gpu) {
  AttentionShape shape = whole;
  if (sees_a_window(shape)) shape.keys = std::min(shape.keys, shape.window + shape.queries - 1);
  const SplitKernel split =
      shape.engine && gpu.engine_attention ? engine_kernel(shape, gpu) : library_kernel(shape, gpu);
  OpKernel kernel;
  kernel.wg = split.wg;
  kernel.works = {part_work(shape, gpu, split)};
  add_parts(kernel, shape, split);
  if (split.around > Duration{}) {
    std::int64_t wgs = 0;
    for (const OpKernel::Run& run : kernel.runs) wgs += run.count;
    add_setup(kernel, split.around, std::min(wgs, resident_on_gpu(gpu, split.wg, {})));
  }
  return kernel;
}

}  // namespace weft
