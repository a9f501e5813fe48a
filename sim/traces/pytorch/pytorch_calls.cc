#include "sim/traces/pytorch/pytorch_calls.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {
namespace {

constexpr const char* kWait = "wait";

// Whether nothing travels: NCCL starts no kernel for such a call, only copies if needed.
bool sends_nothing(const CommCall& call, const TraceGroups& groups) {
  const auto group = groups.by_name.find(call.group);
  const bool alone = group != groups.by_name.end() && groups.ranks[group->second].size() == 1;
  return alone || call.elements == 0;
}

void join(std::vector<CallInterval>& calls, const PytorchEt& et, const KinetoFile& profile,
          const TraceGroups& groups, TraceProblems& problems) {
  if (calls.size() != et.calls.size()) {
    return problems.add(
        et.name, "nodes",
        fmt::format("{} calls of record_param_comms, but the profile {} has {}: both must be from "
                    "the same step, or from steps that do the same",
                    et.calls.size(), profile.name, calls.size()));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CommCall& call = et.calls[i];
    const bool waits = call.name == kWait;
    const bool may_lack_kernel = waits || sends_nothing(call, groups);
    if (calls[i].kernel ? waits : !may_lack_kernel) {
      problems.add(et.name, call.label,
                   fmt::format("'{}', but call {} in the profile {} {} a kernel", call.name, i + 1,
                               profile.name, waits ? "launches" : "does not launch"));
    }
    calls[i].call = call;
  }
}

}  // namespace

bool CallInterval::waits() const { return !kernel && call && call->name == kWait; }

CallIndex::CallIndex(const std::vector<CallInterval>& calls) {
  for (std::uint32_t i = 0; i < calls.size(); ++i) by_thread_[calls[i].thread].push_back(i);
}

std::optional<std::uint32_t> CallIndex::at(const std::vector<CallInterval>& calls,
                                           std::int64_t thread, std::int64_t moment) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return std::nullopt;
  // Calls of a thread do not overlap: it is in the last one that has begun, or in none.
  const auto later =
      std::partition_point(found->second.begin(), found->second.end(),
                           [&](std::uint32_t call) { return calls[call].start <= moment; });
  if (later == found->second.begin() || calls[*(later - 1)].end < moment) return std::nullopt;
  return *(later - 1);
}

std::vector<CallInterval> find_calls(const KinetoFile& profile, const PytorchEt* et,
                                     const TraceGroups& groups,
                                     const std::map<std::int64_t, std::uint32_t>& by_correlation,
                                     TraceProblems& problems) {
  std::vector<CallInterval> calls;
  for (const HostEvent& event : profile.host) {
    if (event.kind != HostEvent::Kind::communicates) continue;
    calls.push_back({.start = event.start,
                     .end = event.start + event.duration,
                     .thread = event.thread,
                     .kernel = {},
                     .call = {}});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallInterval& a, const CallInterval& b) { return a.start < b.start; });
  const CallIndex index(calls);
  for (const HostEvent& event : profile.host) {
    const auto found = by_correlation.find(event.correlation);
    if (event.kind != HostEvent::Kind::runtime || found == by_correlation.end()) continue;
    const GpuEvent& kernel = profile.gpu[found->second];
    if (!is_library_collective(kernel.name)) continue;
    const auto call = index.at(calls, event.thread, event.start);
    if (!call) {
      problems.add(profile.name, fmt::format("kernel '{}'", kernel.name.substr(0, 60)),
                   "launched outside record_param_comms, so it is unknown what it moves");
      continue;
    }
    calls[*call].kernel = found->second;
    if (kernel.call) calls[*call].call = kernel.call;
  }
  if (et != nullptr) join(calls, *et, profile, groups, problems);
  for (const CallInterval& call : calls) {
    if (!call.kernel || call.call) continue;
    problems.add(profile.name,
                 fmt::format("kernel '{}'", profile.gpu[*call.kernel].name.substr(0, 60)),
                 "the profile does not say what it moves; provide the execution traces as well");
  }
  return calls;
}

}  // namespace weft
