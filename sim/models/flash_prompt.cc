#include "sim/models/flash_prompt.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/round_up.h"
#include "sim/gpu_model/cu_law.h"
#include "sim/gpu_model/gemm_law.h"
#include "sim/models/attention_kernel.h"
#include "sim/models/flash_tiles.h"

namespace weft {
namespace {

// Several heads in a turn only where there would be more runs of blocks than this.
constexpr std::int64_t kMostRuns = 16'384;
constexpr std::int64_t kLongestHead = 128;  // longer ones have another kernel, one WG on a CU

bool is_masked(const AttentionShape& shape) { return shape.causal || sees_a_window(shape); }

// Blocks of keys that the block of queries from `first` on goes through.
std::int64_t blocks_of_keys(const AttentionShape& shape, std::int64_t first, std::int64_t of_keys) {
  const std::int64_t earlier = shape.keys - shape.queries;  // keys before the first query
  std::int64_t end = shape.keys;
  if (is_masked(shape)) end = std::clamp(first + kWholeTile.rows + earlier, std::int64_t{1}, end);
  std::int64_t begin = 0;
  if (sees_a_window(shape)) begin = std::max(begin, first + earlier + 1 - shape.window);
  return std::max<std::int64_t>(1, round_up(end, of_keys) - begin / of_keys);
}

// A WG computes neither while its queries come nor while its results leave, at its CU's share of
// the HBM.
Duration own_rows(const AttentionShape& shape, const GpuSpec& gpu) {
  const std::int64_t of_cu =
      kWholeTile.rows * (shape.head_dim + shape.value_head_dim) * size_of(shape.dtype).count();
  return transfer_time(bytes(of_cu * gpu.cus), gpu.memory.bandwidth);
}

// Of a WG with a CU's arithmetic to itself.
Duration block_time(const AttentionShape& shape, const GpuSpec& gpu, std::int64_t blocks) {
  const LibraryAttentionSpec& library = *gpu.library_attention;
  const std::int64_t of_keys = keys_of(kWholeTile, shape.head_dim);
  const std::int64_t scores = kWholeTile.rows * of_keys * blocks;
  const Flops products = flops(2 * scores) * (shape.head_dim + shape.value_head_dim);
  Duration time = library.start + own_rows(shape, gpu) +
                  arithmetic_time(products, matrix_rate(gpu, library.efficiency), gpu, 1000) +
                  arithmetic_time(flops(scores), library.exponentials, gpu, 1000);
  if (!is_masked(shape)) return time;
  time += library.flash_2->masked;
  const bool ragged =
      sees_a_window(shape) || shape.queries % kWholeTile.rows != 0 || shape.keys % of_keys != 0;
  const bool several = blocks * of_keys > kWholeTile.rows;
  if (ragged && several) time += library.flash_2->ragged;
  return time;
}

// Thousandths of its CU that a WG by itself reaches; all, where no other fits beside it.
std::uint32_t share_of(const WgShape& wg, const GpuSpec& gpu) {
  if (resident_on_cu(gpu, wg) < 2) return 1000;
  return static_cast<std::uint32_t>(std::llround(1000 * gpu.library_attention->flash_2->alone));
}

}  // namespace

bool is_flash_prompt(const AttentionShape& shape, const GpuSpec& gpu) {
  return !shape.backward && gpu.library_attention && gpu.library_attention->flash_2 &&
         std::max(shape.head_dim, shape.value_head_dim) <= kLongestHead;
}

OpKernel flash_prompt_kernel(const AttentionShape& shape, const GpuSpec& gpu) {
  const std::int64_t of_keys = keys_of(kWholeTile, shape.head_dim);
  std::vector<std::int64_t> blocks;
  for (std::int64_t first = 0; first < shape.queries; first += kWholeTile.rows) {
    blocks.push_back(blocks_of_keys(shape, first, of_keys));
  }
  const std::int64_t most = *std::max_element(blocks.begin(), blocks.end());
  const Duration longest = block_time(shape, gpu, most);
  OpKernel kernel;
  kernel.wg = wg_of(kWholeTile, shape.head_dim, gpu);
  Work work;
  work.flops =
      flops(2 * kWholeTile.rows * of_keys * most) * (shape.head_dim + shape.value_head_dim);
  work.arithmetic_share = share_of(kernel.wg, gpu);
  work.arithmetic_alone =
      picoseconds(round_up(longest.count() * 1000, std::int64_t{work.arithmetic_share}));
  add_block_traffic(work, shape, gpu, kernel.wg, std::min(shape.keys, most * of_keys));
  kernel.works = {work};
  std::vector<std::uint32_t> scales;
  for (const std::int64_t count : blocks) {
    const double share = static_cast<double>(block_time(shape, gpu, count).count()) /
                         static_cast<double>(longest.count());
    scales.push_back(static_cast<std::uint32_t>(std::llround(share * Item::kUnit)));
  }
  const auto of_head = static_cast<std::int64_t>(scales.size());
  add_blocks(kernel, scales, shape.batch * shape.heads,
             std::max<std::int64_t>(1, kMostRuns / of_head));
  add_setup(kernel, gpu.library_attention->setup, gpu.cus);
  return kernel;
}

}  // namespace weft
