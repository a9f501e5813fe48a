#include "sim/models/op_kernel.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/models/attention_kernel.h"
#include "sim/models/recorded_kernel.h"
#include "sim/models/streams.h"
#include "sim/workloads/gemm.h"

namespace weft {
namespace {

constexpr std::uint32_t kMostRounds = 15;  // that an item's scale can hold: 24 bits of 2^-20

// Of all products together.
std::int64_t rows_of_tiles(const GemmShape& shape, const GemmWork& gemm) {
  const std::int64_t at_once = std::int64_t{gemm.tile_m} * gemm.library.pair;
  if (shape.m_of_each.empty()) return round_up(shape.m, at_once) * gemm.library.pair * shape.batch;
  std::int64_t rows = 0;
  for (const std::int64_t m : shape.m_of_each) rows += round_up(m, at_once) * gemm.library.pair;
  return rows;
}

// PyTorch's choice ([M] H200): below, of products on average, and of fp8, small tiles.
constexpr std::int64_t kFewRowsEach = 128;

GemmKernels kernels_for(const GemmShape& shape) {
  if (shape.grouped) {
    const bool small = shape.fp8 != Fp8Scales::none || shape.m <= kFewRowsEach;
    return small ? GemmKernels::grouped_small : GemmKernels::grouped;
  }
  if (shape.fp8 == Fp8Scales::block) return GemmKernels::scaled_blocks;
  return shape.fp8 == Fp8Scales::row ? GemmKernels::scaled : GemmKernels::any;
}

// What precedes the first tiles of a kernel.
Duration setup_of(const GemmShape& shape, const GpuSpec& gpu) {
  if (!gpu.library_gemm) return {};
  if (shape.grouped) return gpu.library_gemm->grouped;
  return shape.fp8 == Fp8Scales::none ? Duration{} : gpu.library_gemm->scaled;
}

double fp32_sums_of(const GemmShape& shape, const GpuSpec& gpu) {
  if (!gpu.library_gemm || shape.sums == Fp8Sums::fast) return 0;
  const Fp32SumsSpec& longer = gpu.library_gemm->fp32_sums;
  switch (shape.fp8) {
    case Fp8Scales::none:
      break;
    case Fp8Scales::tensor:
      return longer.tensor;
    case Fp8Scales::row:
      return longer.row;
    case Fp8Scales::block:
      return shape.sums == Fp8Sums::in_fp32_of_two_blocks ? longer.two_blocks : longer.block;
  }
  return 0;
}

// CUTLASS's grouped kernels have the tiles of their numbers.
WorkList list_of(const GemmShape& shape, const GpuSpec& gpu) {
  if (library_schedule(gpu) != GemmSchedule::counter) return WorkList::dynamic_list;
  return shape.grouped ? WorkList::static_list : WorkList::first_static;
}

OpKernel gemm_kernel_of(const GemmShape& shape, const GpuSpec& gpu, std::uint32_t rank) {
  GemmShape own = shape;
  if (!shape.m_by_rank.empty()) own.m = shape.m_by_rank[rank];
  OpKernel kernel;
  if (own.m == 0) return kernel;
  const GemmWork gemm = choose_gemm(own, gpu, 1);
  SIM_ASSERT(gemm.m > 0);
  const std::int64_t fit = resident_on_gpu(gpu, gemm.wg, {});
  const std::int64_t tiles =
      rows_of_tiles(own, gemm) * round_up(gemm.n, gemm.tile_n) * gemm.split_k;
  kernel.wg = gemm.wg;
  kernel.persistent = true;
  kernel.work_list = list_of(shape, gpu);
  kernel.works = {tile_work_written_here(
      gemm, gpu, {.cus = gpu.cus, .wgs_on_cu = resident(gpu, gemm.wg, {}), .peers = 1})};
  deal(kernel, tiles, fit);
  add_setup(kernel, setup_of(shape, gpu), fit);
  return kernel;
}

}  // namespace

void deal(OpKernel& kernel, std::int64_t tiles, std::int64_t fit) {
  const std::int64_t grid = std::min(tiles, fit);
  const auto run = [&](std::int64_t rounds, std::int64_t items) {
    if (items == 0) return;
    kernel.runs.push_back({.work = 0,
                           .scale = static_cast<std::uint32_t>(rounds) * Item::kUnit,
                           .count = static_cast<std::uint32_t>(items)});
  };
  run(1, grid);
  for (std::int64_t left = tiles / grid - 1; left > 0;) {
    const std::int64_t rounds = std::min<std::int64_t>(round_up(left, 2), kMostRounds);
    run(rounds, grid);
    left -= rounds;
  }
  run(1, tiles % grid);
}

Work stream_work(const StreamShape& shape, const GpuSpec& gpu, const WgShape& wg,
                 std::int64_t wgs) {
  const std::int64_t read = round_up(shape.read.count(), wgs);
  const std::int64_t in_flight =
      std::int64_t{wg.threads} * shape.loads_in_flight * shape.load.count();
  Work work;
  work.traffic = bytes(read);
  work.memory_alone = stream_latency(gpu, shape.loads_in_flight) * round_up(read, in_flight);
  add_writes(work, gpu, round_up(shape.written.count(), wgs));
  work.memory_alone = longer(work.memory_alone, memory_time(work, gpu));
  work.flops = flops(round_up(shape.flops.count(), wgs));
  // The peak counts a multiply-add of a thread twice; other instructions take as long.
  const Flops issued = std::max(work.flops, flops(2 * round_up(shape.instructions, wgs)));
  work.arithmetic_share = share_of_cu(gpu, wg.threads);
  work.arithmetic_alone = arithmetic_time(issued, gpu.fp32_vector, gpu, work.arithmetic_share);
  return work;
}

namespace {

// The optimiser of PyTorch, Apex and Transformer Engine (multi_tensor_apply): each WG has a chunk
// of weights; kernels of at most kMostChunks WGs run one after another. [P] 512 threads, four
// weights per thread at a time, 65,536 weights, 320 chunks; [M] 60 registers per thread (H200).
constexpr std::int64_t kMostChunks = 320;
constexpr WgShape kOptimizerWg{
    .threads = 512, .registers_per_thread = 60, .lds = bytes(0), .loads_in_flight = 4};
// [M] From a thread's loads to its stores, H200: a chunk alone takes 37 us for 32 turns, both with
// fp32 and with bf16 states. Roots, divisions, factors in fp64.
constexpr Duration kOptimizerTurn = nanoseconds(610);

// WGs of a kernel that find no free slot begin when the first ones have ended. So each slot is
// given its chunks of all kernels in turn as one item; this keeps the same slots busy at the same
// time as running kernel after kernel.
OpKernel optimizer_kernel(const StreamShape& shape, const GpuSpec& gpu) {
  OpKernel kernel;
  kernel.wg = kOptimizerWg;
  kernel.persistent = true;
  const Work chunk = stream_work(shape, gpu, kernel.wg, shape.chunks);
  const std::int64_t turns = kChunk / (std::int64_t{kernel.wg.threads} * kernel.wg.loads_in_flight);
  const Duration alone =
      longer(chunk.memory_alone,
             (stream_latency(gpu, kernel.wg.loads_in_flight) + kOptimizerTurn) * turns);
  const std::int64_t fit = resident_on_gpu(gpu, kernel.wg, {});
  const std::int64_t kernels = shape.chunks / kMostChunks;
  const std::int64_t last = shape.chunks % kMostChunks;
  const auto of_place = [fit](std::int64_t chunks, std::int64_t place) {
    return chunks / fit + (place < chunks % fit ? 1 : 0);
  };
  for (std::int64_t place = 0; place < std::min(fit, shape.chunks); ++place) {
    const std::int64_t count = kernels * of_place(kMostChunks, place) + of_place(last, place);
    Work work = chunk;
    work.traffic = chunk.traffic * count;
    work.written_more = chunk.written_more * count;
    work.flops = chunk.flops * count;
    work.arithmetic_alone = {};  // included in the turn
    work.memory_alone = alone * count;
    work.fixed = gpu.launch.queue * (kernels + (last > 0 ? 1 : 0) - 1);
    if (kernel.works.empty() || !(kernel.works.back() == work)) {
      kernel.works.push_back(work);
      kernel.runs.push_back({.work = static_cast<std::uint32_t>(kernel.works.size() - 1),
                             .scale = Item::kUnit,
                             .count = 0});
    }
    ++kernel.runs.back().count;
  }
  return kernel;
}

// All WGs that fit take an equal part; a small stream starts only as many WGs as have 16 KiB each.
OpKernel stream_kernel(const StreamShape& shape, const GpuSpec& gpu) {
  if (shape.chunks > 0) return optimizer_kernel(shape, gpu);
  constexpr std::int64_t kLeastOfWg = 16 * 1024;
  OpKernel kernel;
  kernel.wg = {.threads = 256,
               .registers_per_thread = 32,
               .lds = bytes(0),
               .loads_in_flight = shape.loads_in_flight};
  kernel.persistent = true;
  std::int64_t fit = resident_on_gpu(gpu, kernel.wg, {});
  if (shape.most_wgs > 0) fit = std::min(fit, shape.most_wgs);
  const std::int64_t all = shape.read.count() + shape.written.count();
  const std::int64_t wgs = std::clamp<std::int64_t>(round_up(all, kLeastOfWg), 1, fit);
  kernel.works = {stream_work(shape, gpu, kernel.wg, wgs)};
  kernel.runs = {{.work = 0, .scale = Item::kUnit, .count = static_cast<std::uint32_t>(wgs)}};
  return kernel;
}

}  // namespace

void add_setup(OpKernel& kernel, Duration setup, std::int64_t items) {
  if (setup == Duration{}) return;
  Work first = kernel.works.front();
  first.fixed += setup;
  const auto with_setup = static_cast<std::uint32_t>(kernel.works.size());
  kernel.works.push_back(first);
  auto left = static_cast<std::uint32_t>(items);
  std::vector<OpKernel::Run> runs;
  for (const OpKernel::Run& run : kernel.runs) {
    const std::uint32_t here = std::min(left, run.count);
    left -= here;
    if (here > 0) runs.push_back({.work = with_setup, .scale = run.scale, .count = here});
    if (here < run.count) {
      runs.push_back({.work = run.work, .scale = run.scale, .count = run.count - here});
    }
  }
  kernel.runs = std::move(runs);
}

double size_of_b(const GemmShape& shape) {
  constexpr double kPacked = 128;
  if (shape.packed == 0) return 1;
  return shape.packed / (kPacked * static_cast<double>(size_of(shape.dtype).count()));
}

namespace {

GemmSize library_size(const GemmShape& shape, const GpuSpec& gpu) {
  const Bytes result = size_of(shape.dtype);
  return {.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .batch = shape.batch,
          .element_bytes = shape.fp8 != Fp8Scales::none ? 1 : result.count(),
          .result_bytes = result.count(),
          .layout = shape.layout,
          .kernels = kernels_for(shape),
          .accumulates = shape.accumulates,
          .whole_k = shape.whole_k,
          .fp32_sums = fp32_sums_of(shape, gpu),
          .b_size = size_of_b(shape),
          .tile = shape.tile};
}

}  // namespace

GemmWork choose_gemm(const GemmShape& shape, const GpuSpec& gpu, std::int64_t peers) {
  return library_work(library_size(shape, gpu), shape.dtype, gpu, peers);
}

std::vector<GemmTile> tiles_of(const GemmShape& shape, const GpuSpec& gpu) {
  return library_tiles(library_size(shape, gpu), gpu);
}

OpKernel op_kernel(const OpShape& shape, const GpuSpec& gpu, std::uint32_t rank) {
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) return gemm_kernel_of(*gemm, gpu, rank);
  if (const auto* attention = std::get_if<AttentionShape>(&shape)) {
    return attention_kernel(*attention, gpu);
  }
  if (const auto* stream = std::get_if<StreamShape>(&shape)) return stream_kernel(*stream, gpu);
  const auto* recorded = std::get_if<RecordedShape>(&shape);
  SIM_ASSERT(recorded != nullptr);
  return recorded_kernel(*recorded, gpu, rank);
}

}  // namespace weft
