#include "sim/app/count_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft {

CountProgress::CountProgress(std::string what, Total total, ProgressLine::Show show)
    : what_(std::move(what)),
      total_(total),
      line_([this] { return told(); }, show, ProgressLine::AtEnd::gone) {}

void CountProgress::update(std::size_t done, std::size_t all) {
  const std::lock_guard lock(lock_);
  done_ = std::max(done_, done);  // several threads tell
  all_ = all;
}

ProgressLine::Told CountProgress::told() const {
  const std::lock_guard lock(lock_);
  if (all_ == 0) return {.once = "", .now = fmt::format("{}: none so far", what_)};
  return {.once = "",
          .now = fmt::format("{} of {}{} {}", done_, total_ == Total::at_most ? "at most " : "",
                             all_, what_)};
}

}  // namespace weft
