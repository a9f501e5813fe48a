// Time leaves the integers by name only (to_seconds), so that no float decides when.
#include "sim/core/quantity.h"

namespace weft::a_duration_is_no_double_test {

void use() {
#ifdef WRONG
  [[maybe_unused]] const double d = nanoseconds(1);  // must not compile
#else
  [[maybe_unused]] const double d = to_seconds(nanoseconds(1));
#endif
}

}  // namespace weft::a_duration_is_no_double_test
