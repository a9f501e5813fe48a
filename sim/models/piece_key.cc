#include "sim/models/piece_key.h"

#include <algorithm>

#include "sim/engine/run_key.h"

namespace weft {

// Structured bindings do not compile where a member is missing. Not in a namespace without a name:
// Digest would not find them.
void add(Digest& digest, const AskedAlgorithm& algorithm) {
  const auto& [named, of_library, of_engine] = algorithm;
  digest.add_all(named, of_library, of_engine);
}

void add(Digest& digest, const CollectiveOptions& options) {
  const auto& [executor, dma, algorithm, protocol, channels] = options;
  digest.add_all(executor, dma, algorithm, protocol, channels);
}

void add(Digest& digest, const FusedOptions& options) {
  const auto& [order, work_list, flag_per, put_by, fence_by, fence_of, sent_by, acquire, staging,
               brought, in_switch, slice_wgs, unsent, sending_waves, rate_while_sending, own_first,
               sending_wgs, piece, extra_registers, registers, max_wgs_per_cu, sending_cus, chain,
               adds, add_load] = options;
  digest.add_all(order, work_list, flag_per, put_by, fence_by, fence_of, sent_by, acquire, staging,
                 brought, in_switch, slice_wgs, unsent, sending_waves, rate_while_sending,
                 own_first, sending_wgs, piece, extra_registers, registers, max_wgs_per_cu,
                 sending_cus, chain, adds, add_load);
}

void add(Digest& digest, const OverlapOptions& options) {
  const auto& [collective, kernel, fused, launch, seed] = options;
  const auto& [chunks] = kernel;
  digest.add_all(collective, chunks, fused, launch, seed);
}

void add(Digest& digest, const GemmTile& tile) {
  const auto& [m, n] = tile;
  digest.add_all(m, n);
}

void add(Digest& digest, const PairWay& way) {
  const auto& [mode, options, tile, changes_bulk] = way;
  digest.add_all(mode, options, tile, changes_bulk);
}

void add(Digest& digest, const Fusion& fusion) {
  const auto& [first, second, through, travels, pattern, obstacle, scatters] = fusion;
  digest.add_all(first, second, through, travels, pattern, obstacle, scatters);
}

void add(Digest& digest, const GemmShape& shape) {
  const auto& [m, n, k, batch, dtype, layout, fp8, sums, accumulates, whole_k, packed, m_by_rank,
               grouped, m_of_each, tile] = shape;
  digest.add_all(m, n, k, batch, dtype, layout, fp8, sums, accumulates, whole_k, packed, m_by_rank,
                 grouped, m_of_each, tile);
}

void add(Digest& digest, const AttentionShape& shape) {
  const auto& [batch, heads, kv_heads, head_dim, value_head_dim, queries, keys, causal, window,
               backward, engine, repeated, dtype] = shape;
  digest.add_all(batch, heads, kv_heads, head_dim, value_head_dim, queries, keys, causal, window,
                 backward, engine, repeated, dtype);
}

void add(Digest& digest, const WgShape& wg) {
  const auto& [threads, registers_per_thread, lds, loads_in_flight] = wg;
  digest.add_all(threads, registers_per_thread, lds, loads_in_flight);
}

void add(Digest& digest, const EmbeddingWork& work) {
  const auto& [batch, tables_per_gpu, rows_per_table, zipf, dim, pooling, dtype, index_bytes,
               rows_per_wg, walk, chain, index_read, load, instructions, l2_is_warm,
               kernel_per_table, wg, jitter] = work;
  digest.add_all(batch, tables_per_gpu, rows_per_table, zipf, dim, pooling, dtype, index_bytes,
                 rows_per_wg, walk, chain, index_read, load, instructions, l2_is_warm,
                 kernel_per_table, wg, jitter);
}

void add(Digest& digest, const EmbeddingShape& shape) {
  const auto& [work, backward] = shape;
  digest.add_all(work, backward);
}

void add(Digest& digest, const StreamShape& shape) {
  const auto& [read, written, flops, instructions, load, loads_in_flight, chunks, most_wgs,
               reorders] = shape;
  digest.add_all(read, written, flops, instructions, load, loads_in_flight, chunks, most_wgs,
                 reorders);
}

void add(Digest& digest, const Reached& reached) {
  const auto& [per_node, gpus, nodes] = reached;
  digest.add_all(per_node, gpus, nodes);
}

void add(Digest& digest, const PutRows& puts) {
  const auto& [made_from, cus, experts, at_once, packs, reached, home] = puts;
  digest.add_all(made_from, cus, experts, at_once, packs, reached, home);
}

void add(Digest& digest, const CommunicationShape& shape) {
  const auto& [op, buffer, root, target, pair_bytes, row, puts, turns, meets, own] = shape;
  digest.add_all(op, buffer, root, target, pair_bytes, row, puts, turns, meets, own);
}

void add(Digest& digest, const RecordedGemm& gemm) {
  const auto& [m, n, k, batch, tile_m, tile_n, split_k] = gemm;
  digest.add_all(m, n, k, batch, tile_m, tile_n, split_k);
}

void add(Digest& digest, const RecordedAttention& attention) {
  const auto& [batch, heads, kv_heads, head_dim, value_head_dim, queries, keys, causal, backward] =
      attention;
  digest.add_all(batch, heads, kv_heads, head_dim, value_head_dim, queries, keys, causal, backward);
}

void add(Digest& digest, const RecordedWork& work) {
  const auto& [kind, flops, read, written, element_bytes, matrix, rows, gemm, attention] = work;
  digest.add_all(kind, flops, read, written, element_bytes, matrix, rows, gemm, attention);
}

void add(Digest& digest, const RecordedOfRank& of_rank) {
  const auto& [time, wgs, work] = of_rank;
  digest.add_all(time, wgs, work);
}

void add(Digest& digest, const RecordedShape& shape) {
  const auto& [time, by_rank, wgs, threads, registers_per_thread, lds, work, beside, host] = shape;
  digest.add_all(time, by_rank, wgs, threads, registers_per_thread, lds, work, beside, host);
}

void add(Digest& digest, const PostedReceive& receive) {
  const auto& [size, between_nodes] = receive;
  digest.add_all(size, between_nodes);
}

void add(Digest& digest, const Groups& groups) {
  digest.add_all(groups.groups.size());
  for (const std::vector<std::uint32_t>& group : groups.groups) digest.add_plain(group);
}

// Not by which rules a pair is looked up: what they said of it is in the ways. Nor of which block
// it was cut.
void add(Digest& digest, const ModelOp& op) {
  const auto& [name, part, shape, described, place, stream, after, block, beside, layer_rules] = op;
  digest.add_all(name, part, shape.index());
  std::visit([&digest](const auto& of_kind) { add(digest, of_kind); }, shape);
  digest.add_all(place, stream, after, beside);
}

DigestValue machine_key(const Cluster& cluster) {
  Digest digest;
  digest.add_all(cluster);
  return digest.value();
}

DigestValue machine_key(const Cluster& node, const DigestValue& whole) {
  Digest digest;
  digest.add_all(node, whole);
  return digest.value();
}

std::optional<DigestValue> piece_key(const DigestValue& machine, const ModelGraph& graph,
                                     const ModelLowering& how, const RunOptions& limits) {
  const auto& [options, cluster, mode, fusions, ways, exits, releases, strategy, whole] = how;
  const bool described = std::any_of(graph.ops.begin(), graph.ops.end(), is_described);
  if (strategy || described) return std::nullopt;
  Digest digest;
  digest.add_all(machine, options, mode, fusions, ways, exits, whole != nullptr);
  digest.add_all(graph.places, graph.ops, releases.size());
  for (const auto& [op, after] : releases) digest.add_all(op, after);
  add_limits(digest, limits);
  return digest.value();
}

}  // namespace weft
