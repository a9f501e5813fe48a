// What several runs have done together.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "sim/engine/simulate.h"

namespace weft {

// Told by whichever has done something, by one at a time.
class ProgressOfAll {
 public:
  // `tell` must outlive it.
  ProgressOfAll(std::size_t runs, const OnProgress& tell) : of_run_(runs), tell_(tell) {}

  // For this run; none if nobody is to be told.
  OnProgress of(std::size_t run) {
    if (!tell_) return {};
    return [this, run](const Progress& progress) {
      const std::lock_guard lock(telling_);
      of_run_[run] = progress;
      Progress all;
      for (const Progress& one : of_run_) {
        all.events += one.events;
        all.now = later(all.now, one.now);
        all.wgs_done += one.wgs_done;
        all.wgs += one.wgs;
        all.kernels += one.kernels;
        all.messages += one.messages;
      }
      tell_(all);
    };
  }

 private:
  std::mutex telling_;
  std::vector<Progress> of_run_;
  const OnProgress& tell_;
};

}  // namespace weft
