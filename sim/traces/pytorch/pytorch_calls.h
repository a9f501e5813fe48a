// Which call of the communication library started which kernel, and what that call moves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/traces/pytorch/pytorch_et.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// record_param_comms events of the host, in their order.
struct CallInterval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::optional<std::uint32_t> kernel;  // of the profile's GPU events; none: nothing travels
  std::optional<CommCall> call;         // from the execution trace, or from the kernel
  [[nodiscard]] bool waits() const;     // for another call
};

// Finds the call that a moment of a thread lies in. Calls are in the order of their starts.
class CallIndex {
 public:
  CallIndex() = default;
  explicit CallIndex(const std::vector<CallInterval>& calls);
  [[nodiscard]] std::optional<std::uint32_t> at(const std::vector<CallInterval>& calls,
                                                std::int64_t thread, std::int64_t moment) const;

 private:
  std::map<std::int64_t, std::vector<std::uint32_t>> by_thread_;
};

// Intervals and what is known of them. A problem where profile and execution trace do not belong
// together, or where nobody says what a kernel moves. A collective of one rank, or of nothing, has
// no kernel of the library's; `groups` tell which those are.
std::vector<CallInterval> find_calls(const KinetoFile& profile, const PytorchEt* et,
                                     const TraceGroups& groups,
                                     const std::map<std::int64_t, std::uint32_t>& by_correlation,
                                     TraceProblems& problems);

}  // namespace weft
