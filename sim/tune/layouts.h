// How the GPUs share a decoder, as values of a knob: tensor, context, pipeline and data
// parallelism, and how many layers each part of the pipeline has.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/load.h"

namespace weft {

// Keys that change together.
inline constexpr std::array kLayoutKeys = {
    "workload.parallel.tensor",         "workload.parallel.pipeline",
    "workload.parallel.data",           "workload.parallel.context",
    "workload.parallel.first_layers",   "workload.parallel.last_layers",
    "workload.parallel.layers_of_parts"};

// Whether `start` says the schedule of all layouts, or it is varied beside them.
enum class ScheduleIs : std::uint8_t { fixed, varied };

// Values of all of them, as YAML. Tensor parallelism is within a node; what shares a sequence keeps
// 2,048 tokens of it or more on each GPU, or is as the scenario has it. Of each pipeline the layers
// evenly, fewer at both ends, and as split_evenly() has them by the times of chain_of(), where
// these differ: layers of stages, or of all parts where the schedule is fixed and has several on a
// stage; where it varies also of two and of four parts on each. One stage only where no other
// schedule than the default is fixed. `options`: with which the scenario `start` was loaded from
// the file.
std::vector<std::vector<std::string>> layouts_of(const std::filesystem::path& file,
                                                 const LoadOptions& options, const Scenario& start,
                                                 ScheduleIs schedule);

}  // namespace weft
