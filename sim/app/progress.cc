#include "sim/app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/report/numbers.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1500ms;  // shorter runs need no progress
constexpr auto kBetween = 200ms;

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(Mode mode, Show show)
    : mode_(mode),
      enabled_(show == Show::on_terminal && isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_ + kPatience) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void ProgressLine::update(const Progress& progress) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double done = progress.wgs == 0 ? 0
                                        : static_cast<double>(progress.wgs_done) /
                                              static_cast<double>(progress.wgs);
  // Past the last WG messages are still on their way: never "done" before it is.
  const std::string line =
      fmt::format("{}{}: {:.0f} % of WGs, {} simulated, {} events/s", kClearLine, name_of(mode_),
                  done * 100, time_text(progress.now - SimTime{}),
                  large_text(static_cast<double>(progress.events) / seconds));
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace weft
