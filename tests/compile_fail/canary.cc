// Not a case: its wrong half is right. Were it to pass, no case would mean anything.
#include "sim/core/quantity.h"

namespace weft {

void use() {
#ifdef WRONG
  [[maybe_unused]] const auto d = nanoseconds(2);  // must not compile
#else
  [[maybe_unused]] const auto d = nanoseconds(1);
#endif
}

}  // namespace weft
