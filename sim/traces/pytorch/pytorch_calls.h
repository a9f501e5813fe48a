// Which call of the communication library started which kernel, and what the call moves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/traces/pytorch/pytorch_et.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// A record_param_comms event of the host.
struct CallInterval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::optional<std::uint32_t> kernel;  // index in the profile's GPU events; none: nothing travels
  std::optional<CommCall> call;         // from the execution trace, or from the kernel
  [[nodiscard]] bool waits() const;     // whether it waits for another call
};

// Finds the call that a thread is in at a moment. Calls are in the order of their starts.
class CallIndex {
 public:
  CallIndex() = default;
  explicit CallIndex(const std::vector<CallInterval>& calls);
  [[nodiscard]] std::optional<std::uint32_t> at(const std::vector<CallInterval>& calls,
                                                std::int64_t thread, std::int64_t moment) const;

 private:
  std::map<std::int64_t, std::vector<std::uint32_t>> by_thread_;
};

// All calls and what is known of them. It is a problem if profile and execution trace do not belong
// together, or if neither says what a kernel moves. A collective of one rank, or of no data, has no
// kernel of the library; `groups` tells which have one rank.
std::vector<CallInterval> find_calls(const KinetoFile& profile, const PytorchEt* et,
                                     const TraceGroups& groups,
                                     const std::map<std::int64_t, std::uint32_t>& by_correlation,
                                     TraceProblems& problems);

}  // namespace weft
