#include "sim/app/time_limit.h"

#include <algorithm>

#include "sim/sweep/interrupt.h"

namespace weft {

using std::chrono::steady_clock;

TimeLimit::TimeLimit(std::optional<Seconds> limit) {
  if (!limit) return;
  ask_to_stop(false);  // what ended before is of no limit
  waiting_ = std::thread([this, limit] {
    std::unique_lock lock(ending_);
    const bool in_time = ended_.wait_for(lock, *limit, [this] { return is_over_; });
    if (!in_time) ask_to_stop(true);
  });
}

TimeLimit::~TimeLimit() {
  if (!waiting_.joinable()) return;
  {
    const std::lock_guard lock(ending_);
    is_over_ = true;
  }
  ended_.notify_one();
  waiting_.join();
  ask_to_stop(false);
}

Allowance::Allowance(std::optional<Seconds> all) {
  if (all) end_ = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(*all);
}

std::optional<Seconds> Allowance::share(std::size_t to_come) const {
  if (!end_) return std::nullopt;
  const Seconds left = *end_ - steady_clock::now();
  return std::max(left, Seconds{0}) / static_cast<double>(to_come);
}

}  // namespace weft
