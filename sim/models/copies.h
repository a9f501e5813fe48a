// Where other copies of a GPU's weights are, and the all-gathers of what copies share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/models/stage.h"
#include "sim/scenario/scenario.h"

namespace weft {

// Groups of GPUs with the same weights that share what is sharded, how many GPUs each has, and
// where others have the same part: as many as there are groups.
struct Copies {
  PlaceId place;
  int count = 1;
  PlaceId across = PlaceId::none();
  int groups = 1;
  [[nodiscard]] int all() const { return count * groups; }
};
Copies copies_of_common(const Stage& stage, const ParallelSpec& parallel);
Copies copies_of_experts(const Stage& stage, const ParallelSpec& parallel);

// Weights that a GPU shares with others, by which these are: at most those of experts and all
// others.
struct SharedPart {
  std::string names;  // prefix of operators' names: "", "expert_"
  std::int64_t weights = 0;
  Copies copies;
};
std::vector<SharedPart> shared_parts(const LayerWeights& weights, const Stage& stage,
                                     const ParallelSpec& parallel);
// Their number.
std::int64_t shared_weights(const LayerWeights& weights, const Stage& stage,
                            const ParallelSpec& parallel);

// Of weights that have other copies, with which their gradients are summed.
std::int64_t summed_weights(const LayerWeights& weights, const Stage& stage,
                            const ParallelSpec& parallel);

// `parameter_gather`, in the type of the weights.
ModelOp gather_of(const SharedPart& part, const Workload& workload, std::uint32_t stream, OpId by);

}  // namespace weft
