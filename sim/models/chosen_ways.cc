#include "sim/models/chosen_ways.h"

#include "sim/models/collective_rules.h"
#include "sim/models/pair_knobs.h"

namespace weft {

ChosenWays::ChosenWays(const ModelGraph& graph, const ModelLowering& how)
    : graph_(graph), how_(how), fusion_of_(graph.ops.size(), -1) {
  for (std::size_t i = 0; i < how.fusions.size(); ++i) {
    const Fusion& pair = how.fusions[i];
    if (!how.ways.empty() && how.ways[i].mode == Mode::bulk) {
      set_apart(pair, how.ways[i]);
      continue;
    }
    for (const OpId op : {pair.first, pair.second, pair.through}) {
      if (!op.is_none()) fusion_of_[op.value] = static_cast<int>(i);
    }
  }
}

void ChosenWays::set_apart(const Fusion& pair, const PairWay& way) {
  const OpId op = computing(pair);
  shapes_.emplace(
      op, with_tile(graph_.ops[op], peer_call(graph_, pair), how_.cluster.spec.gpu, way).shape);
  collectives_.emplace(communicating(pair), &way.options.collective);
}

const OpShape& ChosenWays::shape_of(OpId op) const {
  const auto own = shapes_.find(op);
  return own == shapes_.end() ? graph_.ops[op].shape : own->second;
}

CollectiveOptions ChosenWays::collective_of(OpId op) const {
  const auto own = collectives_.find(op);
  if (own != collectives_.end()) return *own->second;
  return options_of(std::get<CommunicationShape>(graph_.ops[op].shape), how_.options.collective);
}

PairWay ChosenWays::way_of(std::size_t fusion) const {
  if (!how_.ways.empty()) return how_.ways[fusion];
  PairWay way{.mode = how_.mode, .options = how_.options};
  way.options.collective = collective_of(communicating(how_.fusions[fusion]));
  return way;
}

}  // namespace weft
