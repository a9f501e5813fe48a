#include "sim/models/peer_kernels.h"

#include <utility>

#include "sim/core/round_up.h"
#include "sim/models/op_kernel.h"

namespace weft {
namespace {

// A library's GEMM of the rows of one peer, with the tile and the split that are best for so few.
std::optional<OpKernel> part_of(const ModelOp& op, const GpuSpec& gpu, std::uint32_t peers) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  if (gemm == nullptr || op.described.kind != nullptr) return std::nullopt;
  GemmShape part = *gemm;
  part.m = round_up(gemm->m, peers);
  return op_kernel(part, gpu, 0);
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
  StreamShape sum;
  sum.read = each * peers;
  sum.written = each;
  sum.flops = flops(each.count() / element_bytes(op.shape) * (peers - 1));
  return {.part = part_of(op, gpu, peers),
          .staging = op_kernel(copy, gpu, 0),
          .sum = op_kernel(sum, gpu, 0)};
}

}  // namespace weft
