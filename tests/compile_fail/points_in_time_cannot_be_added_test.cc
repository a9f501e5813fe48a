// Two points on the clock have a distance, but no sum.
#include "sim/core/quantity.h"

namespace weft {

constexpr SimTime start, end;

void use() {
#ifdef WRONG
  [[maybe_unused]] const auto length = end + start;  // must not compile
#else
  [[maybe_unused]] const auto length = end - start;
#endif
}

}  // namespace weft
