#include "sim/models/pair_knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "sim/collectives/collective_choice.h"
#include "sim/models/op_kernel.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

std::string text_of(const GemmTile& tile) { return fmt::format("{} x {}", tile.m, tile.n); }

// So many that a reader finds the one meant: nearest by what both sides differ in, together.
std::string nearest_of(std::vector<GemmTile> tiles, const GemmTile& asked) {
  constexpr std::size_t kMost = 8;
  const auto off = [&asked](const GemmTile& tile) {
    return std::abs(tile.m - asked.m) + std::abs(tile.n - asked.n);
  };
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const GemmTile& a, const GemmTile& b) { return off(a) < off(b); });
  tiles.resize(std::min(tiles.size(), kMost));
  std::vector<std::string> texts;
  texts.reserve(tiles.size());
  for (const GemmTile& tile : tiles) texts.push_back(text_of(tile));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// What its kernels are chosen for: of ranks with different rows each number of them once.
std::vector<GemmShape> products_of(const GemmShape& gemm) {
  if (gemm.m_by_rank.empty()) return {gemm};
  std::set<std::int64_t> rows(gemm.m_by_rank.begin(), gemm.m_by_rank.end());
  rows.erase(0);  // no kernel
  std::vector<GemmShape> products;
  for (const std::int64_t m : rows) {
    GemmShape& of_rank = products.emplace_back(gemm);
    of_rank.m = m;
    of_rank.m_by_rank.clear();
  }
  return products;
}

// Why the library has no such tile for this product; empty where it has.
std::string why_no_tile(const GemmShape& product, const GpuSpec& gpu, const GemmTile& tile) {
  const std::vector<GemmTile> tiles = tiles_of(product, gpu);
  if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) {
    return fmt::format("has no tile of {}; the nearest are {}", text_of(tile),
                       nearest_of(tiles, tile));
  }
  GemmShape tiled = product;
  tiled.tile = tile;
  if (choose_gemm(tiled, gpu, 1).m > 0) return {};
  return fmt::format("has no room on a CU for a tile of {}", text_of(tile));
}

// Why its kernels have no such tile; empty where all have.
std::string why_no_tile(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu,
                        const PairWay& way) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  if (gemm == nullptr || is_described(op)) return "has no GEMM of the library's";
  for (const GemmShape& product : products_of(*gemm)) {
    const std::string why = why_no_tile(product, gpu, way.tile);
    if (why.empty()) continue;
    const bool differs = !gemm->m_by_rank.empty();
    return why + (differs ? fmt::format(" (of a GPU with {} rows)", product.m) : "");
  }
  if (way.mode == Mode::bulk) return {};  // of others tiles have to divide among the peers
  ModelOp tiled = op;
  std::get<GemmShape>(tiled.shape).tile = way.tile;
  const PeerGrid made = peer_shape(tiled, call, gpu);
  return made.grid ? "" : fmt::format("has no tile of {}: {}", text_of(way.tile), made.obstacle);
}

// A call of the collective by its first group; of an uneven one all that decides what is possible.
CollectiveCall call_of_first_group(const CommunicationShape& shape, const Groups& place) {
  CollectiveCall call;
  call.op = shape.op;
  call.buffer = shape.buffer;
  call.ranks = place.groups.front();
  call.turns = shape.turns;
  call.root = shape.root;
  call.target = shape.target;
  call.pair_bytes = shape.pair_bytes;
  return call;
}

std::string with_article(CollectiveOp op) {
  const bool vowel = op == CollectiveOp::all_to_all || op == CollectiveOp::all_gather ||
                     op == CollectiveOp::all_reduce;
  return fmt::format("{} {}", vowel ? "an" : "a", names::word(names::kCollectiveOps, op));
}

// An engine leaves to the library what it has no kernel for.
std::string why_not_by_engine(const AskedAlgorithm& asked, const CollectiveSpec& library,
                              CollectiveOp op, const RankGroup& group) {
  if (op != CollectiveOp::all_reduce) {
    return fmt::format("has {}, for which engines have no kernel of their own", with_article(op));
  }
  if (!group.one_node) return "spans nodes, for which engines have no kernel of their own";
  if (asked.named || !library.engine) return {};  // without an engine the scenario is refused
  const std::vector<EngineRow>& rows = library.engine->rows;
  const bool has_row = std::any_of(rows.begin(), rows.end(), [&group](const EngineRow& row) {
    return row.gpus == static_cast<std::int64_t>(group.size());
  });
  return has_row ? ""
                 : fmt::format("is of {} GPUs, for which cluster.gpu.collective.engine has no row",
                               group.size());
}

std::string why_no_sum(const PeerCall& call) {
  const bool sums =
      call.call.op == CollectiveOp::all_reduce || call.call.op == CollectiveOp::reduce_scatter;
  return sums && call.travels == Travels::result ? "" : "has no sum of results";
}

}  // namespace

std::string why_no_algorithm(const AskedAlgorithm& asked, const Cluster& cluster,
                             const CommunicationShape& shape, const Groups& place) {
  const CollectiveCall call = call_of_first_group(shape, place);
  const RankGroup group = group_of(cluster, call);
  if (asked.of_engine) {
    return why_not_by_engine(asked, cluster.spec.gpu.collective, call.op, group);
  }
  if (!asked.named || is_possible(cluster, call, group, *asked.named)) return {};
  std::vector<std::string_view> known;
  for (const Choice<Algorithm>& choice : names::kAlgorithms) {
    if (is_possible(cluster, call, group, choice.value)) known.push_back(choice.name);
  }
  const std::string where = exists(call.op, *asked.named)
                                ? fmt::format(" of {} GPUs of {}", group.size(),
                                              group.one_node ? "one node" : "several nodes")
                                : "";
  return fmt::format("is of {}{}, which has no algorithm '{}'; it has {}",
                     names::word(names::kCollectiveOps, call.op), where,
                     names::word(names::kAlgorithms, *asked.named), fmt::join(known, ", "));
}

std::string why_not_by_library(const CommunicationShape& shape, CollectiveExecutor executor) {
  if (shape.puts) return "puts its rows by a kernel of its own, not by the library's collective";
  if (executor == CollectiveExecutor::cu || reduces(shape.op)) return {};
  return "is carried by copy engines (collective.executor), which have none; use executor cu";
}

ModelOp with_tile(ModelOp op, const PeerCall& call, const GpuSpec& gpu, const PairWay& way) {
  if (way.tile == GemmTile{} || !why_no_tile(op, call, gpu, way).empty()) return op;
  std::get<GemmShape>(op.shape).tile = way.tile;
  return op;
}

std::vector<IdleKnob> idle_knobs_of(const ModelGraph& graph, const Fusion& fusion,
                                    const Cluster& cluster, const OverlapOptions& of_scenario,
                                    const PairRule& rule) {
  std::vector<IdleKnob> idle;
  const auto add = [&idle](const char* key, std::string why) {
    if (!why.empty()) idle.push_back({key, std::move(why)});
  };
  const PeerCall call = peer_call(graph, fusion);
  const PairWay way = way_by(rule, of_scenario);
  if (way.tile != GemmTile{}) {
    add("tile_m", why_no_tile(fused_operator(graph, fusion), call, cluster.spec.gpu, way));
  }
  const std::string by_others = why_not_by_library(call.call, of_scenario.collective.executor);
  if (rule.algorithm) {
    const Groups& place = graph.places[graph.ops[communicating(fusion)].place];
    add("algorithm", !by_others.empty()
                         ? by_others
                         : why_no_algorithm(*rule.algorithm, cluster, call.call, place));
  }
  if (rule.protocol) add("protocol", by_others);
  if (rule.channels > 0) add("channels", by_others);
  if (rule.own_first > 0 && fusion.travels == Travels::result) {
    add("own_first", "sends its results, and no input is brought");
  }
  if (rule.add) add("add", why_no_sum(call));
  return idle;
}

}  // namespace weft
