// Two points on the clock have a distance, but no sum.
#include "sim/core/quantity.h"

namespace weft::points_in_time_cannot_be_added_test {

constexpr SimTime start, end;

void use() {
#ifdef WRONG
  [[maybe_unused]] const auto length = end + start;  // must not compile
#else
  [[maybe_unused]] const auto length = end - start;
#endif
}

}  // namespace weft::points_in_time_cannot_be_added_test
