#include "sim/app/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPatience = 1500ms;  // what is done before needs no progress
constexpr std::chrono::milliseconds kBetween = 200ms;
constexpr std::chrono::milliseconds kBetweenLines = 5s;

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(Tell tell, Show show, AtEnd at_end)
    : tell_(std::move(tell)), at_end_(at_end), on_terminal_(isatty(STDERR_FILENO) == 1) {
  if (show == Show::yes) shower_ = std::thread([this] { show_until_stopped(); });
}

ProgressLine::~ProgressLine() {
  if (!shower_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  stopped_.notify_all();
  shower_.join();
}

void ProgressLine::print() {
  const Told told = tell_();
  std::string text = on_terminal_ ? kClearLine : "";
  if (!told.once.empty() && told.once != once_) text += told.once + '\n';
  once_ = told.once;
  text += told.now;
  if (!on_terminal_) text += '\n';
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::show_until_stopped() {
  std::unique_lock lock(lock_);
  std::chrono::milliseconds wait = on_terminal_ ? kPatience : kBetweenLines;
  while (!stopped_.wait_for(lock, wait, [this] { return stopping_; })) {
    print();
    if (on_terminal_) wait = kBetween;
  }
  if (at_end_ == AtEnd::stays) print();
  if (!on_terminal_ || !shown_) return;
  std::fputs(at_end_ == AtEnd::stays ? "\n" : kClearLine, stderr);
  std::fflush(stderr);
}

}  // namespace weft
