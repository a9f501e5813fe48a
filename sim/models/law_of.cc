#include "sim/models/law_of.h"

#include <algorithm>

#include "sim/models/split_keys.h"

namespace weft {
namespace {

struct OfShape {
  Law operator()(const GemmShape& /*gemm*/) const { return Law::gemm; }
  Law operator()(const AttentionShape& attention) const {
    return splits_keys(attention) ? Law::decoding : Law::attention;
  }
  Law operator()(const EmbeddingShape& /*bag*/) const { return Law::lookup; }
  Law operator()(const StreamShape& /*stream*/) const { return Law::stream; }
  Law operator()(const RecordedShape& /*kernel*/) const { return Law::recorded; }
  Law operator()(const CommunicationShape& /*call*/) const { return Law::collective; }
};

}  // namespace

Law law_of(const ModelOp& op) { return std::visit(OfShape{}, op.shape); }

Law law_of_collective(const Groups& place, const Cluster& cluster) {
  const auto apart = [&](const std::vector<std::uint32_t>& group) {
    const std::uint32_t node = cluster.node_of(GpuId(group.front()));
    return std::any_of(group.begin(), group.end(),
                       [&](std::uint32_t gpu) { return cluster.node_of(GpuId(gpu)) != node; });
  };
  const bool between = std::any_of(place.groups.begin(), place.groups.end(), apart);
  return between ? Law::between_nodes : Law::collective;
}

}  // namespace weft
