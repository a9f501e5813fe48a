// What can be fused: a producer whose only consumer is a collective, and a collective whose only
// consumer can start on what has arrived.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

struct Fusion {
  OpId first;   // the producer, or the collective that brings the input
  OpId second;  // the collective, or the consumer
  // A recorded kernel between the two that passes the producer's result on, element by element.
  OpId through = OpId::none();
  Travels travels = Travels::result;
  WorkloadKind pattern = WorkloadKind::gemm_all_reduce;  // of that name in scenarios
  std::string obstacle;  // why it cannot be done, for people; empty where it can
};

// In the order of the graph; each operator in at most one of them: a producer with its collective
// before a collective with its consumer. Those with an obstacle come along, to be reported.
std::vector<Fusion> find_fusions(const ModelGraph& graph, const GpuSpec& gpu);

// The operator that computes and the one that communicates.
OpId computing(const Fusion& fusion);
OpId communicating(const Fusion& fusion);

// What is fused with the collective: the operator that computes; of a recorded one, with the time
// of what passes its result on.
ModelOp fused_operator(const ModelGraph& graph, const Fusion& fusion);

// Whether the recorded kernel `next` passes on the result of the recorded GEMM before it: an
// elementwise kernel or a copy with as many results as the GEMM, or the sum of a split k.
bool passes_on(const ModelOp& gemm, const ModelOp& next);

// The operator's WGs by the peer that their results go to or their input comes from; none, and why
// not, where they do not divide among `peers`.
struct PeerGrid {
  std::optional<Grid> grid;
  std::string obstacle;
};
PeerGrid peer_grid(const ModelOp& op, const CommunicationShape& call, const GpuSpec& gpu,
                   std::uint32_t peers, const KernelVersion& version);

// The same without what a WG's work is, which may take walks through caches to find.
PeerGrid peer_shape(const ModelOp& op, const CommunicationShape& call, const GpuSpec& gpu,
                    std::uint32_t peers);

// What travels from one GPU to one other.
std::int64_t bytes_per_pair(const Grid& grid, Travels travels);

// Slices and chunks as they divide what this operator has for a peer.
OverlapOptions with_whole_slices(const OverlapOptions& options, const Grid& grid, Travels travels);

}  // namespace weft
