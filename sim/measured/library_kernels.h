// Measured kernels of libraries, each alone on one GPU and in a graph, as operators of a model.
//
//   {"set": "gemm", "system": "h100_sxm", "m": 16, "n": 1024, "k": 4096, "us": [9.1, 8.7, 9.3]}
//   {"set": "attention", "what": "context", "batch": 4, "heads": 32, "kv_heads": 8, "isl": 512,
//   ...}
//   {"set": "attention", "what": "generation", ..., "step": 4095, ...}
//   {"kind": "gemm", ...} and bmm, attention, attention_decode of calibration/pytorch
//
// A line of a set is a layer of an inference engine: the median of the engines' times; attention
// includes the kernels before it.
#pragma once

#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/measured/lines.h"
#include "sim/models/model_graph.h"

namespace weft {

// Gives a line of such a kernel the kind that says so ("library.gemm"). Others are left as they
// are: GEMMs from a warm cache.
void name_library_kernel(MeasuredLine& line);

bool is_library_kernel(const std::string& kind);

// Whether the GPU is described with the library whose attention kernel this is: cuDNN's or
// FlashAttention-2's.
bool has_its_library(const GpuSpec& gpu, const std::string& kind);

// The kernels of a line, one after another; what the line lacks is added to the problems.
std::vector<OpShape> library_kernels(const MeasuredLine& line, Diagnostics& problems);

}  // namespace weft
