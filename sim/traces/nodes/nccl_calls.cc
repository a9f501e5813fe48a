#include "sim/traces/nodes/nccl_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

constexpr std::int64_t kMostRanks = 1 << 17;

// The calls whose kernels a range launches.
struct LaunchingRange {
  std::int64_t end = 0;
  std::vector<NcclRange> calls;
  std::vector<std::uint32_t> kernels;  // in order of launch
};
using ByStart = std::map<std::int64_t, LaunchingRange>;

// Ranges of one thread, sorted by start; of nested ones the outer ones count. A group is launched
// by the call that ends the outermost one.
class GroupWalk {
 public:
  void take(const NcclRange& range, ByStart& launching) {
    if (range.start < taken_until_) return;
    taken_until_ = range.end;
    if (range.name == "ncclGroupStart") {
      if (depth_++ == 0) open_.clear();
    } else if (range.name == "ncclGroupEnd") {
      if (depth_ == 0 || --depth_ > 0) return;
      launching[range.start] = {.end = range.end, .calls = std::move(open_), .kernels = {}};
      open_.clear();
    } else if (depth_ > 0) {
      if (range.bytes >= 0) open_.push_back(range);
    } else if (range.bytes >= 0) {
      launching[range.start] = {.end = range.end, .calls = {range}, .kernels = {}};
    }
  }

 private:
  std::vector<NcclRange> open_;
  int depth_ = 0;
  std::int64_t taken_until_ = INT64_MIN;
};

std::map<std::int64_t, ByStart> launching_ranges(std::vector<NcclRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const NcclRange& a, const NcclRange& b) {
    return std::tuple(a.thread, a.start, -a.end) < std::tuple(b.thread, b.start, -b.end);
  });
  std::map<std::int64_t, ByStart> launching;  // by thread
  std::map<std::int64_t, GroupWalk> walks;
  for (const NcclRange& range : ranges) walks[range.thread].take(range, launching[range.thread]);
  return launching;
}

LaunchingRange* range_at(std::map<std::int64_t, ByStart>& launching, const HostEvent& launch) {
  const auto thread = launching.find(launch.thread);
  if (thread == launching.end()) return nullptr;
  auto later = thread->second.upper_bound(launch.start);
  if (later == thread->second.begin()) return nullptr;
  --later;
  return later->second.end >= launch.start ? &later->second : nullptr;
}

bool is_message(const NcclRange& call) {
  return call.name == "ncclSend" || call.name == "ncclRecv";
}

bool is_peer(std::int64_t rank) { return rank >= 0 && rank < kMostRanks; }

// "ncclReduceScatter" is "reducescatter", as c10d's calls are named without underscores.
std::string word_of_call(std::string_view name) {
  constexpr std::string_view kLibrary = "nccl";
  if (name.starts_with(kLibrary)) name.remove_prefix(kLibrary.size());
  std::string word(name);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

CommCall call_of_range(const NcclRange& range) {
  CommCall call;
  call.label = fmt::format("range '{}'", range.name.substr(0, 60));
  call.name = word_of_call(range.name);
  call.group = range.communicator;
  call.peer = range.peer;
  call.elements = range.bytes;
  call.element_bytes = 1;
  return call;
}

// Sends and receives of one kernel: the first, with the others.
std::optional<CommCall> messages_of(const std::vector<NcclRange>& calls) {
  CommCall first = call_of_range(calls.front());
  for (const NcclRange& one : calls) {
    const bool fits = is_message(one) && one.communicator == calls.front().communicator &&
                      is_peer(one.peer) && one.bytes <= trace_limits::kBytes;
    if (!fits) return std::nullopt;
    if (&one != &calls.front()) first.with.push_back(call_of_range(one));
  }
  return first;
}

bool alike(const std::vector<NcclRange>& calls) {
  return std::all_of(calls.begin(), calls.end(), [&calls](const NcclRange& call) {
    return call.name == calls.front().name && call.communicator == calls.front().communicator;
  });
}

// One kernel for all calls of a group, which are of one kind: as one call of their sum.
CommCall sum_of(const std::vector<NcclRange>& calls) {
  CommCall call = call_of_range(calls.front());
  call.elements = 0;
  for (const NcclRange& one : calls) {
    call.elements += std::min(one.bytes, trace_limits::kBytes);
    call.elements = std::min(call.elements, trace_limits::kBytes + 1);
  }
  return call;
}

// False if it is not clear what each kernel moves.
bool give(const LaunchingRange& range, std::vector<GpuEvent>& events) {
  const std::vector<NcclRange>& calls = range.calls;
  if (range.kernels.size() == calls.size()) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      events[range.kernels[i]].call = call_of_range(calls[i]);
    }
    return true;
  }
  if (range.kernels.size() != 1 || calls.empty()) return false;
  std::optional<CommCall> call = messages_of(calls);
  if (!call && alike(calls) && !is_message(calls.front())) call = sum_of(calls);
  events[range.kernels.front()].call = call;
  return call.has_value();
}

// Why give() could not.
std::string obstacle(const LaunchingRange& range) {
  for (std::size_t i = 0; i < range.calls.size(); ++i) {
    const NcclRange& call = range.calls[i];
    if (!is_message(call)) continue;
    if (!is_peer(call.peer)) {
      return fmt::format("call {} of the group, {}, is with rank {}; must be 0 to {}", i + 1,
                         call.name, call.peer, kMostRanks - 1);
    }
    if (call.bytes > trace_limits::kBytes) {
      return fmt::format("call {} of the group, {}, moves {} B; at most {}", i + 1, call.name,
                         call.bytes, trace_limits::kBytes);
    }
  }
  return fmt::format(
      "{} kernels for a group of {} calls, the first of which is {}: weft reads groups of messages "
      "within one communicator, or of one kind of collective",
      range.kernels.size(), range.calls.size(), range.calls[0].name);
}

}  // namespace

void add_nccl_calls(KinetoFile& process, std::vector<NcclRange> ranges, TraceProblems& problems) {
  auto launching = launching_ranges(std::move(ranges));
  std::map<std::int64_t, std::uint32_t> kernels;  // by correlation
  for (std::uint32_t i = 0; i < process.gpu.size(); ++i) {
    if (is_library_collective(process.gpu[i].name)) kernels[process.gpu[i].correlation] = i;
  }
  std::vector<HostEvent> launches;
  for (const HostEvent& event : process.host) {
    if (event.kind == HostEvent::Kind::runtime && kernels.contains(event.correlation)) {
      launches.push_back(event);
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const HostEvent& a, const HostEvent& b) { return a.start < b.start; });
  for (HostEvent& launch : launches) {
    const std::uint32_t kernel = kernels.at(launch.correlation);
    if (LaunchingRange* range = range_at(launching, launch)) range->kernels.push_back(kernel);
    launch.kind = HostEvent::Kind::communicates;
    process.host.push_back(launch);
  }
  for (const auto& [thread, by_start] : launching) {
    for (const auto& [start, range] : by_start) {
      if (range.kernels.empty() || range.calls.empty() || give(range, process.gpu)) continue;
      problems.add(
          process.name,
          fmt::format("kernel '{}'", process.gpu[range.kernels.front()].name.substr(0, 60)),
          obstacle(range));
    }
  }
}

}  // namespace weft
