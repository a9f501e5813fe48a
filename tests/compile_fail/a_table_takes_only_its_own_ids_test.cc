// An IdVector is indexed by the ids it was made for.
#include "sim/core/ids.h"

namespace weft::a_table_takes_only_its_own_ids_test {

using LinkId = StrongId<struct LinkTag>;
using TaskId = StrongId<struct TaskTag>;

void use() {
#ifdef WRONG
  [[maybe_unused]] const int n = IdVector<LinkId, int>(2)[TaskId(1)];  // must not compile
#else
  [[maybe_unused]] const int n = IdVector<LinkId, int>(2)[LinkId(1)];
#endif
}

}  // namespace weft::a_table_takes_only_its_own_ids_test
