// What can be fused: a producer whose only consumer is a collective, and a collective whose only
// consumer can start on the part that has arrived.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

struct Fusion {
  OpId first;   // the producer, or the collective that brings the input
  OpId second;  // the collective, or the consumer
  // A kernel between the two that passes on the producer's result, or what was gathered, element
  // by element, or only moves rows, which a fused kernel reads or sends one by one wherever they
  // belong.
  OpId through = OpId::none();
  Travels travels = Travels::result;
  WorkloadKind pattern = WorkloadKind::gemm_all_reduce;  // the pattern of that name in scenarios
  std::string obstacle;  // why it is impossible, as a message; empty if it is possible
  // Its WGs have results for several peers, or put each row in its place: no chunks or parts.
  bool scatters = false;
};

// In the order of the graph. Each operator is in at most one of them: a producer with its
// collective takes precedence over a collective with its consumer. Those with an obstacle are
// included, to be reported.
std::vector<Fusion> find_fusions(const ModelGraph& graph, const GpuSpec& gpu);

// The operator that computes and the one that communicates.
OpId computing(const Fusion& fusion);
OpId communicating(const Fusion& fusion);

// What is fused with the collective: the operator that computes. A recorded one includes the time
// of the kernel that passes on its result.
ModelOp fused_operator(const ModelGraph& graph, const Fusion& fusion);

// Whether this is no kernel but the time that the host took (RecordedShape::host).
bool is_host_time(const ModelOp& op);

bool only_reorders(const ModelOp& op);  // StreamShape::reorders

bool is_product(const ModelOp& op);  // by a library, not recorded

// Whether the kernel `next` passes on the result of the GEMM before it: an elementwise kernel or a
// copy with as many results as a recorded GEMM, or the sum of its split k; a copy after another.
bool passes_on(const ModelOp& gemm, const ModelOp& next);

// Whether the kernel `before` makes the first matrix of the GEMM after it out of what it was given:
// an elementwise kernel or a copy with as many results; a copy of rows before another GEMM.
bool brings(const ModelOp& before, const ModelOp& gemm);

// The collective that an operator is overlapped with, among so many GPUs.
struct PeerCall {
  const CommunicationShape& call;
  Travels travels = Travels::result;
  std::uint32_t peers = 0;
};

PeerCall peer_call(const ModelGraph& graph, const Fusion& fusion);

// The operator's WGs by the peer that their results go to or their input comes from. If they do not
// divide among the peers: no grid, and why.
struct PeerGrid {
  std::optional<Grid> grid;
  std::string obstacle;
};
PeerGrid peer_grid(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu,
                   const KernelVersion& version);

// The same without the work of each WG, which may take cache simulations to find.
PeerGrid peer_shape(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu);

// Why the mode cannot overlap the pair in its way (why_not of sim/scenario/modes.h), and whether it
// can.
std::string_view why_not(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster,
                         Mode mode);
bool suits(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster, Mode mode);

// What travels from one GPU to one other.
std::int64_t bytes_per_pair(const Grid& grid, Travels travels);

// The options with slices and chunks that evenly divide what this operator has for one peer.
OverlapOptions with_whole_slices(const OverlapOptions& options, const Grid& grid, Travels travels);

}  // namespace weft
