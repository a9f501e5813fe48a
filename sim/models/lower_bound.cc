#include "sim/models/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sim/gpu_model/gemm_law.h"
#include "sim/models/split_keys.h"
#include "sim/workloads/embedding.h"

namespace weft {
namespace {

double seconds_at_peak(const OpShape& shape, const GpuSpec& gpu, std::int64_t element_bytes) {
  const auto operations = static_cast<double>(flops_of(shape).count());
  return operations / static_cast<double>(matrix_rate(gpu, 1, element_bytes).count());
}

// What an operator takes on the GPU of this rank, at least.
double at_peak(const OpShape& shape, const GpuSpec& gpu, std::size_t rank) {
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) {
    GemmShape own = *gemm;
    own.m_by_rank.clear();
    if (!gemm->m_by_rank.empty()) own.m = gemm->m_by_rank[rank];
    if (!gemm->m_of_each.empty()) {  // the rows of all, as one product
      own.m = std::accumulate(gemm->m_of_each.begin(), gemm->m_of_each.end(), std::int64_t{0});
      own.batch = 1;
    }
    return seconds_at_peak(own, gpu,
                           gemm->fp8 == Fp8Scales::none ? size_of(gemm->dtype).count() : 1);
  }
  if (const auto* attention = std::get_if<AttentionShape>(&shape)) {
    // At bf16's rate whatever its type, as its kernel.
    return splits_keys(*attention) ? 0 : seconds_at_peak(shape, gpu, 2);
  }
  if (const auto* bag = std::get_if<EmbeddingShape>(&shape)) {
    return least_traffic(bag->work, bag->backward) / to_bytes_per_second(gpu.memory.bandwidth);
  }
  const auto* stream = std::get_if<StreamShape>(&shape);
  if (stream == nullptr) return 0;
  return to_seconds(transfer_time(stream->read + stream->written, gpu.memory.bandwidth));
}

// When each operator ends on each of its GPUs, at the earliest.
class Earliest {
 public:
  Earliest(const ModelGraph& graph, const GpuSpec& gpu) : graph_(graph), gpu_(gpu) {}

  double end() {
    for (const ModelOp& op : graph_.ops) add(op);
    return last_;
  }

 private:
  using Ends = std::map<std::uint32_t, double>;  // by GPU

  double ready(const ModelOp& op, std::uint32_t gpu) {
    double at = streams_[{gpu, op.stream}];
    for (const OpId before : op.after) {
      const auto found = ends_[before].find(gpu);
      if (found != ends_[before].end()) at = std::max(at, found->second);
    }
    return at;
  }

  void add(const ModelOp& op) {
    const auto* sends = std::get_if<CommunicationShape>(&op.shape);
    if (sends != nullptr && sends->op != CollectiveOp::point_to_point) sends = nullptr;
    Ends ends;
    for (const std::vector<std::uint32_t>& group : graph_.places[op.place].groups) {
      for (std::size_t rank = 0; rank < group.size(); ++rank) {
        ends[group[rank]] = ready(op, group[rank]) + at_peak(op.shape, gpu_, rank);
      }
      if (sends == nullptr) continue;
      double& received = ends[group[sends->target]];
      received = std::max(received, ends[group[sends->root]]);
    }
    for (const auto& [gpu, at] : ends) {
      streams_[{gpu, op.stream}] = at;
      last_ = std::max(last_, at);
    }
    ends_.push_back(std::move(ends));
  }

  const ModelGraph& graph_;
  const GpuSpec& gpu_;
  IdVector<OpId, Ends> ends_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> streams_;  // by GPU and stream
  double last_ = 0;
};

}  // namespace

Chain chain_of(const ModelGraph& graph, const GpuSpec& gpu, std::uint32_t gpus_of_stage) {
  Chain chain;
  for (const ModelOp& op : graph.ops) {
    if (op.block.is_none() || op.part == "optimizer") continue;
    const std::vector<std::uint32_t>& group = graph.places[op.place].groups.front();
    double longest = 0;
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      longest = std::max(longest, at_peak(op.shape, gpu, rank));
    }
    const Duration time = picoseconds(std::llround(longest * 1e12));
    const int layer = graph.blocks[op.block].layer;
    if (layer < 0) {
      (group.front() < gpus_of_stage ? chain.before : chain.after) += time;
      continue;
    }
    const auto index = static_cast<std::size_t>(layer);
    if (index >= chain.layers.size()) chain.layers.resize(index + 1);
    chain.layers[index] += time;
  }
  return chain;
}

double lower_bound_us(const ModelGraph& graph, const GpuSpec& gpu) {
  return Earliest(graph, gpu).end() * 1e6;
}

}  // namespace weft
