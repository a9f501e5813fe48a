#include "sim/core/assert.h"

#include <cstdio>
#include <cstdlib>

namespace weft {

AssertContext& assert_context() {
  thread_local AssertContext context;
  return context;
}

void assertion_failed(const char* fact, const char* file, int line) {
  const AssertContext& context = assert_context();
  std::fprintf(stderr,
               "weft: a bug in the program, not in your input: %s:%d: violated: %s\n"
               "  seed %llu, simulated time %lld ps; please report both with the scenario\n",
               file, line, fact, context.seed, context.simulated_ps);
  std::abort();
}

}  // namespace weft
