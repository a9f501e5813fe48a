// Fits the numbers of the library's collectives by simulating its lines repeatedly.
#pragma once

#include "sim/measured/fit.h"
#include "sim/measured/predict.h"

namespace weft {

// Fits collective.* to the micro.nccl_* lines, in the cluster of `options` with what `fit` has
// found so far. A number that affects no line is kept and reported.
void fit_collectives(const std::vector<MeasuredLine>& lines, const PredictOptions& options,
                     Fit& fit);

}  // namespace weft
