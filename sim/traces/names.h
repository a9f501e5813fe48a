// Names of kernels as reports show them.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// Without result type, template arguments and parameters:
// "void at::native::reduce_kernel<512, 1>(int)" is "at::native::reduce_kernel".
std::string short_kernel_name(std::string_view name);

}  // namespace weft
