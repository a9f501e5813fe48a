// An id is made on purpose, not out of any integer near by.
#include "sim/core/ids.h"

namespace weft::a_number_is_no_id_test {

using LinkId = StrongId<struct LinkTag>;
using TaskId = StrongId<struct TaskTag>;

void use() {
#ifdef WRONG
  [[maybe_unused]] const LinkId l = 1;  // must not compile
#else
  [[maybe_unused]] const LinkId l = LinkId(1);
#endif
}

}  // namespace weft::a_number_is_no_id_test
