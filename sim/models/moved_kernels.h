// Recorded kernels on another GPU than the one that they were recorded on:
//
//   time here = recorded time x model here / model there
//
// so a kernel remains as much better or worse than its model as it was when it was recorded. The
// model is
//
//   a GEMM               the library's kernel for its sizes, alone on one GPU (op_kernel.h); of
//                        4-byte elements on the vector units, as PyTorch's default is without TF32
//   norm, elementwise,   a stream of the bytes that it reads and writes, alone on one GPU
//   embedding, copy
//   attention            the library's kernel for its sizes; without them, its roofline: the longer
//                        of operations at the peak of the matrix units and bytes at the HBM's
//                        bandwidth
//
// A kernel of which nothing is known keeps its time; so do copies between host and GPU, which pass
// neither HBM nor CUs at full rate. Grids, registers and tiles stay as recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "sim/models/model_graph.h"

namespace weft {

enum class MovedBy : std::uint8_t { model, roofline, nothing };

// Kernels whose times were found in the same way, over all GPUs.
struct MovedKernels {
  std::size_t kernels = 0;
  double recorded_s = 0;
  double here_s = 0;
  double model_there_s = 0;  // what the model says of the GPU that they were recorded on
};
using MovedTimes = std::map<MovedBy, MovedKernels>;

// Changes the times of the graph's recorded kernels from GPU `there` to the scenario's.
MovedTimes move_recorded(ModelGraph& graph, const Scenario& scenario, const GpuSpec& there);

// The share of the kernels' recorded time.
double moved_share(const MovedTimes& moved, MovedBy by);

// What share of the kernels' time rests on which model. Empty if nothing was recorded.
std::string moved_text(const MovedTimes& moved, const std::string& there, const std::string& here);

}  // namespace weft
