#include "sim/traces/rocprof/rocprof_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/plain_text.h"
#include "sim/core/round_up.h"
#include "sim/traces/nodes/nvtx_operator.h"
#include "sim/traces/trace_limits.h"

namespace weft::rocprof {
namespace {

constexpr std::string_view kGroup = "ncclGroup";

std::string short_text(std::string_view text) { return printable(std::string(text.substr(0, 60))); }

// Those of the last work-group in a direction may be fewer.
bool set_grid(const Dispatch& dispatch, GpuEvent& event) {
  constexpr std::int64_t kMostThreadsOfWg = 1024;
  std::int64_t wgs = 1;
  std::int64_t threads = 1;
  for (std::size_t i = 0; i < dispatch.items.size(); ++i) {
    const std::int64_t wide = dispatch.work_group[i];
    const std::int64_t items = dispatch.items[i];
    if (wide < 1 || items < 1 || items > UINT32_MAX || wide > kMostThreadsOfWg / threads)
      return false;
    threads *= wide;
    const std::int64_t here = round_up(items, wide);
    if (here > trace_limits::kWgs / wgs) return false;
    wgs *= here;
  }
  event.wgs = wgs;
  event.threads = static_cast<int>(threads);
  return true;
}

using Calls = std::map<std::pair<std::int64_t, std::int64_t>, const NcclRange*>;

// By thread and start: those that are in no other call.
Calls outermost(const std::vector<NcclRange>& all) {
  std::vector<const NcclRange*> sorted;
  sorted.reserve(all.size());
  for (const NcclRange& call : all) sorted.push_back(&call);
  std::stable_sort(sorted.begin(), sorted.end(), [](const NcclRange* a, const NcclRange* b) {
    return std::tuple(a->thread, a->start, -a->end) < std::tuple(b->thread, b->start, -b->end);
  });
  Calls calls;
  for (const NcclRange* call : sorted) {
    const bool inside = !calls.empty() && calls.rbegin()->second->thread == call->thread &&
                        call->start < calls.rbegin()->second->end;
    if (!inside) calls[{call->thread, call->start}] = call;
  }
  return calls;
}

std::string note_of(const Streams& streams) {
  if (streams.known) return {};
  if (streams.queues > 1) {
    return "the hardware's queues are streams, which the profiles do not say, and copies are on "
           "one of their own";
  }
  return streams.copies ? "copies, whose streams the profiles do not say, are on one of their own"
                        : "";
}

}  // namespace

std::string name_of_descriptor(std::string_view name) {
  for (const std::string_view ending :
       {std::string_view(" [clone .kd]"), std::string_view(".kd")}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::string(name);
}

int registers_of(std::int64_t architected, std::int64_t accumulating) {
  constexpr std::int64_t kUsual = 32;
  constexpr std::int64_t kMost = 1024;
  const std::int64_t all = (architected < 0 ? kUsual : std::min(architected, kMost)) +
                           std::clamp<std::int64_t>(accumulating, 0, kMost);
  return static_cast<int>(std::clamp<std::int64_t>(all, 1, kMost));
}

bool is_range_of_thread(std::string_view call) {
  return call.find("ThreadRange") != std::string_view::npos ||
         call.find("RangePush") != std::string_view::npos;
}

GpuAgent gpu_agent(std::string_view name, std::int64_t cus) {
  return {.number = 0, .device = recorded_device(name, cus)};
}

ProcessMaker::ProcessMaker(std::string file, std::int64_t element_bytes, const Streams& streams,
                           TraceProblems& problems)
    : file_(std::move(file)),
      element_bytes_(element_bytes),
      streams_known_(streams.known),
      problems_(problems) {
  made_.events.name = file_;
  made_.note = note_of(streams);
}

void ProcessMaker::wrong(std::string_view what, const char* field, std::string message) {
  problems_.add(file_, fmt::format("'{}': {}", short_text(what), field), std::move(message));
}

template <class Event>
bool ProcessMaker::set_times(const Times& times, std::string_view what, Event& event) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 61U;
  const bool fits = times.start >= 0 && times.end >= times.start && times.end <= kLatest &&
                    times.end - times.start <= trace_limits::kMicroseconds * 1000;
  if (!fits) {
    wrong(what, "start_timestamp, end_timestamp",
          fmt::format("{} to {}; must be nanoseconds, at most a day", times.start, times.end));
    return false;
  }
  event.start = times.start;
  event.duration = times.end - times.start;
  return true;
}

void ProcessMaker::keep(GpuEvent event, const Times& times, const GpuAgent& gpu) {
  const auto letters = static_cast<std::int64_t>(event.name.size());
  if (!problems_.keep(file_, kMemoryOfTraceNode + 2 * letters)) return;
  event.device = gpu.number;
  made_.events.device = gpu.device;
  if (event.correlation < 0) return wrong(event.name, "correlation_id", "missing");
  if (!set_times(times, event.name, event)) return;
  launched_.insert(event.correlation);
  made_.events.gpu.push_back(std::move(event));
}

void ProcessMaker::add(const Dispatch& dispatch) {
  GpuEvent event;
  event.name = dispatch.symbol.name;
  event.registers = dispatch.symbol.registers;
  event.stream = streams_known_ ? dispatch.stream : dispatch.queue;
  event.shared_bytes = std::clamp<std::int64_t>(dispatch.lds, 0, std::int64_t{1} << 20U);
  event.correlation = dispatch.correlation;
  if (!set_grid(dispatch, event)) {
    return wrong(event.name, "grid_size, workgroup_size",
                 "must be three sizes above 0; a work-group has at most 1024 work-items");
  }
  keep(std::move(event), dispatch.times, dispatch.gpu);
}

// Of the GPU that receives, or else sends; between places of the host none has to do with it.
void ProcessMaker::add(const Copy& copy) {
  if (copy.to == nullptr && copy.from == nullptr) return;
  GpuEvent event;
  event.kind = GpuEvent::Kind::copy;
  if (copy.to == nullptr || copy.from == nullptr) {
    event.name = copy.to == nullptr ? "Memcpy DtoH" : "Memcpy HtoD";
  } else {
    event.name = copy.to == copy.from ? "Memcpy DtoD" : "Memcpy PtoP";
  }
  event.work = work_of_copy(event.name, copy.bytes);
  event.stream = streams_known_ ? copy.stream : -1;
  event.correlation = copy.correlation;
  keep(std::move(event), copy.times, copy.to != nullptr ? *copy.to : *copy.from);
}

// Of the many calls only those that launched something or that wait.
void ProcessMaker::add_hip(const Call& call) {
  HostEvent event;
  event.kind = kind_of_call(call.name);
  event.thread = call.thread;
  event.correlation = call.correlation;
  const bool matters = event.kind != HostEvent::Kind::runtime ||
                       launched_.contains(event.correlation) || waits_for_its_copy(call.name);
  if (!matters || !problems_.keep(file_, kMemoryOfHostCall)) return;
  if (set_times(call.times, call.name, event)) add_call(made_.events, event, call.name);
}

// Which call it was, but not what it moves: that is not recorded.
void ProcessMaker::add_rccl(const Call& call) {
  if (!call.name.starts_with("nccl") || !problems_.keep(file_, kMemoryOfHostCall)) return;
  CpuOperator found;
  if (!set_times(call.times, call.name, found)) return;
  made_.nccl.push_back({.start = found.start,
                        .end = found.start + found.duration,
                        .thread = call.thread,
                        .name = std::string(call.name.substr(0, 60)),
                        .communicator = {}});
}

void ProcessMaker::add_range(const Times& times, std::int64_t thread, std::string_view text) {
  const auto step = step_of_range(text);
  if ((!step && !is_operator(text)) || !problems_.keep(file_, kMemoryOfHostCall)) return;
  CpuOperator found;
  found.thread = thread;
  if (!set_times(times, text, found)) return;
  if (step) {
    made_.events.steps.push_back(
        {.number = *step, .start = found.start, .duration = found.duration});
    return;
  }
  found.work = work_of_range(text, element_bytes_);
  made_.events.operators.push_back(found);
}

// RCCL has one kernel for all collectives: the call that launched it says which it was, but for
// groups of calls, which are launched by the call that ends them.
void ProcessMaker::name_collectives() {
  std::map<std::int64_t, const HostEvent*> launches;
  for (const HostEvent& event : made_.events.host) {
    if (event.kind == HostEvent::Kind::runtime) launches[event.correlation] = &event;
  }
  const Calls calls = outermost(made_.nccl);
  for (GpuEvent& event : made_.events.gpu) {
    if (!is_library_collective(event.name)) continue;
    event.name.resize(std::min(event.name.size(), event.name.find('(')));
    const auto launch = launches.find(event.correlation);
    if (launch == launches.end()) continue;
    const HostEvent& host = *launch->second;
    auto call = calls.upper_bound({host.thread, host.start});
    if (call == calls.begin()) continue;
    const NcclRange& last = *(--call)->second;
    const bool around = last.thread == host.thread && last.end >= host.start;
    if (around && !last.name.starts_with(kGroup)) event.name += fmt::format(" of {}", last.name);
  }
}

NodeProcess ProcessMaker::made() {
  name_collectives();
  return std::move(made_);
}

}  // namespace weft::rocprof
