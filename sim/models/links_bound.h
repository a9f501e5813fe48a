// A time below which no mode can bring a model's step, by what its collectives have to send: the
// least that any algorithm does, in node and between nodes, at the full rate of the links.
//
//   in a node      each GPU sends or receives n - 1 of the n blocks of its buffer, on all its links
//   between nodes  each node sends or receives the blocks that are not its own, once, on all NICs
//
// Rows that are put one by one (`puts`), which may go to a node once, and groups that stand for
// others (`turns`) are left out.
#pragma once

#include "sim/models/model_graph.h"
#include "sim/network/network_spec.h"

namespace weft {

double links_bound_us(const ModelGraph& graph, const NetworkSpec& network);

}  // namespace weft
