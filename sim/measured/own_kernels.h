// Measured lines of this repository's own kernels as operators of PyTorch (calibration/torch,
// calibration/triton): what they ran, as a scenario of configs/validation.
//
//   {"kind":"gemm_rs","by":"triton","gpus":2,"m":4096,"n":4096,"k":2048, ... ,"us":101.2}
#pragma once

#include <string>

#include "sim/measured/cases.h"

namespace weft {

// As name_torch_pair() calls them: "torch.gemm_rs.triton".
bool is_own_kernel(const std::string& kind);

// What the line lacks for it is added to the problems.
Case own_kernel(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems);

// The kind that a fused one is compared with; else empty.
std::string bulk_of_own_kernel(const std::string& kind);

}  // namespace weft
