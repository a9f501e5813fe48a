// Loaded before the C library: ends the process, as `kill -9` would, at its n-th call that moves or
// removes a file. WEFT_TEST_KILL_AT is n, from 1.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace {

std::atomic<int> g_calls = 0;

void count() {
  const char* at = std::getenv("WEFT_TEST_KILL_AT");
  if (at != nullptr && ++g_calls == std::atoi(at)) raise(SIGKILL);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
  count();
  return next<int(const char*, const char*)>("rename")(from, to);
}

extern "C" int unlink(const char* path) noexcept {
  count();
  return next<int(const char*)>("unlink")(path);
}
