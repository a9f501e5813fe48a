#include "sim/scenario/model_size.h"

namespace weft {
namespace {

std::vector<MlpLayer> layers(std::int64_t in, const std::vector<int>& sizes) {
  std::vector<MlpLayer> made;
  made.reserve(sizes.size());
  for (const int out : sizes) {
    made.push_back({.in = in, .out = out});
    in = out;
  }
  return made;
}

}  // namespace

std::vector<MlpLayer> bottom_layers(const DlrmSpec& dlrm) {
  return layers(dlrm.bottom_mlp.front(), {dlrm.bottom_mlp.begin() + 1, dlrm.bottom_mlp.end()});
}

std::vector<MlpLayer> top_layers(const DlrmSpec& dlrm, std::int64_t vectors, std::int64_t dim) {
  return layers(interaction_size(dlrm, vectors, dim), dlrm.top_mlp);
}

std::int64_t interaction_size(const DlrmSpec& dlrm, std::int64_t vectors, std::int64_t dim) {
  const std::int64_t dense = dlrm.bottom_mlp.back();
  switch (dlrm.interaction) {
    case Interaction::dot:  // of the vectors and the dense one, each with each other one
      return vectors * (vectors + 1) / 2 + dense;
    case Interaction::concat:
      return vectors * dim + dense;
    case Interaction::sum:
      return dim;
  }
  return 0;
}

}  // namespace weft
