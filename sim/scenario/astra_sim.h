// Network files of ASTRA-sim's analytical back end as a cluster.
//
//   cluster: {from_astra_sim: networks/switch_8.yml, gpu: {base: gpus/h100}}
//
//   topology: [ Switch ]      # Ring, Switch, FullyConnected: one word a dimension
//   npus_count: [ 8 ]
//   bandwidth: [ 400.0 ]      # GB/s of a link, one direction; here 10^9 B
//   latency: [ 936.25 ]       # ns of a link: a Switch's counts twice on a way, there and here
//
// One dimension, or rings in up to three with links alike: one node whose scale_up it is. Two, of
// which the outer is a Switch: nodes of the inner one, each GPU with a NIC that costs nothing.
#pragma once

#include <optional>
#include <string>

#include "sim/core/diagnostics.h"
#include "sim/spec/tree.h"

namespace weft {

// Of the `network` file's tree; nothing and a problem for what weft has no shape for.
std::optional<Node> cluster_of_astra_sim(const Node& network, const std::string& name,
                                         Diagnostics& problems);

}  // namespace weft
