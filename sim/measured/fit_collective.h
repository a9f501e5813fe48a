// The numbers of the library's collectives, found by simulating its lines again and again.
#pragma once

#include "sim/measured/fit.h"
#include "sim/measured/predict.h"

namespace weft {

// Fits collective.* to the micro.nccl_* lines, in the cluster of `options` with what `fit` has
// found so far. A number that moves no line stays, and is named.
void fit_collectives(const std::vector<MeasuredLine>& lines, const PredictOptions& options,
                     Fit& fit);

}  // namespace weft
