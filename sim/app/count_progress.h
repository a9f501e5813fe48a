// How many of several simulations are done.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "sim/app/progress.h"

namespace weft {

class CountProgress {
 public:
  enum class Total { exact, at_most };
  // "12 of 84 cases simulated": `what` is "cases simulated".
  CountProgress(std::string what, Total total, ProgressLine::Show show);

  // Called from several threads.
  void update(std::size_t done, std::size_t all);

 private:
  [[nodiscard]] ProgressLine::Told told() const;

  mutable std::mutex lock_;
  std::string what_;
  Total total_;
  std::size_t done_ = 0;
  std::size_t all_ = 0;
  ProgressLine line_;  // the last one: its thread asks the others
};

}  // namespace weft
