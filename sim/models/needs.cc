#include "sim/models/needs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/core/round_up.h"
#include "sim/engine/run_memory.h"
#include "sim/models/beside.h"
#include "sim/models/collective_rules.h"
#include "sim/models/fusions.h"
#include "sim/models/op_kernel.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/modes.h"
#include "sim/workloads/fused_kernel.h"
#include "sim/workloads/row_forwards.h"
#include "sim/workloads/row_puts.h"

namespace weft {
namespace {

struct Counting {
  const Scenario& scenario;
  const Cluster& cluster;
  Mode mode;
};

double items_of(const OpShape& shape, const GpuSpec& gpu) {
  if (const auto* bag = std::get_if<EmbeddingShape>(&shape)) {
    return static_cast<double>(bag->work.batch) / bag->work.rows_per_wg * bag->work.tables_per_gpu;
  }
  double items = 0;
  for (const OpKernel::Run& run : op_kernel(shape, gpu, 0).runs) items += run.count;
  return items;
}

void add(CollectiveCounts& counts, const CollectiveCounts& more, double times = 1) {
  counts.items += times * more.items;
  counts.sends += times * more.sends;
  counts.bytes += times * more.bytes;
  counts.at_rest += times * more.at_rest;
}

// Of one group.
CollectiveCounts count_forwards(const Reached& reached, Bytes row) {
  const auto all = [](const std::vector<std::int64_t>& rows) {
    return static_cast<double>(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
  };
  const RowForwardCounts counts = count_row_forwards(reached);
  return {.items = counts.items,
          .sends = counts.sends,
          .bytes = (all(reached.gpus) + all(reached.nodes)) * static_cast<double>(row.count())};
}

CollectiveCounts count_puts(const CommunicationShape& shape, std::size_t ranks) {
  if (shape.puts->reached) return count_forwards(*shape.puts->reached, shape.row);
  const std::vector<std::int64_t> rows = rows_put(shape, ranks);
  const auto all = static_cast<double>(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
  const RowPutCounts counts = count_row_puts(all, static_cast<double>(ranks), shape.puts->packs);
  return {.items = counts.items,
          .sends = counts.sends,
          .bytes = all * static_cast<double>(shape.row.count())};
}

CollectiveCounts count_call(const CommunicationShape& shape, const Groups& place,
                            const Counting& how) {
  const auto groups = static_cast<double>(place.groups.size());
  CollectiveCounts counts;
  if (shape.puts) {
    add(counts, count_puts(shape, place.groups.front().size()), groups);
    return counts;
  }
  CollectiveCall call;
  call.op = shape.op;
  call.buffer = shape.buffer;
  call.options = options_of(shape, how.scenario.collective);
  if (uses_copy_engines(how.mode)) call.options.executor = CollectiveExecutor::dma;
  call.ranks = place.groups.front();
  call.turns = shape.turns;
  const GroupsAtOnce at_once(how.cluster, place.groups, shape.turns);
  call.at_once = &at_once;
  call.root = shape.root;
  call.target = shape.target;
  if (!shape.pair_bytes.empty()) {  // as if all pairs had as many bytes as the largest
    const auto ranks = static_cast<std::int64_t>(call.ranks.size());
    call.buffer =
        bytes(*std::max_element(shape.pair_bytes.begin(), shape.pair_bytes.end()) * ranks);
  }
  add(counts, count_collective(how.cluster, call), groups);
  return counts;
}

// For a group whose WGs send to peers as they end. With zero copy: one store per WG and one flag
// per slice.
CollectiveCounts count_producer(const Grid& grid, CollectiveOp op, const FusedOptions& fused,
                                int gpus_per_node) {
  const double gpus = grid.gpus;
  const double pairs = gpus * (gpus - 1);
  const auto slices = static_cast<double>(
      std::max<std::int64_t>(1, grid.per_peer / (std::int64_t{fused.slice_wgs} * grid.parts)));
  const double stores = gpus_per_node > 1 ? grid.per_peer : 0;
  const double phases = op == CollectiveOp::all_reduce ? 2 : 1;
  return {
      .items = gpus * gpus * grid.per_peer + (op == CollectiveOp::all_to_all ? 0 : gpus * slices),
      .sends = phases * pairs * (slices + 1 + stores),
      .bytes = phases * pairs * static_cast<double>(bytes_per_pair(grid, Travels::result))};
}

// For a group for which the switch adds up: flags of all slices; of each piece of a sum a load, the
// WG that goes on with it and, in an all-reduce, a copy and its flag to everyone.
CollectiveCounts count_producer_in_switch(const Grid& grid, CollectiveOp op,
                                          const FusedOptions& fused) {
  const double gpus = grid.gpus;
  const std::uint32_t wgs = static_cast<std::uint32_t>(fused.slice_wgs) * grid.parts;
  const std::uint32_t slices = grid.per_peer / std::max(1U, wgs);
  const auto sums =
      gpus * slices * static_cast<double>(round_up(grid.bytes_of(wgs), wg_in_flight(grid.wg)));
  const double moves = op == CollectiveOp::all_reduce ? 3 : 1;
  return {.items = gpus * gpus * grid.per_peer + 2 * sums,
          .sends = gpus * (gpus - 1) * (slices + 1) + moves * sums,
          .bytes = gpus * static_cast<double>(bytes_per_pair(grid, Travels::result)) * moves};
}

// For a group whose WGs get their input in pieces, each with its flag; copied by the switch, each
// piece is sent once.
CollectiveCounts count_consumer(const Grid& grid, const FusedOptions& fused, bool copied) {
  const double gpus = grid.gpus;
  const double pairs = copied ? gpus : gpus * (gpus - 1);
  const std::int64_t units = std::max<std::int64_t>(1, std::int64_t{fused.slice_wgs} / grid.unit);
  const std::int64_t all =
      grid.units() / units * round_up(units * grid.input_bytes, fused.piece.count());
  const auto pieces = static_cast<double>(all);
  return {.items = gpus * gpus * grid.per_peer + pairs * pieces,
          .sends = 2 * pairs * pieces,
          .bytes = pairs * static_cast<double>(bytes_per_pair(grid, Travels::input))};
}

// The plain operator, and one collective for each chunk.
CollectiveCounts count_chunks(const Grid& grid, const CommunicationShape& shape,
                              const Groups& place, const Counting& how, std::int64_t chunks) {
  CommunicationShape chunk = shape;
  const std::int64_t of_a_peer = shape.buffer.count() / grid.gpus;
  chunk.buffer = bytes((of_a_peer + chunks - 1) / chunks * grid.gpus);
  CollectiveCounts counts;
  add(counts, count_call(chunk, place, how), static_cast<double>(chunks));
  counts.items += static_cast<double>(gpus_in(place)) * grid.gpus * grid.per_peer;
  return counts;
}

// Fused, each tile, its rows for each peer, or from each in pieces, and their flags; else it is not
// overlapped.
CollectiveCounts count_scattered(const Grid& grid, const Groups& place, Mode mode, Bytes piece) {
  CollectiveCounts counts;
  if (!is_fused(mode)) return counts;
  const ScatteredTiles& tiles = *grid.scattered;
  const bool comes = tiles.input_row > 0;
  for (const auto& of_rank : tiles.rows) {
    for (const ScatteredTiles::Row& row : of_rank) {
      counts.items += tiles.columns;
      for (const std::int64_t rows : row) {
        if (rows == 0) continue;
        const auto sends = static_cast<double>(comes ? round_up(rows, tiles.rows_of_a_piece(piece))
                                                     : std::int64_t{tiles.columns});
        counts.items += sends;  // where others than the tiles' WGs send
        counts.sends += 2 * sends;
        counts.bytes += static_cast<double>(
            rows * (comes ? tiles.input_row : tiles.row_elements * tiles.element_bytes));
      }
    }
  }
  const auto teams = static_cast<double>(place.groups.size());
  return {.items = counts.items * teams + grid.gpus * teams,
          .sends = counts.sends * teams,
          .bytes = counts.bytes * teams};
}

// Kernels of parts, copies, and barriers whose flags go to all. A library's part may have tiles of
// its own, as many as twice the grid's.
CollectiveCounts count_peers(const Grid& grid, const CommunicationShape& shape, const Groups& place,
                             const Counting& how) {
  CommunicationShape exchange = shape;
  exchange.op = CollectiveOp::all_to_all;
  Counting by_engines = how;
  by_engines.mode = Mode::dma;
  CollectiveCounts counts = count_call(exchange, place, by_engines);
  const auto gpus = static_cast<double>(gpus_in(place));
  const double barriers = 2.0 * grid.gpus;
  const double streams = 8.0 * how.cluster.spec.gpu.cus;  // copying and adding up
  counts.items += gpus * (2.0 * grid.gpus * grid.per_peer + barriers + grid.gpus + streams);
  counts.sends += gpus * (barriers * (grid.gpus - 1));
  counts.bytes += gpus * (barriers * (grid.gpus - 1)) * kFlagBytes;
  return counts;
}

// An operator and its collective, as the mode overlaps them.
CollectiveCounts count_fusion(const ModelGraph& graph, const Fusion& fusion, const Counting& how) {
  const ModelOp& collective = graph.ops[communicating(fusion)];
  const auto& call = std::get<CommunicationShape>(collective.shape);
  const Groups& place = graph.places[collective.place];
  const auto peers = static_cast<std::uint32_t>(place.groups.front().size());
  const Grid grid = *peer_shape(fused_operator(graph, fusion), {call, fusion.travels, peers},
                                how.cluster.spec.gpu)
                         .grid;
  const OverlapOptions options =
      with_whole_slices(overlap_options(how.scenario), grid, fusion.travels);
  if (grid.scattered) return count_scattered(grid, place, how.mode, options.fused.piece);
  const bool suited = suits(graph, fusion, how.cluster, how.mode);
  if (how.mode == Mode::pipelined && suited) return count_peers(grid, call, place, how);
  if (!is_fused(how.mode) || !suited) {
    return count_chunks(grid, call, place, how,
                        how.mode == Mode::kernel ? options.kernel.chunks : 1);
  }
  const bool in_switch =
      goes_through_switch(options.fused, call.op, how.cluster, place.groups.front());
  CollectiveCounts counts;
  const auto count_group = [&] {
    if (fusion.travels == Travels::input) return count_consumer(grid, options.fused, in_switch);
    if (in_switch) return count_producer_in_switch(grid, call.op, options.fused);
    return count_producer(grid, call.op, options.fused, how.cluster.spec.gpus_per_node);
  };
  add(counts, count_group(), static_cast<double>(place.groups.size()));
  if (how.mode == Mode::copy_fed) add(counts, count_peers(grid, call, place, how));
  const bool by_role = how.mode == Mode::role_split || options.fused.sent_by == SentBy::wave;
  if (by_role && fusion.travels == Travels::result)
    counts.items += counts.sends;  // at most one each
  return counts;
}

CollectiveCounts count_op(const ModelGraph& graph, OpId id, const Counting& how) {
  const ModelOp& op = graph.ops[id];
  const Groups& place = graph.places[op.place];
  if (const auto* call = std::get_if<CommunicationShape>(&op.shape)) {
    return count_call(*call, place, how);
  }
  return {.items = items_of(op.shape, how.cluster.spec.gpu) * static_cast<double>(gpus_in(place)),
          .sends = 0,
          .bytes = 0};
}

// In mode mixed, the most of any.
CollectiveCounts count_overlapped(const ModelGraph& graph, const Fusion& fusion,
                                  const Counting& how) {
  if (how.mode != Mode::mixed) return count_fusion(graph, fusion, how);
  CollectiveCounts most;
  for (const Mode mode : modes_of(how.scenario.workload.kind)) {
    if (mode == Mode::mixed || !suits(graph, fusion, how.cluster, mode)) continue;
    most = most_of(most,
                   count_fusion(graph, fusion,
                                {.scenario = how.scenario, .cluster = how.cluster, .mode = mode}));
  }
  return most;
}

// The larger of what a pair takes overlapped and not overlapped, since only runs tell which is
// faster. That of a single operator is always overlapped.
CollectiveCounts count_pair(const ModelGraph& graph, const Fusion& fusion, const Counting& how) {
  const CollectiveCounts overlapped = count_overlapped(graph, fusion, how);
  if (!is_model(how.scenario.workload.kind)) return overlapped;
  CollectiveCounts apart;
  add(apart, count_op(graph, computing(fusion), how));
  add(apart, count_op(graph, communicating(fusion), how));
  if (!fusion.through.is_none()) add(apart, count_op(graph, fusion.through, how));
  return most_of(apart, overlapped);
}

CollectiveCounts counts_of(const ModelGraph& graph, const Counting& how) {
  CollectiveCounts counts;
  std::vector<bool> counted(graph.ops.size());
  const bool overlaps = how.mode != Mode::bulk || !is_model(how.scenario.workload.kind);
  for (const Fusion& fusion :
       overlaps ? find_fusions(graph, how.cluster.spec.gpu) : std::vector<Fusion>()) {
    if (!fusion.obstacle.empty()) continue;
    add(counts, count_pair(graph, fusion, how));
    counted[fusion.first.value] = counted[fusion.second.value] = true;
    if (!fusion.through.is_none()) counted[fusion.through.value] = true;
  }
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    if (!counted[i]) add(counts, count_op(graph, OpId(i), how));
  }
  return counts;
}

void keep_most(Needs& most, const Needs& needs) {
  most.items = std::max(most.items, needs.items);
  most.sends = std::max(most.sends, needs.sends);
  most.memory = std::max(most.memory, needs.memory);
}

bool only_communicates(const ModelGraph& graph) {
  return std::all_of(graph.ops.begin(), graph.ops.end(), communicates);
}

}  // namespace

Needs estimated_needs(const std::vector<Piece>& pieces, const Scenario& scenario,
                      const Cluster& cluster, Mode mode) {
  const Counting how{.scenario = scenario, .cluster = cluster, .mode = mode};
  Needs most;
  for (const Piece& piece : pieces) {
    keep_most(most, estimated_needs(cluster, counts_of(piece.graph(), how)));
  }
  return most;
}

Needs estimated_needs_beside(const std::vector<Piece>& pieces, const Scenario& scenario,
                             const Cluster& cluster, Mode mode) {
  const Counting how{.scenario = scenario, .cluster = cluster, .mode = mode};
  struct Computing {
    CollectiveCounts counts;
    std::vector<std::uint32_t> gpus;
  };
  std::vector<Computing> all;
  for (const Piece& piece : pieces) {
    const ModelGraph& graph = piece.graph();
    if (!only_communicates(graph)) all.push_back({counts_of(graph, how), gpus_of(graph)});
  }
  Needs most;
  for (const Piece& transfer : pieces) {
    if (!only_communicates(transfer.graph())) continue;
    std::map<std::vector<std::uint32_t>, CollectiveCounts> on_gpus;
    for (const Computing& computing : all) {
      const auto [part, added] = on_gpus.try_emplace(computing.gpus);
      if (added) {
        std::vector<bool> gpus(cluster.gpus());
        for (const std::uint32_t gpu : computing.gpus) gpus[gpu] = true;
        part->second = counts_of(part_on(transfer.graph(), 0, gpus), how);
      }
      if (part->second.sends == 0) continue;
      CollectiveCounts counts = part->second;
      add(counts, computing.counts);
      keep_most(most, estimated_needs(cluster, counts));
    }
  }
  return most;
}

double estimated_work(const ModelGraph& graph, const Scenario& scenario, const Cluster& cluster) {
  const Counting how{.scenario = scenario, .cluster = cluster, .mode = Mode::bulk};
  CollectiveCounts counts;
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) add(counts, count_op(graph, OpId(i), how));
  return counts.items + counts.sends;
}

Needs estimated_needs(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const ModelGraph graph = build_single(scenario);
  return estimated_needs(unfolded(graph).pieces, scenario, cluster, mode);
}

Needs estimated_needs(const Cluster& cluster, const CollectiveCounts& counts) {
  return {.items = counts.items, .sends = counts.sends, .memory = memory_of_run(cluster, counts)};
}

}  // namespace weft
