// What an operator of PyTorch computes and moves, from its name and the shapes of its inputs, which
// profiles have with record_shapes=True.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/models/recorded_shape.h"
#include "sim/traces/json_values.h"

namespace weft {

// One argument, as the profiler has it: a tensor has sizes; numbers and what is absent have none.
struct OperatorInput {
  std::vector<std::int64_t> sizes;
  std::int64_t element_bytes = 0;               // 0: no tensor, or of a type that is not known
  std::string value;                            // of arguments that are no tensors: "True", "0.125"
  [[nodiscard]] std::int64_t elements() const;  // 0: no tensor
};

// From "Input Dims", "Input type" and "Concrete Inputs"; empty where there are no dims.
std::vector<OperatorInput> inputs_of(const Json& arguments);

// Nothing where the operator is not known, its shapes do not fit it, or it would be larger than any
// GPU's.
std::optional<RecordedWork> work_of_operator(std::string_view name,
                                             const std::vector<OperatorInput>& inputs);

}  // namespace weft
