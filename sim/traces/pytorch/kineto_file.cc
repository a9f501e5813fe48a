#include "sim/traces/pytorch/kineto_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "sim/files/json_mistake.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/json_values.h"
#include "sim/traces/pytorch/kernel_grids.h"
#include "sim/traces/pytorch/kernel_work.h"
#include "sim/traces/pytorch/operator_work.h"
#include "sim/traces/recorded_device.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

// The names that PyTorch's profiler uses for element types.
constexpr std::array<std::pair<std::string_view, int>, 12> kSizesOfTypes = {{{"Byte", 1},
                                                                             {"Char", 1},
                                                                             {"Bool", 1},
                                                                             {"Float8_e4m3fn", 1},
                                                                             {"Float8_e5m2", 1},
                                                                             {"Short", 2},
                                                                             {"Half", 2},
                                                                             {"BFloat16", 2},
                                                                             {"Int", 4},
                                                                             {"Float", 4},
                                                                             {"Long", 8},
                                                                             {"Double", 8}}};

constexpr std::string_view kStepName = "ProfilerStep#";

int bytes_of_type(const std::string& word) {
  for (const auto& [name, size] : kSizesOfTypes) {
    if (name == word) return size;
  }
  return 0;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.starts_with(word); });
}

class KinetoReader {
 public:
  KinetoReader(KinetoFile& file, TraceProblems& problems) : file_(file), problems_(problems) {}

  void read(std::string_view text) {
    // Events are processed one by one and discarded: the tree of a large file is never in memory.
    KeptValues kept(problems_.room());
    const auto take = [&](int depth, Json::parse_event_t what, Json& value) {
      kept.add(depth, what);
      if (what != Json::parse_event_t::object_end || depth != 2 || !value.contains("ph")) {
        return true;
      }
      event(value);
      if (problems_.full()) throw JsonTooLarge();
      kept.forget();
      return false;
    };
    try {
      const Json rest = Json::parse(text, take);
      if (member(rest, "traceEvents") == nullptr) {
        return problems_.add(file_.name, "traceEvents", "missing; this is not a Kineto profile");
      }
      header(rest);
      grids_.set(file_.gpu);
    } catch (const JsonTooLarge&) {
      problems_.fits(file_.name, INT64_MAX);
    } catch (const Json::exception&) {
      std::string mistake = text_of(first_json_mistake(text).value_or(JsonMistake{}));
      const std::size_t last = text.find_last_not_of(" \t\r\n");
      if (last != std::string_view::npos && text[last] != '}') {
        mistake += "; the file is not whole: it does not end with }";
      }
      problems_.add(file_.name, "", std::move(mistake));
    }
  }

 private:
  // All GPUs of a node are taken to be like the first.
  void device(const Json& rest) {
    const Json* devices = member(rest, "deviceProperties");
    if (devices == nullptr || !devices->is_array() || devices->empty()) return;
    const std::string name = text_or(member(devices->front(), "name"), "");
    file_.device = recorded_device(name, whole_or(member(devices->front(), "numSms"), 0));
  }

  void header(const Json& rest) {
    device(rest);
    const Json* info = member(rest, "distributedInfo");
    if (info == nullptr) return;
    file_.rank = whole_or(member(*info, "rank"), -1);
    file_.ranks = whole_or(member(*info, "world_size"), -1);
    const Json* groups = member(*info, "pg_config");
    if (groups == nullptr || !groups->is_array()) return;
    for (const Json& group : *groups) {
      add_group(text_or(member(group, "pg_name"), ""), wholes_of(member(group, "ranks")));
    }
  }

  void add_group(const std::string& name, const std::optional<std::vector<std::int64_t>>& ranks) {
    if (name.empty() || !ranks || ranks->empty()) return;
    std::vector<std::uint32_t>& members = file_.groups[name];
    members.clear();
    for (const std::int64_t rank : *ranks) {
      members.push_back(static_cast<std::uint32_t>(std::clamp<std::int64_t>(rank, 0, UINT32_MAX)));
    }
  }

  void event(const Json& value) {
    if (text_or(member(value, "ph"), "") != "X") return;
    const std::string kind = text_or(member(value, "cat"), "");
    const std::string name = text_or(member(value, "name"), "");
    static const Json kNone = Json::object();
    const Json* found = member(value, "args");
    const Json& arguments = found != nullptr ? *found : kNone;
    if (name.starts_with(kStepName) && (kind == "user_annotation" || kind == "cpu_op")) {
      step(value, name);
    } else if (kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset") {
      gpu(value, arguments, kind, name);
    } else if (kind == "cuda_sync") {
      file_.syncs[whole_or(member(arguments, "correlation"), -1)] = {
          .stream = whole_or(member(arguments, "stream"), -1),
          .on_stream = whole_or(member(arguments, "wait_on_stream"), -1)};
    } else if (kind == "cpu_op" && name == "record_param_comms") {
      host(value, arguments, HostEvent::Kind::communicates);
    } else if (kind == "cpu_op" || kind == "Operator") {
      cpu_operator(value, arguments, name);
    } else if (kind == "cuda_runtime" || kind == "cuda_driver" || kind == "hip_runtime" ||
               kind == "hip_driver") {
      host(value, arguments, kind_of_call(name));
    }
  }

  template <class Event>
  bool set_times(const Json& value, const std::string& name, Event& event) {
    const auto start = nanoseconds_of(member(value, "ts"));
    const Json* written = member(value, "dur");
    const auto duration =
        written == nullptr ? std::optional<std::int64_t>(0) : nanoseconds_of(written);
    if (!start || !duration || *duration > trace_limits::kMicroseconds * 1000) {
      problems_.add(file_.name, fmt::format("event '{}': ts, dur", name.substr(0, 60)),
                    "must be microseconds, at most a day");
      return false;
    }
    event.start = *start;
    event.duration = *duration;
    return true;
  }

  // Profiles of ROCm until 2023 have one number for it and for the operator around it.
  static std::int64_t correlation_in(const Json& arguments) {
    return whole_or(member(arguments, "correlation"),
                    whole_or(member(arguments, "External id"), -1));
  }

  void host(const Json& value, const Json& arguments, HostEvent::Kind kind) {
    HostEvent event;
    event.kind = kind;
    event.thread = whole_or(member(value, "tid"), 0);
    event.correlation = correlation_in(arguments);
    if (!problems_.keep(file_.name, kMemoryOfHostCall)) return;
    const std::string name = text_or(member(value, "name"), "");
    if (kind == HostEvent::Kind::runtime) grids_.of_call(name, event.correlation, arguments);
    if (set_times(value, name, event)) add_call(file_, event, name);
  }

  void step(const Json& value, std::string_view name) {
    ProfilerStep made;
    const std::string_view number = name.substr(kStepName.size());
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), made.number);
    if (error != std::errc() || end != number.data() + number.size()) return;
    if (!problems_.keep(file_.name, sizeof(ProfilerStep))) return;
    if (set_times(value, std::string(name), made)) file_.steps.push_back(made);
  }

  void cpu_operator(const Json& value, const Json& arguments, const std::string& name) {
    if (!problems_.keep(file_.name, sizeof(CpuOperator))) return;
    CpuOperator made;
    made.thread = whole_or(member(value, "tid"), 0);
    if (!set_times(value, name, made)) return;
    made.work = work_of_operator(name, inputs_of(arguments));
    file_.operators.push_back(made);
  }

  void gpu(const Json& value, const Json& arguments, const std::string& kind,
           const std::string& name) {
    const auto letters = static_cast<std::int64_t>(name.size());
    if (!problems_.keep(file_.name, kMemoryOfTraceNode + 2 * letters)) return;
    GpuEvent event;
    event.name = name;
    // The same profiles have GPUs as processes, and streams as their threads.
    const bool bare = member(arguments, "correlation") == nullptr;
    event.device =
        whole_or(member(arguments, "device"), bare ? whole_or(member(value, "pid"), -1) : -1);
    event.stream =
        whole_or(member(arguments, "stream"), bare ? whole_or(member(value, "tid"), 0) : 0);
    event.correlation = correlation_in(arguments);
    if (kind == "gpu_memcpy") event.kind = GpuEvent::Kind::copy;
    if (kind == "gpu_memset") event.kind = GpuEvent::Kind::fill;
    if (kind == "kernel" && !set_shape(arguments, event)) return;
    if (kind != "kernel") event.work = work_of_copy(name, whole_or(member(arguments, "bytes"), 0));
    if (member(arguments, "Collective name") != nullptr) event.call = call_of(arguments, name);
    if (set_times(value, name, event)) file_.gpu.push_back(std::move(event));
  }

  bool set_shape(const Json& arguments, GpuEvent& event) {
    if (!grids_.of_kernel(file_.gpu.size(), arguments)) {
      problems_.add(file_.name, fmt::format("kernel '{}': grid, block", event.name.substr(0, 60)),
                    "must be three sizes above 0; a block has at most 1024 threads");
      return false;
    }
    event.registers = static_cast<int>(
        std::clamp<std::int64_t>(whole_or(member(arguments, "registers per thread"), 32), 1, 1024));
    event.shared_bytes = std::clamp<std::int64_t>(whole_or(member(arguments, "shared memory"), 0),
                                                  0, std::int64_t{1} << 20U);
    return true;
  }

  CommCall call_of(const Json& arguments, const std::string& kernel) {
    CommCall call;
    call.label = fmt::format("kernel '{}'", kernel.substr(0, 60));
    call.name = text_or(member(arguments, "Collective name"), "");
    call.group = text_or(member(arguments, "Process Group Name"), "");
    call.elements = whole_or(member(arguments, "In msg nelems"), 0);
    call.element_bytes = bytes_of_type(text_or(member(arguments, "dtype"), ""));
    if (const auto splits = wholes_of(member(arguments, "In split size"))) call.splits = *splits;
    add_group(call.group, wholes_of(member(arguments, "Process Group Ranks")));
    return call;
  }

  KinetoFile& file_;
  TraceProblems& problems_;
  KernelGrids grids_;
};

}  // namespace

namespace {

// Correlations of launches that began when `counts` says so.
template <class Counts>
std::set<std::int64_t> launches(const KinetoFile& file, const Counts& counts) {
  std::set<std::int64_t> found;
  for (const HostEvent& event : file.host) {
    if (event.kind == HostEvent::Kind::runtime && counts(event.start)) {
      found.insert(event.correlation);
    }
  }
  return found;
}

// Of any kernel, whenever it began.
bool launches_are_known(const KinetoFile& file) {
  const auto known = launches(file, [](std::int64_t /*at*/) { return true; });
  return std::any_of(file.gpu.begin(), file.gpu.end(),
                     [&known](const GpuEvent& event) { return known.contains(event.correlation); });
}

// Leaves out the kernels of other launches; returns how many.
std::size_t keep_launched(KinetoFile& file, const std::set<std::int64_t>& by) {
  return std::erase_if(file.gpu,
                       [&by](const GpuEvent& event) { return !by.contains(event.correlation); });
}

}  // namespace

void keep_step(KinetoFile& file, const ProfilerStep& step) {
  const auto inside = [&step](std::int64_t at) {
    return at >= step.start && at <= step.start + step.duration;
  };
  // What was launched before the profile began is of a step before it, though it may run now.
  if (launches_are_known(file)) {
    keep_launched(file, launches(file, inside));
  } else {
    std::erase_if(file.gpu, [&](const GpuEvent& event) { return !inside(event.start); });
  }
  std::erase_if(file.host, [&](const HostEvent& event) { return !inside(event.start); });
}

std::size_t drop_unlaunched(KinetoFile& file) {
  if (!launches_are_known(file)) return 0;
  return keep_launched(file, launches(file, [](std::int64_t /*at*/) { return true; }));
}

HostEvent::Kind kind_of_call(std::string_view name) {
  if (starts_with_any(name, {"cudaStreamWaitEvent", "cuStreamWaitEvent", "hipStreamWaitEvent"})) {
    return HostEvent::Kind::stream_waits;
  }
  if (starts_with_any(name,
                      {"cudaStreamSynchronize", "cuStreamSynchronize", "hipStreamSynchronize",
                       "cudaEventSynchronize", "cuEventSynchronize", "hipEventSynchronize"})) {
    return HostEvent::Kind::waits_stream;
  }
  if (starts_with_any(name,
                      {"cudaDeviceSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize"})) {
    return HostEvent::Kind::waits_device;
  }
  return HostEvent::Kind::runtime;
}

bool waits_for_its_copy(std::string_view name) {
  constexpr std::array<std::string_view, 3> kBlocking = {"hipMemcpyWithStream", "hipMemcpy",
                                                         "cudaMemcpy"};
  const std::string_view plain = name.substr(0, name.find("_v"));  // "cudaMemcpy_v3020"
  return std::find(kBlocking.begin(), kBlocking.end(), plain) != kBlocking.end();
}

void add_call(KinetoFile& file, const HostEvent& event, std::string_view name) {
  file.host.push_back(event);
  if (!waits_for_its_copy(name)) return;
  HostEvent wait = event;
  wait.kind = HostEvent::Kind::waits_stream;
  file.host.push_back(wait);
}

std::optional<RecordedWork> work_of_copy(std::string_view name, std::int64_t size) {
  if (size < 1 || size > trace_limits::kBytes) return std::nullopt;
  RecordedWork work;
  work.kind = RecordedKind::copy;
  if (starts_with_any(name, {"Memcpy DtoD", "Memcpy DtoH"})) work.read = bytes(size);
  if (!name.starts_with("Memcpy DtoH")) work.written = bytes(size);
  return work;
}

bool is_library_collective(std::string_view kernel) {
  constexpr std::string_view kReturns = "void ";  // "void rcclGenericKernel<1, false>(...)"
  if (kernel.starts_with(kReturns)) kernel.remove_prefix(kReturns.size());
  return starts_with_any(kernel, {"ncclKernel", "ncclDevKernel", "rcclKernel", "rcclDevKernel",
                                  "rcclGenericKernel", "mscclKernel"});
}

KinetoFile read_kineto(std::string_view text, const std::string& name, TraceProblems& problems) {
  KinetoFile file;
  file.name = name;
  KinetoReader(file, problems).read(text);
  add_work(file);
  join_counters(file);
  find_beside(file);
  return file;
}

}  // namespace weft
