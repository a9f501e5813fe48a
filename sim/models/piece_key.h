// What the lowering of a part of a model depends on, as a key, which takes less than to lower it.
#pragma once

#include <optional>

#include "sim/core/digest.h"
#include "sim/models/lower_model.h"

namespace weft {

// The whole cluster; or one of its nodes, of the cluster with this key.
DigestValue machine_key(const Cluster& cluster);
DigestValue machine_key(const Cluster& node, const DigestValue& whole);

// On this machine, with these limits. Nothing for what only single operators have: a kernel that a
// scenario describes, CUs of a strategy. Those are lowered as fast as their keys would be made.
std::optional<DigestValue> piece_key(const DigestValue& machine, const ModelGraph& graph,
                                     const ModelLowering& how, const RunOptions& options);

}  // namespace weft
