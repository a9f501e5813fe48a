#pragma once

#include "sim/core/quantity.h"

namespace weft {

enum class DataType { fp32, fp16, bf16 };
constexpr Bytes size_of(DataType type) { return bytes(type == DataType::fp32 ? 4 : 2); }

}  // namespace weft
