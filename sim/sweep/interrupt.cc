#include "sim/sweep/interrupt.h"

#include <atomic>
#include <csignal>

namespace weft {
namespace {

// A signal has no other way to speak to the program.
std::atomic<bool> g_interrupted = false;
std::atomic<bool> g_asked_to_stop = false;
std::atomic<bool> g_kept_something = false;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return g_interrupted || g_asked_to_stop; }

bool interrupted_by_signal() { return g_interrupted; }

bool must_stop_now() { return g_interrupted || (g_asked_to_stop && g_kept_something); }

void ask_to_stop(bool stop) {
  g_asked_to_stop = stop;
  if (!stop) g_kept_something = false;
}

void has_ended_and_is_kept() { g_kept_something = true; }

}  // namespace weft
