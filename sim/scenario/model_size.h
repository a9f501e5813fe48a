// How large a model is: what both its checks and its operators need to know.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

// A layer of an MLP: out x in weights.
struct MlpLayer {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool operator==(const MlpLayer&) const = default;
};

std::vector<MlpLayer> bottom_layers(const DlrmSpec& dlrm);
// `vectors` of `dim` elements: the pooled rows of one sample, of all tables.
std::vector<MlpLayer> top_layers(const DlrmSpec& dlrm, std::int64_t vectors, std::int64_t dim);

// Elements of one sample that the top MLP reads.
std::int64_t interaction_size(const DlrmSpec& dlrm, std::int64_t vectors, std::int64_t dim);

}  // namespace weft
