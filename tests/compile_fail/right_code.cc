// What the cases beside this file misuse, used rightly.
#include "sim/core/ids.h"
#include "sim/core/quantity.h"

namespace weft {

using LinkId = StrongId<struct LinkTag>;
using TaskId = StrongId<struct TaskTag>;

void use() {
  const SimTime start = SimTime() + nanoseconds(1);
  const Duration d = start - SimTime() + picoseconds(5);
  [[maybe_unused]] const double seconds = to_seconds(d);
  [[maybe_unused]] const Bytes size = bytes(1) + kibibytes(1);
  [[maybe_unused]] const TaskId task{1};
  const LinkId link = LinkId{1};
  IdVector<LinkId, int> table(2);
  table[link] = 3;
}

}  // namespace weft
