#include "sim/app/planned.h"

#include "sim/app/colors.h"

namespace weft {

bool refused(const Planned& planned) {
  const Diagnostics problems = check(planned);
  print_problems(problems);
  return problems.has_errors();
}

}  // namespace weft
