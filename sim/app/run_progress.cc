#include "sim/app/run_progress.h"

#include <fmt/format.h>

#include <string>

#include "sim/core/plural.h"
#include "sim/report/numbers.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

std::string size_text(Mode mode, int gpus, const Progress& progress) {
  const auto count = [](std::uint64_t number, const char* one, const char* several) {
    return fmt::format("{} {}", count_text(static_cast<std::int64_t>(number)),
                       plural(number, one, several));
  };
  return fmt::format("{}: {}, {}, {}, {}", name_of(mode),
                     count(static_cast<std::uint64_t>(gpus), "GPU", "GPUs"),
                     count(progress.kernels, "kernel", "kernels"), count(progress.wgs, "WG", "WGs"),
                     count(progress.messages, "message", "messages"));
}

// Past the last WG messages are still on their way: never "done" before it is.
std::string done_text(Mode mode, const Progress& progress, double seconds) {
  const double done = progress.wgs == 0 ? 0
                                        : static_cast<double>(progress.wgs_done) /
                                              static_cast<double>(progress.wgs);
  std::string text = fmt::format("{}: {:.0f} % of WGs, {} simulated", name_of(mode), done * 100,
                                 time_text(progress.now - SimTime{}));
  if (progress.events > 0 && seconds > 0) {
    const double rate = static_cast<double>(progress.events) / seconds;
    text += fmt::format(", {} events/s", large_text(rate));
  }
  return text;
}

}  // namespace

RunProgress::RunProgress(int gpus, ProgressLine::Show show)
    : gpus_(gpus),
      start_(Clock::now()),
      line_([this] { return told(); }, show, ProgressLine::AtEnd::gone) {}

OnProgress RunProgress::begin(Mode mode) {
  const std::lock_guard lock(lock_);
  mode_ = mode;
  progress_.reset();
  return [this](const Progress& progress) {
    const std::lock_guard updating(lock_);
    if (progress.events == 0) start_ = Clock::now();
    progress_ = progress;
  };
}

ProgressLine::Told RunProgress::told() const {
  const std::lock_guard lock(lock_);
  if (!progress_) return {.once = "", .now = fmt::format("{}: being set up", name_of(mode_))};
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return {.once = size_text(mode_, gpus_, *progress_),
          .now = done_text(mode_, *progress_, seconds)};
}

}  // namespace weft
