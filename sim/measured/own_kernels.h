// Measured lines of this repository's own kernels as operators of PyTorch (calibration/torch,
// calibration/triton): what they ran, as a scenario of configs/validation.
//
//   {"kind":"gemm_rs","by":"triton","gpus":2,"m":4096,"n":4096,"k":2048, ... ,"us":101.2}
#pragma once

#include <string>
#include <vector>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/measured/lines.h"
#include "sim/scenario/scenario.h"

namespace weft {

// As name_torch_pair() calls them: "torch.gemm_rs.triton".
bool is_own_kernel(const std::string& kind);

struct OwnKernelCase {
  std::string scenario;           // file in configs
  std::vector<std::string> sets;  // its numbers, and what the kernel derives from them
  Mode mode = Mode::fused;
  bool computed = false;  // the time is that of its computation alone
};

// What the line lacks for it is added to the problems.
OwnKernelCase own_kernel(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems);

// The kind that a fused one is compared with; else empty.
std::string bulk_of_own_kernel(const std::string& kind);

}  // namespace weft
