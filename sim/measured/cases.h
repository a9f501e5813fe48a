// Cases: the simulation of exactly what a measured line says was run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/measured/lines.h"
#include "sim/measured/torch_pairs.h"
#include "sim/models/model_graph.h"
#include "sim/scenario/scenario.h"

namespace weft {

// Which moment of the simulated run is the end of the measured time.
enum class Until : std::uint8_t { all_done, computed };

struct Case {
  std::string scenario;           // file in configs: the kernel as it was written
  std::vector<std::string> sets;  // this case's numbers, "workload.batch=2048"
  Mode mode = Mode::bulk;
  Until until = Until::all_done;
  std::optional<TorchPair> pair = {};  // if given: it, with launches in a queue, and no scenario
  std::vector<OpShape> kernels = {};   // if not empty: these, one after another, and no scenario
};

// False: weft has no simulation of this kind of line.
bool has_case(const std::string& kind);

// The case of a line on GPUs like this one; what the line lacks for it is added to the problems.
Case case_of(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems);

// The set that says where a GEMV's weights are: a kernel that is run repeatedly finds them in the
// L2 if they fit.
std::string place_of_weights(std::int64_t size, const GpuSpec& gpu);

// The kind of line that a fused one is compared with ("emb.bulk" for "emb.fused"); else empty.
std::string bulk_kind_of(const std::string& kind);

// What the two lines of a comparison have in common: their text without what only one of them has.
std::string compared_text(const MeasuredLine& line);

}  // namespace weft
