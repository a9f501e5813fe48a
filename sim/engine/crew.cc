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
  SIM_ASSERT(members > 0 && members < (1U << kThreadsBits));
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
    seat.called.store(kOver, std::memory_order_release);
    seat.called.notify_one();
  }
}

void Crew::do_together(std::uint32_t threads, const Work& work) {
  threads = std::clamp(threads, 1U, static_cast<std::uint32_t>(threads_.size()) + 1);
  work_ = &work;
  ++calls_;
  left_.store(static_cast<std::uint32_t>(seats_.size()), std::memory_order_relaxed);
  for (std::uint32_t member = 1; member < threads; ++member) {
    seats_[member].called.store(calls_ << kThreadsBits | threads, std::memory_order_release);
    seats_[member].called.notify_one();
  }
  do_what_is_left(calls_, 0, threads);
  for (int looks = 0; left_.load(std::memory_order_acquire) > 0; ++looks) look_again(looks, looks_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

// First what is the member's own.
void Crew::do_what_is_left(std::uint64_t call, std::uint32_t member, std::uint32_t threads) {
  const auto pieces = static_cast<std::uint32_t>(seats_.size());
  const std::uint32_t first = pieces * member / threads;
  for (std::uint32_t i = 0; i < pieces; ++i) do_piece(call, (first + i) % pieces);
}

// A piece whose last call is the one before has not been begun in this one, so the call goes on
// until it is done, and what it works on stays. Who comes after a call finds no such piece.
void Crew::do_piece(std::uint64_t call, std::uint32_t piece) {
  std::uint64_t before = call - 1;
  std::atomic<std::uint64_t>& taken = seats_[piece].taken;
  if (taken.load(std::memory_order_relaxed) != before) return;
  if (!taken.compare_exchange_strong(before, call, std::memory_order_acquire)) return;
  try {
    (*work_)(piece);
  } catch (...) {
    const std::lock_guard lock(throwing_);
    if (!thrown_) thrown_ = std::current_exception();
  }
  left_.fetch_sub(1, std::memory_order_release);
}

void Crew::live(std::uint32_t member) {
  const std::atomic<std::uint64_t>& own = seats_[member].called;
  for (std::uint64_t seen = 0;;) {
    std::uint64_t called = own.load(std::memory_order_acquire);
    for (int looks = 0; called == seen; ++looks) {
      if (looks < looks_ + kYields) {
        look_again(looks, looks_);
      } else {
        own.wait(seen, std::memory_order_acquire);
      }
      called = own.load(std::memory_order_acquire);
    }
    if (called == kOver) return;
    seen = called;
    do_what_is_left(called >> kThreadsBits, member,
                    static_cast<std::uint32_t>(called & ((1U << kThreadsBits) - 1)));
  }
}

}  // namespace weft
