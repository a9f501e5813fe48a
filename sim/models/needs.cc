#include "sim/models/needs.h"

#include <algorithm>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/models/fusions.h"
#include "sim/models/op_kernel.h"

namespace weft {
namespace {

double gpus_in(const Groups& place) {
  double gpus = 0;
  for (const std::vector<std::uint32_t>& group : place.groups) {
    gpus += static_cast<double>(group.size());
  }
  return gpus;
}

double items_of(const OpShape& shape, const GpuSpec& gpu) {
  if (const auto* bag = std::get_if<EmbeddingShape>(&shape)) {
    return static_cast<double>(bag->work.batch) / bag->work.rows_per_wg * bag->work.tables_per_gpu;
  }
  double items = 0;
  for (const OpKernel::Run& run : op_kernel(shape, gpu, 0).runs) items += run.count;
  return items;
}

CollectiveCounts count_call(const CommunicationShape& shape, const Groups& place,
                            const Scenario& scenario, const Cluster& cluster) {
  CollectiveCall call;
  call.op = shape.op;
  call.buffer = shape.buffer;
  call.options = scenario.collective;
  call.ranks = place.groups.front();
  const GroupsAtOnce at_once(cluster, place.groups);
  call.at_once = &at_once;
  call.root = shape.root;
  call.target = shape.target;
  if (!shape.pair_bytes.empty()) {  // as if all pairs had the most
    const auto ranks = static_cast<std::int64_t>(call.ranks.size());
    call.buffer =
        bytes(*std::max_element(shape.pair_bytes.begin(), shape.pair_bytes.end()) * ranks);
  }
  CollectiveCounts counts = count_collective(cluster, call);
  const auto groups = static_cast<double>(place.groups.size());
  counts.items *= groups;
  counts.sends *= groups;
  counts.bytes *= groups;
  return counts;
}

// Cut into WGs by peer, each of which may store its result by itself, with a flag.
double stored_by_wgs(const ModelGraph& graph, const GpuSpec& gpu) {
  double wgs = 0;
  for (const Fusion& fusion : find_fusions(graph, gpu)) {
    if (!fusion.obstacle.empty()) continue;
    const ModelOp& call = graph.ops[communicating(fusion)];
    const Groups& place = graph.places[call.place];
    const auto peers = static_cast<std::uint32_t>(place.groups.front().size());
    const PeerGrid made = peer_grid(graph.ops[computing(fusion)],
                                    std::get<CommunicationShape>(call.shape), gpu, peers, {});
    wgs += static_cast<double>(made.grid->per_peer) * peers * gpus_in(place);
  }
  return wgs;
}

Needs needs_of(const Piece& piece, const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const GpuSpec& gpu = scenario.cluster.gpu;
  CollectiveCounts counts;
  for (const ModelOp& op : piece.graph.ops) {
    const Groups& place = piece.graph.places[op.place];
    if (const auto* call = std::get_if<CommunicationShape>(&op.shape)) {
      const CollectiveCounts more = count_call(*call, place, scenario, cluster);
      counts.items += more.items;
      counts.sends += more.sends;
      counts.bytes += more.bytes;
    } else {
      counts.items += items_of(op.shape, gpu) * gpus_in(place);
    }
  }
  if (mode != Mode::bulk) {
    const double wgs = stored_by_wgs(piece.graph, gpu);
    counts.items += wgs;
    if (mode == Mode::fused) counts.sends += 2 * wgs;
  }
  return estimated_needs(cluster, counts);
}

}  // namespace

Needs estimated_needs(const std::vector<Piece>& pieces, const Scenario& scenario,
                      const Cluster& cluster, Mode mode) {
  Needs most;
  for (const Piece& piece : pieces) {
    const Needs needs = needs_of(piece, scenario, cluster, mode);
    most.items = std::max(most.items, needs.items);
    most.sends = std::max(most.sends, needs.sends);
    most.memory = std::max(most.memory, needs.memory);
  }
  return most;
}

}  // namespace weft
