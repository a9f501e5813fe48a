#include "sim/app/sweep_progress.h"

#include <fmt/format.h>

#include <cmath>

namespace weft {
namespace {

constexpr std::size_t kBarWidth = 24;

std::string left_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  const long long hours = whole / 3600;
  const long long minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02} left", hours, minutes, whole % 60);
  return fmt::format("{}:{:02} left", minutes, whole % 60);
}

}  // namespace

std::string progress_text(const SweepCounts& counts, double seconds) {
  const std::size_t filled = counts.all == 0 ? kBarWidth : counts.done * kBarWidth / counts.all;
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  std::string text = fmt::format("[{}] {}/{} done, {} failed, {} running", bar, counts.done,
                                 counts.all, counts.failed, counts.running);
  const auto now_done = static_cast<double>(counts.done - counts.before);
  if (now_done == 0 || seconds <= 0) return text;
  const double rate = now_done / seconds;
  text += fmt::format(", {:.3g} points/s", rate);
  if (counts.done < counts.all) {
    text += ", " + left_text(static_cast<double>(counts.all - counts.done) / rate);
  }
  return text;
}

SweepProgress::SweepProgress(ProgressLine::Show show)
    : start_(Clock::now()), line_([this] { return told(); }, show, ProgressLine::AtEnd::stays) {}

void SweepProgress::update(const SweepCounts& counts) {
  const std::lock_guard lock(lock_);
  counts_ = counts;
}

ProgressLine::Told SweepProgress::told() const {
  const std::lock_guard lock(lock_);
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return {.once = "", .now = progress_text(counts_, seconds)};
}

}  // namespace weft
