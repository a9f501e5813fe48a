// The ways in which single pairs of a model can be overlapped, as the text of a sweep file: what
// `weft tune --pairs` varies.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/models/pair_ways.h"
#include "sim/scenario/load.h"
#include "sim/tune/collectives_space.h"

namespace weft {

// Of each name of pairs an axis, a further rule of `workload.pairs`: first none, so that the pairs
// are as they are in the scenario, then the best of each mode and the shortest of the other ways,
// by what the pairs take by themselves (pair_ways.h). As many ways as let all combinations be some
// 100,000. Where two ways each are too many, those that gain least are left out, with a comment.
std::string text_of_pairs(const std::vector<PairWays>& pairs, std::size_t rules,
                          const std::string& head, const OtherAxes& others = {});

struct PairsSpace {
  std::string text;      // empty: there is an error
  Diagnostics problems;  // but for warnings of the scenario, which are its loader's
};

// Besides the pairs: the collectives that are in none, each by its name. `scenario` loads with
// `options`, is of a whole model, and `named` as a sweep file has to name it.
PairsSpace pairs_space(const std::filesystem::path& scenario, const LoadOptions& options,
                       const std::string& named, const PairTrials& how, KnownRuns& known);

}  // namespace weft
