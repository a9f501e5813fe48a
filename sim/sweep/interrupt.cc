#include "sim/sweep/interrupt.h"

#include <atomic>
#include <csignal>

namespace weft {
namespace {

// A signal has no other way to speak to the program.
std::atomic<bool> g_interrupted = false;
std::atomic<bool> g_asked_to_stop = false;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return g_interrupted || g_asked_to_stop; }

bool interrupted_by_signal() { return g_interrupted; }

void ask_to_stop(bool stop) { g_asked_to_stop = stop; }

}  // namespace weft
