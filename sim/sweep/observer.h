// What a sweep tells while it goes on; it prints and draws nothing itself.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace weft {

// Called for one sentence at a time, from any thread.
using Say = std::function<void(const std::string&)>;
struct SweepMessages {
  Say info;
  Say warning;
  Say error;
};

// How far a sweep is.
struct SweepCounts {
  std::size_t all = 0;
  std::size_t before = 0;  // were finished when it began
  std::size_t done = 0;    // with those
  std::size_t failed = 0;  // of them
  std::size_t running = 0;
};
// Called for one change at a time, from any thread; first as it begins.
using OnCounts = std::function<void(const SweepCounts&)>;

}  // namespace weft
