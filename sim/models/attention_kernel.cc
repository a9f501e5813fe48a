#include "sim/models/attention_kernel.h"

#include <algorithm>
#include <cmath>

#include "sim/core/round_up.h"
#include "sim/gpu_model/gemm_law.h"
#include "sim/models/flash_prompt.h"
#include "sim/models/split_keys.h"

namespace weft {
namespace {

constexpr std::int64_t kBlock = kAttentionBlock;
// Measured times (H200) do not tell more turns apart.
constexpr std::int64_t kTurns = 32;
// Shares of the matrix peak: 50 to 73 % forward and up to 63 % backward on A100 (FlashAttention-2,
// Sec. 4).
constexpr double kForward = 0.65;
constexpr double kBackward = 0.55;

// Measured kernels compute whole blocks of 128 x 128, also on the diagonal.
std::int64_t whole_blocks(std::int64_t tokens) { return round_up(tokens, kBlock) * kBlock; }

Duration measured_time(const AttentionShape& shape, const GpuSpec& gpu, const Work& work,
                       std::int64_t scores) {
  const LibraryAttentionSpec& library = *gpu.library_attention;
  const double reaches = shape.backward ? library.backward_efficiency : library.efficiency;
  if (library.flash_2) {  // waits for the two in turn
    const Flops twice = flops(2 * scores);
    return arithmetic_time(work.flops, matrix_rate(gpu, reaches), gpu, work.arithmetic_share) +
           arithmetic_time(twice, library.exponentials, gpu, work.arithmetic_share);
  }
  return attention_time({.products = work.flops,
                         .reached = matrix_rate(gpu, reaches),
                         .scores = scores * (shape.backward ? 2 : 1),
                         .exponentials = library.exponentials},
                        gpu, work.arithmetic_share);
}

// Keys that a WG goes through for its queries, or backward the other way round: all, or with a
// window the most of any; of kernels that compute `whole` blocks those of both ends of the window.
std::int64_t inner_of(const AttentionShape& shape, bool whole) {
  const std::int64_t all = shape.backward ? shape.queries : shape.keys;
  if (!sees_a_window(shape)) return all;
  return std::min(all, whole ? whole_blocks(shape.window - 1) + kBlock : shape.window);
}

// The work of one WG for one head, if it goes through `inner` keys or queries.
Work block_work(const AttentionShape& shape, const GpuSpec& gpu, const WgShape& wg,
                std::int64_t inner) {
  const std::int64_t dims = shape.head_dim + shape.value_head_dim;
  const std::int64_t products =
      shape.backward ? 3 * shape.head_dim + 2 * shape.value_head_dim : dims;
  const double reaches = shape.backward ? kBackward : kForward;
  const FlopRate peak = matrix_rate(gpu, reaches);
  Work work;
  work.flops = flops(2 * kBlock * inner) * products;
  work.arithmetic_share = share_of_cu(gpu, wg.threads);
  work.arithmetic_alone = gpu.library_attention
                              ? measured_time(shape, gpu, work, kBlock * inner)
                              : arithmetic_time(work.flops, peak, gpu, work.arithmetic_share);
  if (const auto& library = gpu.library_attention) {
    work.fixed = shape.backward ? library->backward_start : library->start;
  }
  add_block_traffic(work, shape, gpu, wg, inner);
  return work;
}

// What a window leaves out of the `seen` tokens of a block, the first of which is `first` and which
// has `here`: those before its first query's window or, backward, queries after its last key's; of
// `whole` blocks those that are left out as a whole.
std::int64_t beyond_window(const AttentionShape& shape, std::int64_t first, std::int64_t here,
                           std::int64_t seen, bool whole) {
  if (!sees_a_window(shape)) return 0;
  if (!whole) return std::max<std::int64_t>(0, seen - shape.window);
  const std::int64_t earlier = shape.keys - shape.queries;  // keys before the first query
  const std::int64_t left = shape.backward ? shape.keys - (first + here - 1 + shape.window)
                                           : earlier + first - shape.window + 1;
  return std::max<std::int64_t>(0, left) / kBlock * kBlock;
}

// The blocks of one head, the last first, or of FlashAttention-2 the first. If causal, a block of
// queries sees the keys up to its middle; a block of keys is seen by the queries after its middle.
std::vector<std::uint32_t> scales(const AttentionShape& shape, bool whole, bool first_block_first) {
  const std::int64_t outer = shape.backward ? shape.keys : shape.queries;
  const std::int64_t inner = shape.backward ? shape.queries : shape.keys;
  const auto all = static_cast<double>(inner_of(shape, whole));
  std::vector<std::uint32_t> scales;
  for (std::int64_t block = 0; block < round_up(outer, kBlock); ++block) {
    const std::int64_t first = block * kBlock;
    const std::int64_t here = std::min(kBlock, outer - first);
    std::int64_t seen = inner;
    if (shape.causal) {
      // What lies outside the triangle, on average over the block.
      const std::int64_t middle = outer - first - here / 2;
      const std::int64_t offset = shape.backward ? shape.keys - shape.queries : 0;
      const std::int64_t unseen = shape.backward ? outer - middle - offset : middle;
      seen = std::clamp<std::int64_t>(inner - std::max<std::int64_t>(0, unseen), 1, inner);
    }
    if (whole) seen = whole_blocks(seen);
    seen -= beyond_window(shape, first, here, seen, whole);
    const double share = whole ? static_cast<double>(seen) / all
                               : static_cast<double>(seen) * static_cast<double>(here) /
                                     (all * static_cast<double>(kBlock));
    scales.push_back(static_cast<std::uint32_t>(std::llround(share * Item::kUnit)));
  }
  if (!first_block_first) std::reverse(scales.begin(), scales.end());
  return scales;
}

OpKernel blocks(const AttentionShape& shape, const GpuSpec& gpu) {
  OpKernel kernel;
  kernel.wg = {.threads = 256,
               .registers_per_thread = 128,
               .lds = bytes(std::min<std::int64_t>(gpu.cu.lds.count(), 65'536)),
               .loads_in_flight = 8};
  const bool measured = gpu.library_attention.has_value();
  if (measured) kernel.wg.lds = gpu.cu.lds;
  kernel.works = {block_work(shape, gpu, kernel.wg, inner_of(shape, measured))};
  const bool first_block_first = measured && gpu.library_attention->flash_2;
  add_blocks(kernel, scales(shape, measured, first_block_first), shape.batch * shape.heads, kTurns);
  // The first WG of each CU waits for what precedes the kernel.
  if (measured) add_setup(kernel, gpu.library_attention->setup, gpu.cus);
  return kernel;
}

}  // namespace

void add_block_traffic(Work& work, const AttentionShape& shape, const GpuSpec& gpu,
                       const WgShape& wg, std::int64_t inner) {
  const std::int64_t size = size_of(shape.dtype).count();
  const std::int64_t dims = shape.head_dim + shape.value_head_dim;
  // It reads and writes its own block; the rest is read once for all WGs that go through it, of the
  // heads that share it, and each WG counts its share.
  const std::int64_t outer = shape.backward ? shape.keys : shape.queries;
  const std::int64_t sharers =
      round_up(sees_a_window(shape) ? std::min(outer, inner) : outer, kBlock) *
      (shape.backward ? 1 : shape.heads / shape.kv_heads);
  const std::int64_t loaded = inner * dims * size * (shape.backward ? 2 : 1);
  const std::int64_t own = kBlock * dims * size * (shape.backward ? 2 : 1);
  work.traffic = bytes(own + round_up(loaded, std::max<std::int64_t>(1, sharers)));
  work.memory_alone = longer(gpu.l2.latency * waits_for(loaded, wg),
                             transfer_time(work.traffic, gpu.memory.bandwidth));
}

void add_blocks(OpKernel& kernel, const std::vector<std::uint32_t>& scales, std::int64_t heads,
                std::int64_t most_turns) {
  const std::int64_t turns = std::min(heads, most_turns);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto of_turn = static_cast<std::uint32_t>(heads / turns + (turn < heads % turns ? 1 : 0));
    for (std::uint32_t scale : scales) {
      scale = std::max(1U, scale);
      const bool same = !kernel.runs.empty() && kernel.runs.back().scale == scale;
      if (!same) kernel.runs.push_back({.work = 0, .scale = scale, .count = 0});
      kernel.runs.back().count += of_turn;
    }
  }
}

OpKernel attention_kernel(const AttentionShape& shape, const GpuSpec& gpu) {
  if (splits_keys(shape)) return split_keys_kernel(shape, gpu);
  return is_flash_prompt(shape, gpu) ? flash_prompt_kernel(shape, gpu) : blocks(shape, gpu);
}

}  // namespace weft
