// Each dimension is a type of its own.
#include "sim/core/quantity.h"

namespace weft::bytes_and_time_cannot_be_added_test {

void use() {
#ifdef WRONG
  [[maybe_unused]] const auto sum = bytes(1) + nanoseconds(1);  // must not compile
#else
  [[maybe_unused]] const auto sum = bytes(1) + bytes(1);
#endif
}

}  // namespace weft::bytes_and_time_cannot_be_added_test
