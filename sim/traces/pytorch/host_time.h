// The host's own time in a profile.
//
// Threads are taken as one host that does one thing after another: PyTorch's hand over to one
// another (forward, backward) rather than work at once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/models/recorded_step.h"
#include "sim/traces/pytorch/kineto_file.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// When the GPU had no kernel, and why.
RecordedStep recorded_step(const KinetoFile& profile);

// Makes nodes of the time between one launch and the next, less the time in which the host waited
// for the GPU. Moments are in nanoseconds.
class HostClock {
 public:
  // The host's time before this moment is none of the step's.
  void start(std::int64_t at, std::uint32_t lane);
  // The host came to `at`: adds a node of its time until there, if it took any. False if that is
  // more than a day.
  bool go_to(std::int64_t at, std::vector<TraceNode>& nodes);
  // From there on it waited for so long, for these nodes (by stream).
  void wait(std::int64_t duration, const std::map<std::int64_t, std::uint32_t>& waited_for);
  // Adds what a kernel that is launched now waits for.
  void add_to(std::vector<std::uint32_t>& after) const;

 private:
  static constexpr std::int64_t kLatest = std::int64_t{1} << 62U;  // of recorded moments

  std::int64_t free_at_ = 0;
  std::uint32_t lane_ = 0;
  bool any_ = false;
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> waited_for_;  // since the last node
};

}  // namespace weft
