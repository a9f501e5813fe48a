#include "sim/traces/nsys/nsys_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "sim/traces/nodes/nvtx_operator.h"
#include "sim/traces/nsys/nvtx_payload.h"
#include "sim/traces/pytorch/kernel_work.h"
#include "sim/traces/recorded_device.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr const char* kEvents = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kGpus = "TARGET_INFO_GPU";

// A thread's id holds its process in all but the lowest 24 bits.
std::int64_t process_of(std::int64_t thread) {
  constexpr std::uint64_t kThread = (1U << 24U) - 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(thread) & ~kThread);
}

// ENUM_CUDA_MEMCPY_OPER, as far as GPUs are concerned.
std::string_view name_of_copy(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "Memcpy HtoD";
    case 2:
      return "Memcpy DtoH";
    case 8:
      return "Memcpy DtoD";
    case 10:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

// "ncclAllReduce", but not "nccl:all_reduce", which is PyTorch's range around it.
bool is_call_of_nccl(std::string_view range) {
  constexpr std::string_view kLibrary = "nccl";
  return range.size() > kLibrary.size() && range.starts_with(kLibrary) &&
         range[kLibrary.size()] >= 'A' && range[kLibrary.size()] <= 'Z';
}

class TableReader {
 public:
  TableReader(SqliteFile& file, std::string name, std::int64_t element_bytes,
              TraceProblems& problems)
      : file_(file),
        name_(std::move(name)),
        element_bytes_(element_bytes),
        problems_(problems),
        payloads_(file) {}

  NodeProcesses read() {
    if (!file_.problem().empty()) return broken();
    if (!has(kKernels, {"start", "end", "deviceId", "streamId", "correlationId", "demangledName",
                        "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"})) {
      return {};
    }
    refuse_graphs_as_wholes();
    read_kernels();
    if (file_.has_table(kCopies)) read_copies(kCopies, "t.copyKind", GpuEvent::Kind::copy);
    if (file_.has_table(kFills)) read_copies(kFills, "-1", GpuEvent::Kind::fill);
    if (file_.has_table(kCalls)) read_calls();
    if (file_.has_table(kSyncs)) read_syncs();
    if (file_.has_table(kRanges)) read_ranges();
    if (file_.has_table(kGpus)) read_gpu();
    return file_.problem().empty() ? std::move(processes_) : broken();
  }

 private:
  NodeProcesses broken() {
    problems_.add(name_, "", file_.problem());
    return {};
  }

  bool has(const char* table, std::initializer_list<const char*> columns) {
    if (!file_.has_table(table)) {
      problems_.add(name_, table,
                    "no such table: nothing ran on a GPU, or CUDA was not traced (-t cuda,nvtx)");
      return false;
    }
    for (const char* column : columns) {
      if (!file_.has_column(table, column))
        problems_.add(name_, table, fmt::format("has no column {}", column));
    }
    return !problems_.any();
  }

  // The column, or where older versions lack it, what to take instead.
  std::string column(const char* table, const char* column, const char* instead) {
    return file_.has_column(table, column) ? fmt::format("t.\"{}\"", column) : instead;
  }

  void refuse_graphs_as_wholes() {
    if (!file_.has_table(kGraphs)) return;
    SqliteRows rows(file_, fmt::format("SELECT count(*) FROM {}", kGraphs));
    if (!rows.next() || rows.whole(0) == 0) return;
    problems_.add(name_, kGraphs,
                  fmt::format("{} launches of CUDA graphs were recorded without their kernels; "
                              "record with --cuda-graph-trace=node",
                              rows.whole(0)));
  }

  template <class Event>
  bool set_times(std::int64_t start, std::int64_t end, const char* table, Event& event) {
    constexpr std::int64_t kLatest = std::int64_t{1} << 61U;
    const bool fits = start >= 0 && end >= start && end <= kLatest &&
                      end - start <= trace_limits::kMicroseconds * 1000;
    if (!fits) {
      problems_.add(name_, fmt::format("{}: start, end", table),
                    fmt::format("{} to {}; must be nanoseconds, at most a day", start, end));
      return false;
    }
    event.start = start;
    event.duration = end - start;
    return true;
  }

  KinetoFile& events_of(std::int64_t process) {
    KinetoFile& events = processes_[process].events;
    events.name = name_;
    return events;
  }

  void keep(GpuEvent event, std::int64_t process, std::int64_t start, std::int64_t end,
            const char* table) {
    const auto letters = static_cast<std::int64_t>(event.name.size());
    if (!problems_.keep(name_, kMemoryOfTraceNode + 2 * letters)) return;
    if (set_times(start, end, table, event)) events_of(process).gpu.push_back(std::move(event));
  }

  void read_kernels() {
    SqliteRows rows(
        file_,
        fmt::format(
            "SELECT t.start, t.\"end\", t.deviceId, t.streamId, t.correlationId, {}, s.value, "
            "t.gridX, t.gridY, t.gridZ, t.blockX, t.blockY, t.blockZ, {}, {} + {} "
            "FROM {} t LEFT JOIN StringIds s ON s.id = t.demangledName",
            column(kKernels, "globalPid", "0"), column(kKernels, "registersPerThread", "32"),
            column(kKernels, "staticSharedMemory", "0"),
            column(kKernels, "dynamicSharedMemory", "0"), kKernels));
    while (!problems_.full() && rows.next()) {
      GpuEvent event;
      event.name = rows.text(6);
      event.device = rows.whole(2);
      event.stream = rows.whole(3);
      event.correlation = rows.whole(4);
      constexpr int kGrid = 7;
      constexpr int kBlock = 10;
      const auto wgs = product_of(rows, kGrid, trace_limits::kWgs);
      const auto threads = product_of(rows, kBlock, 1024);
      if (!wgs || !threads) {
        problems_.add(name_, fmt::format("kernel '{}': grid, block", event.name.substr(0, 60)),
                      "must be three sizes above 0; a block has at most 1024 threads");
        continue;
      }
      event.wgs = *wgs;
      event.threads = static_cast<int>(*threads);
      event.registers = static_cast<int>(std::clamp<std::int64_t>(rows.whole(13, 32), 1, 1024));
      event.shared_bytes = std::clamp<std::int64_t>(rows.whole(14, 0), 0, std::int64_t{1} << 20U);
      keep(std::move(event), rows.whole(5), rows.whole(0), rows.whole(1), kKernels);
    }
  }

  // Of three columns.
  static std::optional<std::int64_t> product_of(const SqliteRows& rows, int first,
                                                std::int64_t most) {
    std::int64_t product = 1;
    for (int i = first; i < first + 3; ++i) {
      const std::int64_t size = rows.whole(i);
      if (size < 1 || size > most / product) return std::nullopt;
      product *= size;
    }
    return product;
  }

  void read_copies(const char* table, const char* kind_of_copy, GpuEvent::Kind kind) {
    SqliteRows rows(file_, fmt::format("SELECT t.start, t.\"end\", t.deviceId, t.streamId, "
                                       "t.correlationId, {}, t.bytes, {} FROM {} t",
                                       column(table, "globalPid", "0"), kind_of_copy, table));
    while (!problems_.full() && rows.next()) {
      GpuEvent event;
      event.kind = kind;
      event.name = kind == GpuEvent::Kind::copy ? name_of_copy(rows.whole(7)) : "Memset";
      event.device = rows.whole(2);
      event.stream = rows.whole(3);
      event.correlation = rows.whole(4);
      event.work = work_of_copy(event.name, rows.whole(6));
      keep(std::move(event), rows.whole(5), rows.whole(0), rows.whole(1), table);
    }
  }

  // Of the many calls only those that launched something or that wait.
  void read_calls() {
    std::map<std::int64_t, std::set<std::int64_t>> launched;  // correlations, by process
    for (const auto& [process, of] : processes_) {
      for (const GpuEvent& event : of.events.gpu) launched[process].insert(event.correlation);
    }
    SqliteRows rows(file_,
                    fmt::format("SELECT t.start, t.\"end\", t.globalTid, t.correlationId, s.value "
                                "FROM {} t LEFT JOIN StringIds s ON s.id = t.nameId",
                                kCalls));
    while (!problems_.full() && rows.next()) {
      HostEvent event;
      event.thread = rows.whole(2);
      event.correlation = rows.whole(3);
      const std::string_view name = rows.text(4);
      event.kind = kind_of_call(name);
      const std::int64_t process = process_here(event.thread);
      const bool matters = event.kind != HostEvent::Kind::runtime ||
                           launched[process].contains(event.correlation) ||
                           waits_for_its_copy(name);
      if (!matters || !problems_.keep(name_, kMemoryOfHostCall)) continue;
      if (set_times(rows.whole(0), rows.whole(1), kCalls, event)) {
        add_call(events_of(process), event, name);
      }
    }
  }

  // Old versions do not say whose kernels are: there is one process then, 0.
  std::int64_t process_here(std::int64_t thread) const {
    const bool one = processes_.size() == 1 && processes_.begin()->first == 0;
    return one ? 0 : process_of(thread);
  }

  // The stream that a wait is of; with events recorded (--cuda-event-trace), also on which stream.
  void read_syncs() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> recorded_on;  // process, id
    const bool linked = file_.has_table(kEvents) && file_.has_column(kEvents, "eventSyncId") &&
                        file_.has_column(kSyncs, "eventSyncId");
    if (linked) {
      SqliteRows rows(file_, fmt::format("SELECT {}, t.eventSyncId, t.streamId FROM {} t",
                                         column(kEvents, "globalPid", "0"), kEvents));
      while (rows.next() && problems_.keep(name_, kMemoryOfSync)) {
        constexpr std::int64_t kUnknown = 0;
        if (rows.whole(1) <= kUnknown) continue;
        recorded_on[{rows.whole(0), rows.whole(1)}] = rows.whole(2);
      }
    }
    SqliteRows rows(file_, fmt::format("SELECT {}, t.correlationId, t.streamId, {} FROM {} t",
                                       column(kSyncs, "globalPid", "0"),
                                       linked ? "t.eventSyncId" : "-1", kSyncs));
    while (rows.next() && problems_.keep(name_, kMemoryOfSync)) {
      SyncEvent sync;
      constexpr std::int64_t kAllStreams = std::numeric_limits<std::uint32_t>::max();
      if (rows.whole(2) != kAllStreams) sync.stream = rows.whole(2);
      const auto event = recorded_on.find({rows.whole(0), rows.whole(3)});
      if (event != recorded_on.end()) sync.on_stream = event->second;
      events_of(rows.whole(0)).syncs[rows.whole(1)] = sync;
    }
  }

  void read_ranges() {
    constexpr std::int64_t kPushPop = 59;
    const std::string text =
        file_.has_column(kRanges, "textId") ? "COALESCE(t.text, s.value)" : "t.text";
    const std::string join =
        file_.has_column(kRanges, "textId") ? "LEFT JOIN StringIds s ON s.id = t.textId" : "";
    SqliteRows rows(
        file_, fmt::format("SELECT t.start, t.\"end\", t.globalTid, {}, {} FROM {} t {} "
                           "WHERE t.eventType = {} AND t.\"end\" IS NOT NULL",
                           text, column(kRanges, "binaryData", "NULL"), kRanges, join, kPushPop));
    while (!problems_.full() && rows.next()) range(rows);
  }

  void range(const SqliteRows& rows) {
    const std::string_view text = rows.text(3);
    constexpr std::int64_t kMemoryOfRange = 300;
    const auto step = step_of_range(text);
    const bool nccl = is_call_of_nccl(text);
    if (!step && !nccl && !is_operator(text)) return;
    CpuOperator found;
    found.thread = rows.whole(2);
    if (!set_times(rows.whole(0), rows.whole(1), kRanges, found)) return;
    if (!problems_.keep(name_, kMemoryOfRange)) return;
    const std::int64_t process = process_here(found.thread);
    if (nccl) return of_nccl(text, rows.blob(4), found, process);
    KinetoFile& events = events_of(process);
    if (step) {
      events.steps.push_back({.number = *step, .start = found.start, .duration = found.duration});
      return;
    }
    found.work = work_of_range(text, element_bytes_);
    events.operators.push_back(found);
  }

  void of_nccl(std::string_view text, std::string_view payload, const CpuOperator& range,
               std::int64_t process) {
    const auto number = [&](const char* field, int size) -> std::optional<std::int64_t> {
      const auto found = payloads_.number(payload, field, size);
      if (!found) return std::nullopt;
      return static_cast<std::int64_t>(std::min<std::uint64_t>(*found, INT64_MAX));
    };
    constexpr int kWide = 8;
    constexpr int kNarrow = 4;
    const auto communicator = payloads_.number(payload, "NCCL communicator ID", kWide);
    const std::string id = communicator ? fmt::format("{:x}", *communicator) : "";
    if (const auto ranks = number("No. of ranks", kNarrow)) {
      processes_[process].members.push_back(
          {.communicator = id,
           .ranks = *ranks,
           .rank = number("Rank", kNarrow).value_or(-1),
           .device = number("CUDA device", kNarrow).value_or(-1)});
    }
    processes_[process].nccl.push_back({.start = range.start,
                                        .end = range.start + range.duration,
                                        .thread = range.thread,
                                        .name = std::string(text.substr(0, 60)),
                                        .communicator = id,
                                        .bytes = number("Message size [bytes]", kWide).value_or(-1),
                                        .peer = number("Peer rank", kNarrow).value_or(-1)});
  }

  // All GPUs of a node are taken to be like the first.
  void read_gpu() {
    SqliteRows rows(file_, fmt::format("SELECT {}, {} FROM {} t", column(kGpus, "name", "''"),
                                       column(kGpus, "smCount", "0"), kGpus));
    if (!rows.next()) return;
    const RecordedDevice device = recorded_device(rows.text(0), rows.whole(1, 0));
    for (auto& [process, of] : processes_) of.events.device = device;
  }

  static constexpr std::int64_t kMemoryOfSync = 200;

  SqliteFile& file_;
  std::string name_;
  std::int64_t element_bytes_;
  TraceProblems& problems_;
  NvtxPayloads payloads_;
  NodeProcesses processes_;
};

}  // namespace

NodeProcesses read_tables(SqliteFile& file, const std::string& name, std::int64_t element_bytes,
                          TraceProblems& problems) {
  return TableReader(file, name, element_bytes, problems).read();
}

}  // namespace weft
