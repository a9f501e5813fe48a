// The only macro of weft: a violated assumption of its own ends the run, in release builds too.
//
// The user's mistakes are Diagnostics (diagnostics.h), never assertions.
#pragma once

namespace weft {

// What an abort prints in addition to the violated condition, so that it can be reproduced. Set by
// the engine. Plain data and one instance per thread: two simulations may run in one process.
struct AssertContext {
  unsigned long long seed = 0;
  long long simulated_ps = 0;
};
AssertContext& assert_context();

[[noreturn]] void assertion_failed(const char* fact, const char* file, int line);

}  // namespace weft

#define SIM_ASSERT(fact)                                   \
  do {                                                     \
    if (!(fact)) [[unlikely]]                              \
      ::weft::assertion_failed(#fact, __FILE__, __LINE__); \
  } while (false)
