// What an operator of PyTorch computes and moves, from its name and the shapes of its inputs, which
// profiles have if recorded with record_shapes=True.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/models/recorded_shape.h"
#include "sim/traces/json_values.h"

namespace weft {

// One argument, as the profiler writes it: tensors have sizes; numbers and absent ones have none.
struct OperatorInput {
  std::vector<std::int64_t> sizes;
  std::int64_t element_bytes = 0;  // 0: not a tensor, or of an unknown type
  std::string value;               // of arguments that are not tensors: "True", "0.125"
  [[nodiscard]] std::int64_t elements() const;  // 0: not a tensor
};

// From "Input Dims", "Input type" and "Concrete Inputs"; empty if there are no dims.
std::vector<OperatorInput> inputs_of(const Json& arguments);

// Nothing if the operator is unknown, if its shapes do not fit it, or if its tensors would be
// larger than any GPU's memory.
std::optional<RecordedWork> work_of_operator(std::string_view name,
                                             const std::vector<OperatorInput>& inputs);

}  // namespace weft
