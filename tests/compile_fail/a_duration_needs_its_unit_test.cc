// A plain number has no unit: picoseconds or seconds?
#include "sim/core/quantity.h"

namespace weft::a_duration_needs_its_unit_test {

void use() {
#ifdef WRONG
  [[maybe_unused]] const Duration d = 5;  // must not compile
#else
  [[maybe_unused]] const Duration d = picoseconds(5);
#endif
}

}  // namespace weft::a_duration_needs_its_unit_test
