// Operators of a model in the form that the overlap patterns need: WGs by peer.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/core/round_up.h"
#include "sim/models/fusions.h"
#include "sim/models/op_kernel.h"
#include "sim/models/operators.h"
#include "sim/models/recorded_grid.h"
#include "sim/models/scattered_grid.h"
#include "sim/workloads/embedding.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/gemv.h"

namespace weft {
namespace {

// Up to so many rows count as a GEMV, or several at once: what matters is how rows of W are dealt.
constexpr std::int64_t kFewRows = 64;

PeerGrid no(std::string obstacle) {
  return {.grid = std::nullopt, .obstacle = std::move(obstacle)};
}

// The kernel version whose WGs' work is computed; null: only how many WGs there are, by peer.
using Version = const KernelVersion*;

Grid grid_of(const GemmWork& work, const GpuSpec& gpu, std::uint32_t peers, Version version) {
  return version != nullptr ? gemm_grid(work, gpu, peers, *version) : gemm_shape(work, peers);
}

// y = W x for one row of A: its W is B transposed, so y has n elements.
PeerGrid vector_grid(const GemmShape& gemm, const GpuSpec& gpu, std::uint32_t peers,
                     Version version) {
  GemvWork gemv;
  gemv.m = gemm.n;
  gemv.k = gemm.k;
  gemv.dtype = gemm.dtype;
  gemv.wg = {.threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 4};
  gemv.rows_per_wg = gemv.wg.threads / gpu.wave_size;  // one wave per row
  if (gemm.n % (std::int64_t{gemv.rows_per_wg} * peers) != 0) {
    return no(fmt::format("{} columns do not divide among {} GPUs in WGs of {}", gemm.n, peers,
                          gemv.rows_per_wg));
  }
  Grid grid = gemv_grid(gemv, gpu, peers, version != nullptr ? *version : KernelVersion{});
  grid.result_bytes = gemv.rows_per_wg * size_of(gemm.dtype).count();
  grid.element_bytes = size_of(gemm.dtype).count();
  return {.grid = grid, .obstacle = {}};
}

// C transposed: rows of tiles are columns of C, so that few tokens still divide among the peers.
PeerGrid transposed_grid(const GemmShape& gemm, const GpuSpec& gpu, std::uint32_t peers,
                         Version version) {
  GemmWork work = choose_gemm(gemm, gpu, 1);
  work.m = gemm.n;
  work.n = gemm.m;
  std::swap(work.library.a_size, work.library.b_size);
  std::swap(work.library.a_cost, work.library.b_cost);
  work.tile_n = static_cast<int>(gemm.m);
  work.split_k = 1;
  for (work.tile_m = 128; work.tile_m >= 16; work.tile_m /= 2) {
    const bool divides = gemm.n % (std::int64_t{work.tile_m} * peers) == 0;
    if (divides && (gemm.n / work.tile_m >= gpu.cus || work.tile_m == 16)) break;
  }
  if (work.tile_m < 16 || gemm.n % (std::int64_t{work.tile_m} * peers) != 0) {
    return no(fmt::format("{} columns do not divide among {} GPUs in tiles of 16", gemm.n, peers));
  }
  return {.grid = grid_of(work, gpu, peers, version), .obstacle = {}};
}

// Whether rows have owners one by one: uneven numbers of tokens, or rows that are put by themselves
// or travel as another type than they are multiplied in.
bool has_rows_of_its_own(const GemmShape& gemm, const CommunicationShape& call) {
  return !gemm.m_by_rank.empty() || !call.pair_bytes.empty() || call.puts ||
         (call.row.count() > 0 && gemm.fp8 != Fp8Scales::none);
}

PeerGrid gemm_peer_grid(const GemmShape& gemm, const PeerCall& with, const GpuSpec& gpu,
                        Version version) {
  const CommunicationShape& call = with.call;
  const std::uint32_t peers = with.peers;
  if (has_rows_of_its_own(gemm, call)) {
    if (call.op == CollectiveOp::all_to_all) return scattered_grid(gemm, with, gpu, version);
    return no("its rows do not divide evenly among the GPUs");
  }
  const bool adds_up = call.op == CollectiveOp::all_reduce;
  const bool in_fp8 = gemm.fp8 != Fp8Scales::none;
  const bool of_one_type = !in_fp8 && gemm.packed == 0;  // as a GEMV kernel has them
  const bool is_tiled = gemm.tile != GemmTile{};
  if (adds_up && gemm.m == 1 && gemm.batch == 1 && of_one_type && !is_tiled) {
    return vector_grid(gemm, gpu, peers, version);
  }
  if (adds_up && gemm.m <= kFewRows && gemm.batch == 1) {
    if (is_tiled) {
      return no(
          fmt::format("of up to {} rows the columns are divided among the GPUs, in tiles of "
                      "their own",
                      kFewRows));
    }
    return transposed_grid(gemm, gpu, peers, version);
  }
  GemmShape all = gemm;
  all.m *= gemm.batch;
  all.batch = 1;
  const GemmWork work = choose_gemm(all, gpu, peers);
  if (work.m == 0 && call.op == CollectiveOp::all_to_all) {
    return scattered_grid(gemm, with, gpu, version);
  }
  if (work.m == 0) {
    return no(fmt::format("{} x {} does not divide into tiles for {} GPUs", all.m, all.n, peers));
  }
  Grid grid = grid_of(work, gpu, peers, version);
  // Each product of the batch has weights of its own.
  const std::int64_t weights =
      std::llround(static_cast<double>((gemm.batch - 1) * gemm.k * gemm.n *
                                       (in_fp8 ? 1 : size_of(gemm.dtype).count())) *
                   size_of_b(gemm));
  const std::int64_t tiles = std::int64_t{grid.per_peer} * peers;
  for (Work* each : {&grid.written, &grid.stored}) each->traffic += bytes(weights / tiles);
  return {.grid = grid, .obstacle = {}};
}

Grid grid_of(const EmbeddingShape& bag, const GpuSpec& gpu, std::uint32_t peers, Version version) {
  if (version == nullptr) {
    return bag.backward ? embedding_backward_shape(bag.work, peers)
                        : embedding_shape(bag.work, peers);
  }
  return bag.backward ? embedding_backward_grid(bag.work, gpu, peers, *version)
                      : embedding_grid(bag.work, gpu, peers, *version);
}

PeerGrid embedding_peer_grid(const EmbeddingShape& bag, const GpuSpec& gpu, std::uint32_t peers,
                             Version version) {
  const std::int64_t step = std::int64_t{bag.work.rows_per_wg} * peers;
  if (bag.work.batch % step != 0) {
    return no(fmt::format("a batch of {} does not divide among {} GPUs in WGs of {} rows",
                          bag.work.batch, peers, bag.work.rows_per_wg));
  }
  return {.grid = grid_of(bag, gpu, peers, version), .obstacle = {}};
}

PeerGrid made_of(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu, Version version) {
  const std::uint32_t peers = call.peers;
  PeerGrid made;
  if (is_described(op)) {
    made.grid = described_grid(*op.described, gpu, peers, version);
  } else if (const auto* gemm = std::get_if<GemmShape>(&op.shape)) {
    made = gemm_peer_grid(*gemm, call, gpu, version);
  } else if (const auto* bag = std::get_if<EmbeddingShape>(&op.shape)) {
    made = embedding_peer_grid(*bag, gpu, peers, version);
  } else if (const auto* recorded = std::get_if<RecordedShape>(&op.shape)) {
    made =
        recorded_peer_grid(*recorded, call, gpu, version != nullptr ? *version : KernelVersion{});
  } else {
    made = no("no kernel that sends or receives by WG is known for it");
  }
  if (made.grid) made.grid->name = op.name;
  if (made.grid && version != nullptr) add_spills(*made.grid, gpu, *version);
  return made;
}

}  // namespace

PeerGrid peer_grid(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu,
                   const KernelVersion& version) {
  return made_of(op, call, gpu, &version);
}

PeerGrid peer_shape(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu) {
  return made_of(op, call, gpu, nullptr);
}

std::int64_t bytes_per_pair(const Grid& grid, Travels travels) {
  return travels == Travels::input ? grid.units() * grid.input_bytes : grid.bytes_of(grid.per_peer);
}

OverlapOptions with_whole_slices(const OverlapOptions& options, const Grid& grid, Travels travels) {
  OverlapOptions fitted = options;
  int& slice = fitted.fused.slice_wgs;
  const auto results = static_cast<int>(grid.per_peer / grid.parts);
  if (travels == Travels::result) {
    slice = std::gcd(results, std::min(results, slice));
  } else {  // in whole units
    const auto unit = static_cast<int>(grid.unit);
    slice = std::gcd(static_cast<int>(grid.units()), std::max(1, slice / unit)) * unit;
  }
  fitted.kernel.chunks = std::min(fitted.kernel.chunks, static_cast<int>(grid.units()));
  return fitted;
}

}  // namespace weft
