#include "sim/app/sweep_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenBars = 200ms;
constexpr auto kBetweenLines = 5s;
constexpr std::size_t kBarWidth = 24;
constexpr const char* kClearLine = "\r\x1b[K";

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

SweepProgress::SweepProgress(SweepCounts counts, Show show)
    : counts_(counts), on_terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()) {
  if (show == Show::yes) shower_ = std::thread([this] { show_until_stopped(); });
}

SweepProgress::~SweepProgress() {
  if (!shower_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  changed_.notify_all();
  shower_.join();
}

void SweepProgress::begin() {
  const std::lock_guard lock(lock_);
  ++counts_.running;
}

void SweepProgress::abandon() {
  const std::lock_guard lock(lock_);
  --counts_.running;
}

void SweepProgress::end(Ending ending, std::size_t rows) {
  const std::lock_guard lock(lock_);
  --counts_.running;
  counts_.done += rows;
  if (ending == Ending::failed) counts_.failed += rows;
}

void SweepProgress::put(const SweepCounts& counts) {
  const std::lock_guard lock(lock_);
  counts_ = counts;
}

SweepCounts SweepProgress::counts() const {
  const std::lock_guard lock(lock_);
  return counts_;
}

void SweepProgress::print(const char* before, const char* after) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const std::string line = before + progress_text(counts_, seconds) + after;
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void SweepProgress::show_until_stopped() {
  std::unique_lock lock(lock_);
  const std::chrono::milliseconds between =
      on_terminal_ ? std::chrono::milliseconds(kBetweenBars) : kBetweenLines;
  while (!changed_.wait_for(lock, between, [this] { return stopping_; })) {
    print(on_terminal_ ? kClearLine : "", on_terminal_ ? "" : "\n");
  }
  print(on_terminal_ ? kClearLine : "", "\n");
}

}  // namespace weft
