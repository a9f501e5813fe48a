// NVTX ranges that frameworks write around what they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/traces/pytorch/operator_work.h"

namespace weft {

// Whether this is an operator's range, as torch.autograd.profiler.emit_nvtx writes it:
// "aten::mm, op_id = 40, sizes = [[1024, 256], [256, 512]]".
bool is_operator(std::string_view range);

// What it computes, if it was recorded with record_shapes=True. Ranges do not say types, so
// elements have `element_bytes`; nor whether attention is causal, so nothing is said of attention.
std::optional<RecordedWork> work_of_range(std::string_view range, std::int64_t element_bytes);

// Its number, if the range is a step: "ProfilerStep#3", "iteration 3", "step_3".
std::optional<std::int64_t> step_of_range(std::string_view range);

}  // namespace weft
