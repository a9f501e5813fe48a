// Which operators of a graph are overlapped with their collectives, and with which tiles and
// collectives the other pairs run that have a way of their own.
#pragma once

#include <map>
#include <vector>

#include "sim/models/lower_model.h"

namespace weft {

class ChosenWays {
 public:
  // Both have to outlive it.
  ChosenWays(const ModelGraph& graph, const ModelLowering& how);

  // Of the pair that the operator is overlapped in, its number among the lowering's fusions; -1:
  // it runs by itself.
  [[nodiscard]] int fusion_of(OpId op) const { return fusion_of_[op.value]; }
  [[nodiscard]] PairWay way_of(std::size_t fusion) const;

  // Of an operator that runs by itself: its shape, with the tile of its pair's way; and how a
  // collective is run.
  [[nodiscard]] const OpShape& shape_of(OpId op) const;
  [[nodiscard]] CollectiveOptions collective_of(OpId op) const;

 private:
  void set_apart(const Fusion& pair, const PairWay& way);

  const ModelGraph& graph_;
  const ModelLowering& how_;
  std::vector<int> fusion_of_;
  std::map<OpId, OpShape> shapes_;
  std::map<OpId, const CollectiveOptions*> collectives_;
};

}  // namespace weft
