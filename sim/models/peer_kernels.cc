#include "sim/models/peer_kernels.h"

#include <algorithm>
#include <utility>

#include "sim/core/round_up.h"
#include "sim/models/op_kernel.h"

namespace weft {
namespace {

// A library's GEMM of the rows of one peer, with the tile and the split that are best for so few.
std::optional<OpKernel> part_of(const ModelOp& op, const GpuSpec& gpu, std::uint32_t peers) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  if (gemm == nullptr || is_described(op)) return std::nullopt;
  GemmShape part = *gemm;
  part.m = round_up(gemm->m, peers);
  return op_kernel(part, gpu, 0);
}

// The sum over the parts as ATen writes it (reduce_kernel<128, 4>): 512 results a WG; a thread
// loads four neighbouring elements of up to four parts at a time. [P] its source; [M] 54 registers.
constexpr WgShape kSumWg{
    .threads = 128, .registers_per_thread = 54, .lds = bytes(0), .loads_in_flight = 4};
constexpr std::int64_t kResultsOfThread = 4;
// [M] H100, the longest lines of two and of four parts in calibration/measurements/
// h100-pytorch-sums.jsonl, which its instructions bound: 532 and 560 of a thread, most of them for
// the places of four results, found by division.
constexpr std::int64_t kSumInstructions = 504;
constexpr std::int64_t kSumInstructionsOfPart = 14;

OpKernel sum_kernel(Bytes each, std::int64_t element, const GpuSpec& gpu, std::uint32_t peers) {
  const std::int64_t results = each.count() / element;
  const std::int64_t wgs = round_up(results, kSumWg.threads * kResultsOfThread);
  const int loads = std::min<int>(kSumWg.loads_in_flight, static_cast<int>(peers));
  const Work work =
      stream_work({.read = each * peers,
                   .written = each,
                   .flops = flops(results * (peers - 1)),
                   .instructions = round_up(results, kResultsOfThread) *
                                   (kSumInstructions + kSumInstructionsOfPart * peers),
                   .load = bytes(element * kResultsOfThread),
                   .loads_in_flight = loads},
                  gpu, kSumWg, wgs);
  OpKernel kernel;
  kernel.wg = kSumWg;
  kernel.persistent = true;
  kernel.works = {work};
  deal(kernel, wgs, resident_on_gpu(gpu, kSumWg, {}));
  return kernel;
}

// Elements of results, which are added up as they travel; other operators' do not add up.
std::int64_t element_bytes(const OpShape& shape) {
  const auto* gemm = std::get_if<GemmShape>(&shape);
  return gemm != nullptr ? size_of(gemm->dtype).count() : 1;
}

}  // namespace

PeerKernels peer_kernels(const ModelOp& op, const CommunicationShape& call, const GpuSpec& gpu,
                         std::uint32_t peers) {
  const Bytes each = bytes(call.buffer.count() / peers);
  // Of an all-gather every peer fetches the same.
  const Bytes own = call.op == CollectiveOp::all_gather ? each : each * (peers - 1);
  StreamShape copy;
  copy.read = own;
  copy.written = own;
  return {.part = part_of(op, gpu, peers),
          .staging = op_kernel(copy, gpu, 0),
          .sum = sum_kernel(each, element_bytes(op.shape), gpu, peers)};
}

}  // namespace weft
