#include "sim/traces/rocprof/rocprof_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/plain_text.h"
#include "sim/core/round_up.h"
#include "sim/files/json_mistake.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/nodes/nvtx_operator.h"
#include "sim/traces/rocprof/rocprof_lookup.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

using rocprof::correlation_of;
using rocprof::handle_of;
using rocprof::list_in;

constexpr std::int64_t kMemoryOfCall = 300;  // for itself, and as a step of the host
constexpr std::string_view kGroup = "ncclGroup";

std::string short_text(const std::string& text) { return printable(text.substr(0, 60)); }

// One process of the file.
class ProcessReader {
 public:
  ProcessReader(const Json& process, std::string name, std::int64_t element_bytes,
                TraceProblems& problems)
      : process_(process),
        name_(std::move(name)),
        element_bytes_(element_bytes),
        problems_(problems),
        lookup_(process, name_, problems) {
    made_.events.name = name_;
  }

  NodeProcess read() {
    find_streams();
    for_each("kernel_dispatch", &ProcessReader::kernel);
    for_each("memory_copy", &ProcessReader::copy);
    for (const GpuEvent& event : made_.events.gpu) launched_.insert(event.correlation);
    for_each("hip_api", &ProcessReader::call);
    for_each("rccl_api", &ProcessReader::collective);
    for_each("marker_api", &ProcessReader::range);
    name_collectives();
    return std::move(made_);
  }

 private:
  const Json& records(const char* of) const {
    static const Json kNone = Json::array();
    const Json* all = member(process_, "buffer_records");
    return all != nullptr ? list_in(*all, of) : kNone;
  }

  void for_each(const char* of, void (ProcessReader::*take)(const Json&)) {
    for (const Json& record : records(of)) {
      if (problems_.full()) return;
      (this->*take)(record);
    }
  }

  // Where streams were not recorded they are missing or all 0: queues of the hardware say then
  // which kernels follow one another.
  void find_streams() {
    std::set<std::int64_t> queues;
    for (const Json& record : records("kernel_dispatch")) {
      streams_known_ = streams_known_ || handle_of(record, "stream_id") > 0;
      const Json* info = member(record, "dispatch_info");
      if (info != nullptr) queues.insert(handle_of(*info, "queue_id"));
    }
    for (const Json& record : records("memory_copy")) {
      streams_known_ = streams_known_ || handle_of(record, "stream_id") > 0;
    }
    if (!streams_known_ && queues.size() > 1) {
      made_.note =
          "the hardware's queues are streams, which the profiles do not say, and copies "
          "are on one of their own";
    } else if (!streams_known_ && !records("memory_copy").empty()) {
      made_.note = "copies, whose streams the profiles do not say, are on one of their own";
    }
  }

  template <class Event>
  bool set_times(const Json& record, const std::string& what, Event& event) {
    constexpr std::int64_t kLatest = std::int64_t{1} << 61U;
    const std::int64_t start = whole_or(member(record, "start_timestamp"), -1);
    const std::int64_t end = whole_or(member(record, "end_timestamp"), -1);
    const bool fits = start >= 0 && end >= start && end <= kLatest &&
                      end - start <= trace_limits::kMicroseconds * 1000;
    if (!fits) {
      wrong(what, "start_timestamp, end_timestamp",
            fmt::format("{} to {}; must be nanoseconds, at most a day", start, end));
      return false;
    }
    event.start = start;
    event.duration = end - start;
    return true;
  }

  void wrong(const std::string& what, const char* field, std::string message) {
    problems_.add(name_, fmt::format("'{}': {}", short_text(what), field), std::move(message));
  }

  void keep(const Json& record, GpuEvent event, const rocprof::GpuAgent& gpu) {
    const auto letters = static_cast<std::int64_t>(event.name.size());
    if (!problems_.keep(name_, kMemoryOfTraceNode + 2 * letters)) return;
    event.device = gpu.number;
    made_.events.device = gpu.device;
    event.correlation = correlation_of(record);
    if (event.correlation < 0) return wrong(event.name, "correlation_id", "missing");
    if (set_times(record, event.name, event)) made_.events.gpu.push_back(std::move(event));
  }

  void kernel(const Json& record) {
    static const Json kNone = Json::object();
    const Json* found = member(record, "dispatch_info");
    const Json& info = found != nullptr ? *found : kNone;
    const std::int64_t id = whole_or(member(info, "kernel_id"), -1);
    const rocprof::KernelSymbol* symbol = lookup_.symbol(id);
    if (symbol == nullptr) {
      return wrong("kernel_dispatch", "kernel_id", fmt::format("{} is not in kernel_symbols", id));
    }
    GpuEvent event;
    event.name = symbol->name;
    event.registers = symbol->registers;
    event.stream = streams_known_ ? handle_of(record, "stream_id") : handle_of(info, "queue_id");
    event.shared_bytes = std::clamp<std::int64_t>(whole_or(member(info, "group_segment_size"), 0),
                                                  0, std::int64_t{1} << 20U);
    if (!set_grid(info, event)) {
      return wrong(event.name, "grid_size, workgroup_size",
                   "must be three sizes above 0; a work-group has at most 1024 work-items");
    }
    const std::int64_t agent = handle_of(info, "agent_id");
    const rocprof::GpuAgent* gpu = lookup_.gpu(agent);
    if (gpu == nullptr) {
      return wrong(event.name, "agent_id", fmt::format("{} is no GPU that agents lists", agent));
    }
    keep(record, std::move(event), *gpu);
  }

  // The grid counts work-items; those of the last work-group in a direction may be fewer.
  static bool set_grid(const Json& info, GpuEvent& event) {
    constexpr std::int64_t kMostThreads = 1024;
    std::int64_t wgs = 1;
    std::int64_t threads = 1;
    for (const char* direction : {"x", "y", "z"}) {
      const auto size = [&](const char* key) {
        const Json* of = member(info, key);
        return of != nullptr ? whole_or(member(*of, direction), 0) : 0;
      };
      const std::int64_t wide = size("workgroup_size");
      const std::int64_t items = size("grid_size");
      if (wide < 1 || items < 1 || items > UINT32_MAX || wide > kMostThreads / threads)
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

  // Of the GPU that receives, or else sends; between places of the host none has to do with it.
  void copy(const Json& record) {
    const rocprof::GpuAgent* to = lookup_.gpu(handle_of(record, "dst_agent_id"));
    const rocprof::GpuAgent* from = lookup_.gpu(handle_of(record, "src_agent_id"));
    if (to == nullptr && from == nullptr) return;
    GpuEvent event;
    event.kind = GpuEvent::Kind::copy;
    if (to == nullptr || from == nullptr) {
      event.name = to == nullptr ? "Memcpy DtoH" : "Memcpy HtoD";
    } else {
      event.name = to == from ? "Memcpy DtoD" : "Memcpy PtoP";
    }
    event.work = work_of_copy(event.name, whole_or(member(record, "bytes"), 0));
    event.stream = streams_known_ ? handle_of(record, "stream_id") : -1;
    keep(record, std::move(event), to != nullptr ? *to : *from);
  }

  // Of the many calls only those that launched something or that wait.
  void call(const Json& record) {
    const std::string& operation = lookup_.operation_of(record);
    HostEvent event;
    event.kind = kind_of_call(operation);
    event.thread = whole_or(member(record, "thread_id"), 0);
    event.correlation = correlation_of(record);
    const bool matters =
        event.kind != HostEvent::Kind::runtime || launched_.contains(event.correlation);
    if (!matters || !problems_.keep(name_, kMemoryOfCall)) return;
    if (set_times(record, operation, event)) made_.events.host.push_back(event);
  }

  // Which call it was, but not what it moves: that is not recorded.
  void collective(const Json& record) {
    const std::string& operation = lookup_.operation_of(record);
    if (!operation.starts_with("nccl") || !problems_.keep(name_, kMemoryOfCall)) return;
    CpuOperator found;
    if (!set_times(record, operation, found)) return;
    made_.nccl.push_back({.start = found.start,
                          .end = found.start + found.duration,
                          .thread = whole_or(member(record, "thread_id"), 0),
                          .name = operation.substr(0, 60),
                          .communicator = {}});
  }

  // Ranges that a thread opens and closes; neither marks nor ranges across threads.
  void range(const Json& record) {
    const std::string& operation = lookup_.operation_of(record);
    const bool nests = operation.find("ThreadRange") != std::string::npos ||
                       operation.find("RangePush") != std::string::npos;
    const std::string& text = lookup_.text_of_range(correlation_of(record));
    if (!nests || text.empty()) return;
    const auto step = step_of_range(text);
    if ((!step && !is_operator(text)) || !problems_.keep(name_, kMemoryOfCall)) return;
    CpuOperator found;
    found.thread = whole_or(member(record, "thread_id"), 0);
    if (!set_times(record, text, found)) return;
    if (step) {
      made_.events.steps.push_back(
          {.number = *step, .start = found.start, .duration = found.duration});
      return;
    }
    found.work = work_of_range(text, element_bytes_);
    made_.events.operators.push_back(found);
  }

  using Calls = std::map<std::pair<std::int64_t, std::int64_t>, const NcclRange*>;

  // By thread and start: those that are in no other call.
  Calls outermost_calls() const {
    std::vector<const NcclRange*> sorted;
    sorted.reserve(made_.nccl.size());
    for (const NcclRange& call : made_.nccl) sorted.push_back(&call);
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

  // RCCL has one kernel for all collectives: the call that launched it says which it was, but for
  // groups of calls, which are launched by the call that ends them.
  void name_collectives() {
    std::map<std::int64_t, const HostEvent*> launches;
    for (const HostEvent& event : made_.events.host) launches[event.correlation] = &event;
    const Calls calls = outermost_calls();
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

  const Json& process_;
  std::string name_;
  std::int64_t element_bytes_;
  TraceProblems& problems_;
  rocprof::Lookup lookup_;
  NodeProcess made_;
  bool streams_known_ = false;
  std::set<std::int64_t> launched_;  // correlations of what ran on GPUs
};

}  // namespace

NodeProcesses read_rocprof(std::string_view text, const std::string& name,
                           std::int64_t element_bytes, TraceProblems& problems) {
  NodeProcesses processes;
  // The tree, and as much again of what is kept of it while it is there.
  if (!problems.fits(name, 2 * json_memory(text))) return processes;
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded()) {
    problems.add(name, "", text_of(first_json_mistake(text).value_or(JsonMistake{})));
    return processes;
  }
  constexpr const char* kTool = "rocprofiler-sdk-tool";
  const Json* tool = member(file, kTool);
  if (tool == nullptr || !tool->is_array()) {
    problems.add(name, kTool, "missing; this is no JSON file of rocprofv3");
    return processes;
  }
  for (const Json& process : *tool) {
    if (!process.is_object()) {
      problems.add(name, kTool, "must be a list of objects, one for each process");
      return processes;
    }
    NodeProcess made = ProcessReader(process, name, element_bytes, problems).read();
    if (made.events.gpu.empty()) continue;
    const auto number = static_cast<std::int64_t>(processes.size());
    processes.emplace(number, std::move(made));
  }
  if (processes.empty() && !problems.any()) {
    problems.add(name, "buffer_records.kernel_dispatch",
                 "no kernels: nothing ran on a GPU, or kernels were not traced (--kernel-trace)");
  }
  return processes;
}

}  // namespace weft
