// What kernels of a lowered model wait for before they begin.
#pragma once

#include "sim/collectives/collective.h"
#include "sim/models/lower_model.h"

namespace weft {

// Of an operator's kernels; those of a pair wait for the releases of all that they do.
Duration release_of(OpId op, const ModelLowering& how);
Duration release_of(const Fusion& fusion, const ModelLowering& how);

// Time that a receiver waits before there is anything to send is not communication but, in a
// pipeline, a bubble of its stage. Beginning earlier would not let it end earlier.
// `meets`: nor does the source begin before its target.
void starts_with_its_source(CollectiveCall& call, bool meets);

}  // namespace weft
