#include "sim/traces/rocprof/rocprof_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/plain_text.h"
#include "sim/core/round_up.h"
#include "sim/files/json_mistake.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/json_values.h"
#include "sim/traces/nodes/nvtx_operator.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

constexpr std::int64_t kMemoryOfCall = 300;        // for itself, and as a step of the host
constexpr const char* kGroupEnd = "ncclGroupEnd";  // launches what several calls asked for

struct KernelSymbol {
  std::string name;
  std::int64_t registers = 32;
};

struct GpuAgent {
  std::int64_t number = 0;  // among the GPUs of the node
  RecordedDevice device;
};

const Json& list_in(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const Json* found = member(object, key);
  return found != nullptr && found->is_array() ? *found : kNone;
}

std::int64_t handle_of(const Json& object, const char* key) {
  const Json* id = member(object, key);
  return id != nullptr ? whole_or(member(*id, "handle"), -1) : -1;
}

std::int64_t correlation_of(const Json& record) {
  const Json* id = member(record, "correlation_id");
  return id != nullptr ? whole_or(member(*id, "internal"), -1) : -1;
}

// Without its parameters and what compilers append: "Cijk_...", "ncclDevKernel_Generic_4".
std::string name_of_symbol(const Json& symbol) {
  std::string name;
  for (const char* key : {"demangled_kernel_name", "formatted_kernel_name", "kernel_name"}) {
    name = text_or(member(symbol, key), "");
    if (!name.empty()) break;
  }
  constexpr std::string_view kDescriptor = ".kd";
  if (name.ends_with(kDescriptor)) name.resize(name.size() - kDescriptor.size());
  return name;
}

// "MEMORY_COPY_HOST_TO_DEVICE", as torch.profiler has it.
std::string name_of_copy(std::string_view operation) {
  if (operation.ends_with("HOST_TO_DEVICE")) return "Memcpy HtoD";
  if (operation.ends_with("DEVICE_TO_HOST")) return "Memcpy DtoH";
  if (operation.ends_with("DEVICE_TO_DEVICE")) return "Memcpy DtoD";
  return "Memcpy";
}

// One process of the file.
class ProcessReader {
 public:
  ProcessReader(const Json& process, std::string name, std::int64_t element_bytes,
                TraceProblems& problems)
      : process_(process),
        name_(std::move(name)),
        element_bytes_(element_bytes),
        problems_(problems) {
    made_.events.name = name_;
  }

  NodeProcess read() {
    static const Json kNone = Json::object();
    const Json* records = member(process_, "buffer_records");
    const Json& all = records != nullptr ? *records : kNone;
    read_agents();
    read_symbols();
    for (const Json& record : list_in(all, "kernel_dispatch")) kernel(record);
    for (const Json& record : list_in(all, "memory_copy")) copy(record);
    for (const Json& record : list_in(all, "hip_api")) call(record);
    for (const Json& record : list_in(all, "rccl_api")) collective(record);
    for (const Json& record : list_in(all, "marker_api")) range(record);
    name_collectives();
    return std::move(made_);
  }

 private:
  void read_agents() {
    constexpr int kGpu = 2;
    std::vector<std::pair<std::int64_t, const Json*>> gpus;  // by node
    for (const Json& agent : list_in(process_, "agents")) {
      if (whole_or(member(agent, "type"), 0) != kGpu) continue;
      gpus.emplace_back(whole_or(member(agent, "node_id"), 0), &agent);
    }
    std::stable_sort(gpus.begin(), gpus.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [node, agent] : gpus) {
      constexpr std::size_t kMostOfName = 100;
      std::string name = text_or(member(*agent, "product_name"), "");
      if (name.empty()) name = text_or(member(*agent, "name"), "");
      const auto number = static_cast<std::int64_t>(agents_.size());
      agents_[handle_of(*agent, "id")] = {
          .number = number,
          .device = {.name = printable(name.substr(0, kMostOfName)),
                     .cus = whole_or(member(*agent, "cu_count"), 0)}};
    }
  }

  void read_symbols() {
    for (const Json& symbol : list_in(process_, "kernel_symbols")) {
      const auto id = whole_of(member(symbol, "kernel_id"));
      if (!id) continue;
      symbols_[*id] = {.name = name_of_symbol(symbol),
                       .registers = whole_or(member(symbol, "arch_vgpr_count"), 32) +
                                    whole_or(member(symbol, "accum_vgpr_count"), 0)};
    }
  }

  // "hipLaunchKernel", "ncclAllReduce": numbered in `strings`.
  std::string operation_of(const Json& record) {
    const Json* strings = member(process_, "strings");
    if (strings == nullptr) return "";
    const Json& kinds = list_in(*strings, "buffer_records");
    const std::int64_t kind = whole_or(member(record, "kind"), -1);
    if (kind < 0 || kind >= static_cast<std::int64_t>(kinds.size())) return "";
    const Json& operations = list_in(kinds[static_cast<std::size_t>(kind)], "operations");
    const std::int64_t operation = whole_or(member(record, "operation"), -1);
    if (operation < 0 || operation >= static_cast<std::int64_t>(operations.size())) return "";
    return text_or(&operations[static_cast<std::size_t>(operation)], "");
  }

  template <class Event>
  bool set_times(const Json& record, const std::string& what, Event& event) {
    constexpr std::int64_t kLatest = std::int64_t{1} << 61U;
    const std::int64_t start = whole_or(member(record, "start_timestamp"), -1);
    const std::int64_t end = whole_or(member(record, "end_timestamp"), -1);
    const bool fits = start >= 0 && end >= start && end <= kLatest &&
                      end - start <= trace_limits::kMicroseconds * 1000;
    if (!fits) {
      problems_.add(name_, fmt::format("{}: start_timestamp, end_timestamp", what),
                    fmt::format("{} to {}; must be nanoseconds, at most a day", start, end));
      return false;
    }
    event.start = start;
    event.duration = end - start;
    return true;
  }

  // False, and a problem, if the agent is no GPU of the file's.
  bool set_device(std::int64_t agent, const std::string& what, GpuEvent& event) {
    const auto found = agents_.find(agent);
    if (found == agents_.end()) {
      problems_.add(name_, fmt::format("{}: agent_id", what),
                    fmt::format("{} is no GPU that agents lists", agent));
      return false;
    }
    event.device = found->second.number;
    made_.events.device = found->second.device;
    return true;
  }

  void keep(const Json& record, const std::string& what, GpuEvent event) {
    const auto letters = static_cast<std::int64_t>(event.name.size());
    if (!problems_.keep(name_, kMemoryOfTraceNode + 2 * letters)) return;
    event.correlation = correlation_of(record);
    if (set_times(record, what, event)) made_.events.gpu.push_back(std::move(event));
  }

  // Newer versions know the stream, older ones the queue of the hardware.
  void kernel(const Json& record) {
    static const Json kNone = Json::object();
    const Json* found = member(record, "dispatch_info");
    const Json& info = found != nullptr ? *found : kNone;
    const auto symbol = symbols_.find(whole_or(member(info, "kernel_id"), -1));
    const std::string name = symbol != symbols_.end() ? symbol->second.name : "";
    const std::string what = fmt::format("kernel '{}'", name.substr(0, 60));
    GpuEvent event;
    event.name = name;
    if (symbol != symbols_.end()) {
      event.registers = static_cast<int>(
          std::clamp<std::int64_t>(symbol->second.registers, 1, std::int64_t{1024}));
    }
    const std::int64_t stream = handle_of(record, "stream_id");
    event.stream = stream >= 0 ? stream : handle_of(info, "queue_id");
    event.shared_bytes = std::clamp<std::int64_t>(whole_or(member(info, "group_segment_size"), 0),
                                                  0, std::int64_t{1} << 20U);
    if (!set_grid(info, event)) {
      problems_.add(name_, fmt::format("{}: grid_size, workgroup_size", what),
                    "must be three sizes above 0; a work-group has at most 1024 work-items");
      return;
    }
    if (set_device(handle_of(info, "agent_id"), what, event)) keep(record, what, std::move(event));
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
      if (wide < 1 || items < 1 || wide > kMostThreads / threads) return false;
      threads *= wide;
      const std::int64_t here = round_up(items, wide);
      if (here > trace_limits::kWgs / wgs) return false;
      wgs *= here;
    }
    event.wgs = wgs;
    event.threads = static_cast<int>(threads);
    return true;
  }

  // Of the GPU that receives, or else sends.
  void copy(const Json& record) {
    GpuEvent event;
    event.kind = GpuEvent::Kind::copy;
    event.name = name_of_copy(operation_of(record));
    event.work = work_of_copy(event.name, whole_or(member(record, "bytes"), 0));
    event.stream = handle_of(record, "stream_id");
    if (event.stream < 0) {
      made_.note = "copies, whose streams the profiles do not say, are on one of their own";
    }
    const std::int64_t to = handle_of(record, "dst_agent_id");
    const std::int64_t agent = agents_.contains(to) ? to : handle_of(record, "src_agent_id");
    const std::string what = fmt::format("copy '{}'", event.name);
    if (set_device(agent, what, event)) keep(record, what, std::move(event));
  }

  // Of the many calls only those that launched something or that wait.
  void call(const Json& record) {
    if (launched_.empty()) {
      for (const GpuEvent& event : made_.events.gpu) launched_.insert(event.correlation);
    }
    HostEvent event;
    const std::string operation = operation_of(record);
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
    CpuOperator found;
    const std::string operation = operation_of(record);
    if (!operation.starts_with("nccl") || !problems_.keep(name_, kMemoryOfCall)) return;
    if (!set_times(record, operation, found)) return;
    made_.nccl.push_back({.start = found.start,
                          .end = found.start + found.duration,
                          .thread = whole_or(member(record, "thread_id"), 0),
                          .name = operation,
                          .communicator = {}});
  }

  // The text of a range is found by its correlation.
  std::string text_of_marker(const Json& record) {
    if (markers_.empty()) {
      const Json* strings = member(process_, "strings");
      if (strings == nullptr) return "";
      for (const Json& marker : list_in(*strings, "marker_api")) {
        markers_[whole_or(member(marker, "key"), -1)] = text_or(member(marker, "value"), "");
      }
    }
    const auto found = markers_.find(correlation_of(record));
    return found != markers_.end() ? found->second : "";
  }

  void range(const Json& record) {
    const std::string text = text_of_marker(record);
    const auto step = step_of_range(text);
    if ((!step && !is_operator(text)) || !problems_.keep(name_, kMemoryOfCall)) return;
    CpuOperator found;
    found.thread = whole_or(member(record, "thread_id"), 0);
    if (!set_times(record, "marker", found)) return;
    if (step) {
      made_.events.steps.push_back(
          {.number = *step, .start = found.start, .duration = found.duration});
      return;
    }
    found.work = work_of_range(text, element_bytes_);
    made_.events.operators.push_back(found);
  }

  // RCCL has one kernel for all collectives: the call that launched it says which it was.
  void name_collectives() {
    std::map<std::int64_t, const HostEvent*> launches;
    for (const HostEvent& event : made_.events.host) launches[event.correlation] = &event;
    std::map<std::pair<std::int64_t, std::int64_t>, const NcclRange*> calls;  // by thread, start
    for (const NcclRange& call : made_.nccl) calls[{call.thread, call.start}] = &call;
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
      if (around && last.name != kGroupEnd) event.name += fmt::format(" of {}", last.name);
    }
  }

  const Json& process_;
  std::string name_;
  std::int64_t element_bytes_;
  TraceProblems& problems_;
  NodeProcess made_;
  std::map<std::int64_t, GpuAgent> agents_;       // by handle
  std::map<std::int64_t, KernelSymbol> symbols_;  // by id
  std::map<std::int64_t, std::string> markers_;   // by correlation
  std::set<std::int64_t> launched_;               // correlations of what ran on GPUs
};

}  // namespace

NodeProcesses read_rocprof(std::string_view text, const std::string& name,
                           std::int64_t element_bytes, TraceProblems& problems) {
  NodeProcesses processes;
  if (!problems.fits(name, json_memory(text))) return processes;
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
    const auto number = static_cast<std::int64_t>(processes.size());
    processes[number] = ProcessReader(process, name, element_bytes, problems).read();
  }
  const bool any = std::any_of(processes.begin(), processes.end(),
                               [](const auto& one) { return !one.second.events.gpu.empty(); });
  if (!any && !problems.any()) {
    problems.add(name, "buffer_records.kernel_dispatch",
                 "no kernels: nothing ran on a GPU, or kernels were not traced (--kernel-trace)");
  }
  return processes;
}

}  // namespace weft
