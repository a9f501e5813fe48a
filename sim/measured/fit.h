// Fits: the numbers of a GPU and its links from lines of micro-benchmarks alone.
#pragma once

#include <string>
#include <vector>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/measured/lines.h"
#include "sim/network/network_spec.h"

namespace weft {

// One number that the lines determine.
struct FittedValue {
  std::string path;     // key of the GPU's file, "memory.bandwidth"; for links: "link.latency"
  std::string text;     // as written in the file, "4.625 TB/s"
  std::string comment;  // the lines it comes from and how far it is from them
};

struct Fit {
  GpuSpec gpu;
  LinkSpec link;
  std::vector<FittedValue> values;
  std::vector<std::string> kept;  // keys that no line determines, and what would
  Diagnostics problems;           // lines that lack a number
};

// Starts from `gpu` and `link`; keeps what the lines do not determine.
Fit fit_machine(const std::vector<MeasuredLine>& lines, const GpuSpec& gpu, const LinkSpec& link);

}  // namespace weft
