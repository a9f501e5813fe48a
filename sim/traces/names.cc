#include "sim/traces/names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/core/plain_text.h"

namespace weft {
namespace {

// As c++filt and Nsight Systems write a namespace without a name.
constexpr std::array<std::string_view, 2> kAnonymous = {"(anonymous namespace)", "<unnamed>"};
constexpr std::size_t kMostOfShortName = 80;

// Where '(' or '<' starts the signature, which does not belong to the name.
std::size_t end_of_name(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto anonymous =
        std::find_if(kAnonymous.begin(), kAnonymous.end(),
                     [&](std::string_view written) { return name.substr(i).starts_with(written); });
    if (anonymous != kAnonymous.end()) {
      i += anonymous->size() - 1;
    } else if (i > 0 && (name[i] == '<' || name[i] == '(')) {
      return i;
    }
  }
  return name.size();
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  name = name.substr(0, end_of_name(name));
  while (name.ends_with(' ')) name.remove_suffix(1);
  return printable(name.substr(0, kMostOfShortName));
}

}  // namespace weft
