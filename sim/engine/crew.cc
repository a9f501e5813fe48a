#include "sim/engine/crew.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

// Some ten microseconds of looking, then as long as others may want the core, then sleep.
constexpr int kLooks = 2'000;
constexpr int kYields = 200;

void look_again(int looks, int at_first) {
  if (looks < at_first) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

}  // namespace

// Members that have no core of their own keep others from theirs while they look.
Crew::Crew(std::uint32_t members)
    : looks_(members <= std::thread::hardware_concurrency() ? kLooks : 0), seats_(members) {
  SIM_ASSERT(members > 0);
  for (std::uint32_t member = 1; member < members; ++member) {
    try {
      threads_.emplace_back([this, member] { live(member); });
    } catch (const std::system_error&) {
      return;  // those that there are do it all
    }
  }
}

Crew::~Crew() {
  for (Seat& seat : seats_) {
    seat.call.store(kOver, std::memory_order_release);
    seat.call.notify_one();
  }
}

void Crew::do_together(std::uint32_t members, std::uint32_t pieces, const Work& work) {
  members_ = std::clamp(members, 1U, static_cast<std::uint32_t>(threads_.size()) + 1);
  pieces_ = pieces;
  work_ = &work;
  ++calls_;
  at_work_.store(members_ - 1, std::memory_order_relaxed);
  for (std::uint32_t member = 1; member < members_; ++member) {
    seats_[member].call.store(calls_, std::memory_order_release);
    seats_[member].call.notify_one();
  }
  do_part(0);
  for (int looks = 0; at_work_.load(std::memory_order_acquire) > 0; ++looks)
    look_again(looks, looks_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Crew::do_part(std::uint32_t member) {
  const std::uint32_t end = pieces_ * (member + 1) / members_;
  try {
    for (std::uint32_t piece = pieces_ * member / members_; piece < end; ++piece) (*work_)(piece);
  } catch (...) {
    const std::lock_guard lock(throwing_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

void Crew::live(std::uint32_t member) {
  const std::atomic<std::uint64_t>& own = seats_[member].call;
  for (std::uint64_t seen = 0;;) {
    std::uint64_t call = own.load(std::memory_order_acquire);
    for (int looks = 0; call == seen; ++looks) {
      if (looks < looks_ + kYields) {
        look_again(looks, looks_);
      } else {
        own.wait(seen, std::memory_order_acquire);
      }
      call = own.load(std::memory_order_acquire);
    }
    if (call == kOver) return;
    seen = call;
    do_part(member);
    at_work_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace weft
