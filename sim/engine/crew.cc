#include "sim/engine/crew.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

// Some ten microseconds of looking, then as long as others may want the core, then sleep.
constexpr int kLooks = 2'000;
constexpr int kYields = 200;

void look_again(int looks) {
  if (looks < kLooks) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

}  // namespace

Crew::Crew(std::uint32_t members) {
  SIM_ASSERT(members > 0 && members < (1U << kMembersBits));
  for (std::uint32_t member = 1; member < members; ++member) {
    threads_.emplace_back([this, member] { live(member); });
  }
}

Crew::~Crew() {
  call_.store(kOver, std::memory_order_release);
  call_.notify_all();
}

void Crew::do_together(std::uint32_t members, std::uint32_t pieces, const Work& work) {
  members = std::clamp(members, 1U, static_cast<std::uint32_t>(threads_.size()) + 1);
  pieces_ = pieces;
  work_ = &work;
  if (members > 1) {
    at_work_.store(members - 1, std::memory_order_relaxed);
    call_.store((++calls_ + 1) << kMembersBits | members, std::memory_order_release);
    call_.notify_all();
  }
  do_part(0, members);
  if (members == 1) return;
  for (int looks = 0; at_work_.load(std::memory_order_acquire) > 0; ++looks) look_again(looks);
}

void Crew::do_part(std::uint32_t member, std::uint32_t members) const {
  const std::uint32_t end = pieces_ * (member + 1) / members;
  for (std::uint32_t piece = pieces_ * member / members; piece < end; ++piece) (*work_)(piece);
}

// Who is not called this time does not touch what the others work on.
void Crew::live(std::uint32_t member) {
  std::uint64_t seen = std::uint64_t{1} << kMembersBits;
  for (;;) {
    std::uint64_t call = call_.load(std::memory_order_acquire);
    for (int looks = 0; call == seen; ++looks) {
      if (looks < kLooks + kYields) {
        look_again(looks);
      } else {
        call_.wait(seen, std::memory_order_acquire);
      }
      call = call_.load(std::memory_order_acquire);
    }
    if (call == kOver) return;
    seen = call;
    const auto members = static_cast<std::uint32_t>(call & ((1U << kMembersBits) - 1));
    if (member >= members) continue;
    do_part(member, members);
    at_work_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace weft
