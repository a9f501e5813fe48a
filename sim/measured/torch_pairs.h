// Measured lines of calibration/torch: an operator and its collective on all GPUs of a node, in one
// of several ways, whose GEMMs are a library's.
//
//   {"kind":"ag_gemm","by":"bulk","gpus":2,"m":4096,"n":3072,"k":4096, ... ,"us":101.2}
//
// compute and comm are halves of bulk alone; pytorch is torch.ops.symm_mem's own.
#pragma once

#include <string>

#include "sim/measured/lines.h"
#include "sim/models/model_graph.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct TorchPair {
  ModelGraph graph;  // one or two operators, on all GPUs
  std::uint32_t gpus = 0;
  Mode mode = Mode::bulk;
};

// Gives a line of such an operator the kind that says how it was run ("torch.ag_gemm.pytorch").
// False: it is another line, and stays as it is.
bool name_torch_pair(MeasuredLine& line);

// Those of ways that weft simulates: not this repository's own kernels, nor chunks.
bool is_torch_pair(const std::string& kind);

// What a line ran; what it lacks is added to the problems.
TorchPair torch_pair(const MeasuredLine& line, Diagnostics& problems);

// The kind that one with PyTorch's own operator is compared with; else empty.
std::string bulk_of_torch_pair(const std::string& kind);

}  // namespace weft
