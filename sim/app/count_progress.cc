#include "sim/app/count_progress.h"

#include <fmt/format.h>

#include <utility>

namespace weft {

CountProgress::CountProgress(std::string what, ProgressLine::Show show)
    : what_(std::move(what)), line_([this] { return told(); }, show, ProgressLine::AtEnd::gone) {}

void CountProgress::update(std::size_t done, std::size_t all) {
  const std::lock_guard lock(lock_);
  if (done == 1) ++round_;
  done_ = done;
  all_ = all;
}

ProgressLine::Told CountProgress::told() const {
  const std::lock_guard lock(lock_);
  if (all_ == 0) return {.once = "", .now = fmt::format("{}: none yet", what_)};
  // How many rounds there will be is not known.
  const std::string round = round_ > 1 ? fmt::format("round {}: ", round_) : "";
  return {.once = "", .now = fmt::format("{}{} of {} {}", round, done_, all_, what_)};
}

}  // namespace weft
