// A task is not a link, though both are a number inside.
#include "sim/core/ids.h"

namespace weft::an_id_of_another_table_is_no_id_test {

using LinkId = StrongId<struct LinkTag>;
using TaskId = StrongId<struct TaskTag>;

void use() {
#ifdef WRONG
  [[maybe_unused]] const LinkId l = TaskId{1};  // must not compile
#else
  [[maybe_unused]] const LinkId l = LinkId{1};
#endif
}

}  // namespace weft::an_id_of_another_table_is_no_id_test
