#include "sim/sweep/memory_gate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "sim/report/numbers.h"
#include "sim/run/memory.h"
#include "sim/sweep/interrupt.h"

namespace weft {

Bytes memory_for_runs() {
  const std::int64_t all = machine_memory_bytes();
  return bytes(all > 0 ? all / 4 * 3 : INT64_MAX / 2);
}

// What is alone goes on whatever it needs: run.max_memory has allowed it.
MemoryGate::Pass::Pass(MemoryGate& gate, Bytes need) : gate_(gate), need_(need) {
  using namespace std::chrono_literals;
  std::unique_lock lock(gate_.lock_);
  const auto fits = [&] { return gate_.holders_ == 0 || gate_.held_ + need_ <= gate_.all_; };
  if (!fits() && gate_.say_) {
    gate_.say_(fmt::format(
        "a point is estimated to need {}; all running points together may use {}, so fewer run at "
        "a time",
        bytes_text(need_.count()), bytes_text(gate_.all_.count())));
    gate_.say_ = nullptr;
  }
  while (!gate_.freed_.wait_for(lock, 200ms, fits)) {
    if (interrupted()) throw Interrupted{};
  }
  gate_.held_ += need_;
  ++gate_.holders_;
}

MemoryGate::Pass::~Pass() {
  {
    const std::lock_guard lock(gate_.lock_);
    gate_.held_ -= need_;
    --gate_.holders_;
  }
  gate_.freed_.notify_all();
}

}  // namespace weft
