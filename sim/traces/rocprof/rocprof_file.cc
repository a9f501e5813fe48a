#include "sim/traces/rocprof/rocprof_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "sim/files/json_mistake.h"
#include "sim/traces/json_memory.h"
#include "sim/traces/rocprof/rocpd_tables.h"
#include "sim/traces/rocprof/rocprof_lookup.h"
#include "sim/traces/rocprof/rocprof_process.h"
#include "sim/traces/sqlite.h"

namespace weft {
namespace {

using rocprof::correlation_of;
using rocprof::handle_of;
using rocprof::list_in;

const Json& records_of(const Json& process, const char* of) {
  static const Json kNone = Json::array();
  const Json* all = member(process, "buffer_records");
  return all != nullptr ? list_in(*all, of) : kNone;
}

// Where streams were not recorded they are missing or all 0: queues of the hardware say then
// which kernels follow one another.
rocprof::Streams streams_of(const Json& process) {
  rocprof::Streams streams;
  std::set<std::int64_t> queues;
  for (const Json& record : records_of(process, "kernel_dispatch")) {
    streams.known = streams.known || handle_of(record, "stream_id") > 0;
    const Json* info = member(record, "dispatch_info");
    if (info != nullptr) queues.insert(handle_of(*info, "queue_id"));
  }
  for (const Json& record : records_of(process, "memory_copy")) {
    streams.known = streams.known || handle_of(record, "stream_id") > 0;
    streams.copies = true;
  }
  streams.queues = static_cast<std::int64_t>(queues.size());
  return streams;
}

rocprof::Times times_of(const Json& record) {
  return {.start = whole_or(member(record, "start_timestamp"), -1),
          .end = whole_or(member(record, "end_timestamp"), -1)};
}

// Of {"x": .., "y": .., "z": ..}.
std::array<std::int64_t, 3> sizes_in(const Json& info, const char* key) {
  const Json* of = member(info, key);
  if (of == nullptr) return {};
  return {whole_or(member(*of, "x"), 0), whole_or(member(*of, "y"), 0),
          whole_or(member(*of, "z"), 0)};
}

// One process of the file.
class ProcessReader {
 public:
  ProcessReader(const Json& process, const std::string& name, std::int64_t element_bytes,
                TraceProblems& problems)
      : process_(process),
        problems_(problems),
        lookup_(process, name, problems),
        maker_(name, element_bytes, streams_of(process), problems) {}

  NodeProcess read() {
    for_each("kernel_dispatch", &ProcessReader::kernel);
    for_each("memory_copy", &ProcessReader::copy);
    for_each("hip_api", &ProcessReader::call);
    for_each("rccl_api", &ProcessReader::collective);
    for_each("marker_api", &ProcessReader::range);
    return maker_.made();
  }

 private:
  void for_each(const char* of, void (ProcessReader::*take)(const Json&)) {
    for (const Json& record : records_of(process_, of)) {
      if (problems_.full()) return;
      (this->*take)(record);
    }
  }

  void kernel(const Json& record) {
    static const Json kNone = Json::object();
    const Json* found = member(record, "dispatch_info");
    const Json& info = found != nullptr ? *found : kNone;
    const std::int64_t id = whole_or(member(info, "kernel_id"), -1);
    const rocprof::KernelSymbol* symbol = lookup_.symbol(id);
    if (symbol == nullptr) {
      return maker_.wrong("kernel_dispatch", "kernel_id",
                          fmt::format("{} is not in kernel_symbols", id));
    }
    const std::int64_t agent = handle_of(info, "agent_id");
    const rocprof::GpuAgent* gpu = lookup_.gpu(agent);
    if (gpu == nullptr) {
      return maker_.wrong(symbol->name, "agent_id",
                          fmt::format("{} is no GPU that agents lists", agent));
    }
    maker_.add(rocprof::Dispatch{.times = times_of(record),
                                 .correlation = correlation_of(record),
                                 .symbol = *symbol,
                                 .gpu = *gpu,
                                 .stream = handle_of(record, "stream_id"),
                                 .queue = handle_of(info, "queue_id"),
                                 .lds = whole_or(member(info, "group_segment_size"), 0),
                                 .items = sizes_in(info, "grid_size"),
                                 .work_group = sizes_in(info, "workgroup_size")});
  }

  void copy(const Json& record) {
    maker_.add(rocprof::Copy{.times = times_of(record),
                             .correlation = correlation_of(record),
                             .to = lookup_.gpu(handle_of(record, "dst_agent_id")),
                             .from = lookup_.gpu(handle_of(record, "src_agent_id")),
                             .stream = handle_of(record, "stream_id"),
                             .bytes = whole_or(member(record, "bytes"), 0)});
  }

  [[nodiscard]] rocprof::Call call_of(const Json& record) const {
    return {.times = times_of(record),
            .correlation = correlation_of(record),
            .thread = whole_or(member(record, "thread_id"), 0),
            .name = lookup_.operation_of(record)};
  }
  void call(const Json& record) { maker_.add_hip(call_of(record)); }
  void collective(const Json& record) { maker_.add_rccl(call_of(record)); }

  // Ranges that a thread opens and closes; neither marks nor ranges across threads.
  void range(const Json& record) {
    const rocprof::Call call = call_of(record);
    const std::string& text = lookup_.text_of_range(call.correlation);
    if (rocprof::is_range_of_thread(call.name) && !text.empty()) {
      maker_.add_range(call.times, call.thread, text);
    }
  }

  const Json& process_;
  TraceProblems& problems_;
  rocprof::Lookup lookup_;
  rocprof::ProcessMaker maker_;
};

// A protocol buffer's first packet: its field, then its length, and soon bytes that no text has.
bool is_perfetto(std::string_view text) {
  const std::string_view begin = text.substr(0, 64);
  return begin.starts_with('\n') && std::any_of(begin.begin(), begin.end(), [](char c) {
           return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t';
         });
}

NodeProcesses read_json(std::string_view text, const std::string& name, std::int64_t element_bytes,
                        TraceProblems& problems) {
  NodeProcesses processes;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (is_perfetto(text)) {
    problems.add(name, "",
                 "a Perfetto trace: in it rocprofv3 moves the ends of kernels that overlap, and "
                 "counts a grid's work-items without its directions. Give the database that it was "
                 "made from (*_results.db), or record with --output-format rocpd or json");
    return processes;
  }
  if (first == std::string_view::npos || text[first] != '{') {
    problems.add(name, "",
                 "neither a database nor JSON of rocprofv3: record with --output-format rocpd or "
                 "json");
    return processes;
  }
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
  return processes;
}

}  // namespace

NodeProcesses read_rocprof(std::string& bytes, const std::string& name, std::int64_t element_bytes,
                           TraceProblems& problems) {
  const bool tables = SqliteFile::is_one(bytes);
  NodeProcesses processes = tables ? read_rocpd(bytes, name, element_bytes, problems)
                                   : read_json(bytes, name, element_bytes, problems);
  if (processes.empty() && !problems.any()) {
    problems.add(name, tables ? "rocpd_kernel_dispatch" : "buffer_records.kernel_dispatch",
                 "no kernels: nothing ran on a GPU, or kernels were not traced (--kernel-trace)");
  }
  return processes;
}

}  // namespace weft
