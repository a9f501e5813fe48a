#include "sim/models/single_operator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/models/lower_model.h"
#include "sim/models/operators.h"
#include "sim/workloads/destination_order.h"

namespace weft {
namespace {

ModelOp communicating_op(const CommunicationShape& shape) {
  ModelOp op;
  op.name = name_of(shape.op);
  op.shape = shape;
  return op;
}

Groups all_gpus(std::uint32_t gpus) {
  Groups all{.groups = {std::vector<std::uint32_t>(gpus)}};
  std::iota(all.groups.front().begin(), all.groups.front().end(), 0U);
  return all;
}

// The one that depends on the other comes second.
void add_pair(ModelGraph& graph, const Scenario& scenario) {
  const KindRow& row = row_of(scenario.workload.kind);
  const auto gpus = static_cast<std::uint32_t>(scenario.cluster.gpus());
  ModelOp op = described_op(scenario.workload);
  CommunicationShape call{.op = *row.collective, .buffer = {}, .pair_bytes = {}};
  const PeerGrid made = peer_shape(op, {call, row.travels, gpus}, scenario.cluster.gpu);
  call.buffer = bytes(bytes_per_pair(*made.grid, row.travels) * gpus);
  ModelOp collective = communicating_op(call);
  op.place = collective.place = graph.add_place(all_gpus(gpus));
  if (row.travels == Travels::input) std::swap(op, collective);
  const OpId first = graph.add(std::move(op));
  collective.after = {first};
  graph.add(std::move(collective));
}

void add_collective_alone(ModelGraph& graph, const Scenario& scenario) {
  const CollectiveWork& work = scenario.workload.collective;
  CommunicationShape shape{.op = work.op,
                           .buffer = work.bytes,
                           .root = static_cast<std::uint32_t>(work.root),
                           .target = static_cast<std::uint32_t>(work.target),
                           .pair_bytes = {}};
  for (const std::vector<std::int64_t>& row : work.matrix) {
    shape.pair_bytes.insert(shape.pair_bytes.end(), row.begin(), row.end());
  }
  if (!shape.pair_bytes.empty()) {  // as if all pairs had as many bytes as the largest
    const std::int64_t most = *std::max_element(shape.pair_bytes.begin(), shape.pair_bytes.end());
    shape.buffer = bytes(most * static_cast<std::int64_t>(work.matrix.size()));
  }
  ModelOp op = communicating_op(shape);
  op.place = graph.add_place({.groups = groups_of(work.groups, scenario.cluster.gpus())});
  graph.add(std::move(op));
}

// The two operators on two streams.
void add_two_apart(ModelGraph& graph, const Scenario& scenario) {
  ModelOp op = described_op(scenario.workload);
  SIM_ASSERT(op.described);
  op.described->work = c3_pair(scenario).gemm;
  ModelOp collective = communicating_op({.op = scenario.workload.collective.op,
                                         .buffer = scenario.workload.collective.bytes,
                                         .pair_bytes = {}});
  op.place = collective.place =
      graph.add_place(all_gpus(static_cast<std::uint32_t>(scenario.cluster.gpus())));
  collective.stream = 1;
  graph.add(std::move(op));
  graph.add(std::move(collective));
}

}  // namespace

ModelGraph build_single(const Scenario& scenario) {
  ModelGraph graph;
  switch (row_of(scenario.workload.kind).family) {
    case Family::pair:
      add_pair(graph, scenario);
      break;
    case Family::collective:
      add_collective_alone(graph, scenario);
      break;
    case Family::c3:
      add_two_apart(graph, scenario);
      break;
    default:
      SIM_ASSERT(false);
  }
  graph.verify();
  return graph;
}

std::optional<C3Strategy> strategy_of(const Scenario& scenario, Mode mode, int partition_cus) {
  if (row_of(scenario.workload.kind).family != Family::c3) return std::nullopt;
  const int cus = partition_cus > 0 ? partition_cus : scenario.c3.partition_cus;
  return strategy_of(c3_pair(scenario), scenario.cluster.gpu, mode, cus);
}

TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode, int partition_cus) {
  const ModelGraph graph = build_single(scenario);
  return lower_model(graph, {.options = overlap_options(scenario),
                             .cluster = cluster,
                             .mode = mode,
                             .fusions = find_fusions(graph, scenario.cluster.gpu),
                             .strategy = strategy_of(scenario, mode, partition_cus)});
}

bool order_changes(const Scenario& scenario, const Cluster& cluster, DestinationOrder order) {
  const WorkloadKind kind = scenario.workload.kind;
  if (!is_pair(kind) || !results_travel(kind) || scenario.fused.in_switch) return false;
  const DestinationOrder given = scenario.fused.order;
  if (given == DestinationOrder::in_turn || given == DestinationOrder::rotating) {
    return false;  // spread as well
  }
  const ModelGraph graph = build_single(scenario);
  const auto& call = std::get<CommunicationShape>(graph.ops[OpId(1)].shape);
  const Grid grid =
      *peer_shape(graph.ops[OpId(0)], {call, Travels::result, cluster.gpus()}, scenario.cluster.gpu)
           .grid;
  const std::int64_t wgs = std::int64_t{grid.gpus} * grid.per_peer;
  if (wgs <= resident_on_gpu(cluster.spec.gpu, grid.wg, fused_version(scenario.fused))) {
    return false;
  }
  std::vector<std::uint32_t> gpus(grid.gpus);
  std::iota(gpus.begin(), gpus.end(), 0U);
  const Destinations to = destinations(cluster, gpus);
  const bool takes_turns =
      to.own_links && cluster.spec.nodes == 1 && scenario.fused.order != DestinationOrder::given;
  if (takes_turns) return false;
  const auto slices = grid.per_peer / (static_cast<std::uint32_t>(scenario.fused.slice_wgs) *
                                       static_cast<std::uint32_t>(grid.parts));
  const auto in = [&](DestinationOrder which) { return slice_order(to, which, 0, slices); };
  const auto same = [](const Logical& a, const Logical& b) {
    return a.peer == b.peer && a.index == b.index;
  };
  const std::vector<Logical> now = in(scenario.fused.order);
  const std::vector<Logical> then = in(order);
  return !std::equal(now.begin(), now.end(), then.begin(), then.end(), same);
}

}  // namespace weft
