// Arguments of operators, as profiles have them.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/traces/pytorch/limited.h"
#include "sim/traces/pytorch/operator_work.h"

namespace weft {
namespace {

// The names of tensors' element types.
struct TypeName {
  std::string_view word;
  int size;
};
constexpr auto kTypes = std::to_array<TypeName>({{"float", 4},
                                                 {"double", 8},
                                                 {"c10::Half", 2},
                                                 {"c10::BFloat16", 2},
                                                 {"c10::Float8_e4m3fn", 1},
                                                 {"c10::Float8_e5m2", 1},
                                                 {"c10::Float8_e4m3fnuz", 1},
                                                 {"c10::Float8_e5m2fnuz", 1},
                                                 {"long int", 8},
                                                 {"long", 8},
                                                 {"int", 4},
                                                 {"short int", 2},
                                                 {"short", 2},
                                                 {"signed char", 1},
                                                 {"unsigned char", 1},
                                                 {"bool", 1}});

std::int64_t size_of_type(std::string_view word) {
  for (const TypeName& type : kTypes) {
    if (type.word == word) return type.size;
  }
  return 0;
}

const Json* at(const Json* list, std::size_t index) {
  return list != nullptr && list->is_array() && index < list->size() ? &(*list)[index] : nullptr;
}

}  // namespace

std::int64_t OperatorInput::elements() const {
  if (sizes.empty()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product = size < 1 ? 0 : times(product, size);
  return product;
}

std::vector<OperatorInput> inputs_of(const Json& arguments) {
  constexpr std::size_t kMost = 64;
  std::vector<OperatorInput> inputs;
  const Json* dims = member(arguments, "Input Dims");
  if (dims == nullptr || !dims->is_array()) return inputs;
  const Json* types = member(arguments, "Input type");
  const Json* values = member(arguments, "Concrete Inputs");
  const std::size_t values_size = values != nullptr && values->is_array() ? values->size() : 0;
  const std::size_t size = std::min(std::max(dims->size(), values_size), kMost);
  for (std::size_t i = 0; i < size; ++i) {
    OperatorInput input;
    if (auto sizes = wholes_of(at(dims, i))) input.sizes = std::move(*sizes);
    input.element_bytes = size_of_type(text_or(at(types, i), ""));
    input.value = text_or(at(values, i), "");
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace weft
