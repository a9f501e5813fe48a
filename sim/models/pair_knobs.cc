#include "sim/models/pair_knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/models/op_kernel.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

std::string text_of(const GemmTile& tile) { return fmt::format("{} x {}", tile.m, tile.n); }

// So many that a reader finds the one meant: nearest in area.
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

// Why its kernel has no such tile; empty where it has.
std::string why_no_tile(const ModelOp& op, const PeerCall& call, const GpuSpec& gpu,
                        const PairWay& way) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  if (gemm == nullptr || is_described(op)) return "has no GEMM of the library's";
  const std::vector<GemmTile> tiles = tiles_of(*gemm, gpu);
  if (std::find(tiles.begin(), tiles.end(), way.tile) == tiles.end()) {
    return fmt::format("has no tile of {}; the nearest are {}", text_of(way.tile),
                       nearest_of(tiles, way.tile));
  }
  ModelOp tiled = op;
  std::get<GemmShape>(tiled.shape).tile = way.tile;
  if (choose_gemm(std::get<GemmShape>(tiled.shape), gpu, 1).m == 0) {
    return fmt::format("has no room on a CU for a tile of {}", text_of(way.tile));
  }
  if (way.mode == Mode::bulk) return {};  // of others tiles have to divide among the peers
  const PeerGrid made = peer_shape(tiled, call, gpu);
  return made.grid ? "" : fmt::format("has no tile of {}: {}", text_of(way.tile), made.obstacle);
}

std::string why_no_algorithm(CollectiveOp op, const AskedAlgorithm& asked) {
  const std::string_view name = names::word(names::kCollectiveOps, op);
  if (asked.of_engine && op != CollectiveOp::all_reduce) {
    return fmt::format(
        "has {} {}, for which engines have no kernel of their own",
        op == CollectiveOp::all_to_all || op == CollectiveOp::all_gather ? "an" : "a", name);
  }
  if (asked.of_engine || !asked.named || exists(op, *asked.named)) return {};
  std::vector<std::string_view> known;
  for (const Choice<Algorithm>& choice : names::kAlgorithms) {
    if (exists(op, choice.value)) known.push_back(choice.name);
  }
  return fmt::format("is of {}, which has no algorithm '{}'; it has {}", name,
                     names::word(names::kAlgorithms, *asked.named), fmt::join(known, ", "));
}

}  // namespace

ModelOp with_tile(ModelOp op, const PeerCall& call, const GpuSpec& gpu, const PairWay& way) {
  if (way.tile == GemmTile{} || !why_no_tile(op, call, gpu, way).empty()) return op;
  std::get<GemmShape>(op.shape).tile = way.tile;
  return op;
}

std::vector<IdleKnob> idle_knobs_of(const ModelGraph& graph, const Fusion& fusion,
                                    const GpuSpec& gpu, const PairRule& rule) {
  std::vector<IdleKnob> idle;
  const auto add = [&idle](const char* key, std::string why) {
    if (!why.empty()) idle.push_back({key, std::move(why)});
  };
  const PeerCall call = peer_call(graph, fusion);
  const PairWay way = way_by(rule, {});
  if (way.tile != GemmTile{}) {
    add("tile_m", why_no_tile(fused_operator(graph, fusion), call, gpu, way));
  }
  if (rule.algorithm) add("algorithm", why_no_algorithm(call.call.op, *rule.algorithm));
  if (rule.own_first > 0 && fusion.travels == Travels::result) {
    add("own_first", "sends its results, and no input is brought");
  }
  return idle;
}

}  // namespace weft
