#include "sim/traces/rocprof/rocpd_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/traces/json_values.h"
#include "sim/traces/rocprof/rocprof_process.h"
#include "sim/traces/sqlite.h"

namespace weft {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";

// Each process's tables end in its own id: "_0199a6c0_3c5a_7f00_...", by when it began (UUIDv7).
std::vector<std::string> processes_in(SqliteFile& file) {
  std::vector<std::string> ids;
  SqliteRows rows(file, fmt::format("SELECT name FROM sqlite_master WHERE type = 'table' AND name "
                                    "GLOB '{}*' ORDER BY name",
                                    kDispatches));
  while (rows.next()) {
    std::string id(rows.text(0).substr(kDispatches.size()));
    const bool plain = std::all_of(id.begin(), id.end(), [](unsigned char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
    if (plain) ids.push_back(std::move(id));
  }
  return ids;
}

// A number or text below this key of a row's extdata, which is JSON.
const Json* in_extdata(const Json& extdata, const char* key) { return member(extdata, key); }

class ProcessTables {
 public:
  ProcessTables(SqliteFile& file, std::string id, const std::string& name,
                std::int64_t element_bytes, TraceProblems& problems)
      : file_(file),
        id_(std::move(id)),
        name_(name),
        element_bytes_(element_bytes),
        problems_(problems) {}

  // Without kernels if the tables lack columns, which is a problem then.
  NodeProcess read() {
    if (!has_columns()) return {};
    read_agents();
    read_symbols();
    rocprof::ProcessMaker maker(name_, element_bytes_, streams(), problems_);
    read_dispatches(maker);
    read_copies(maker);
    read_regions(maker);
    return maker.made();
  }

  // How the system numbers it; the tables' ending, if that is not said.
  std::string number() {
    const std::string of = table("info_process");
    if (file_.has_column(of, "pid")) {
      SqliteRows rows(file_, fmt::format("SELECT pid FROM {} ORDER BY id LIMIT 1", of));
      if (rows.next()) return std::to_string(rows.whole(0));
    }
    return id_;
  }

 private:
  std::string table(std::string_view of) const { return fmt::format("rocpd_{}{}", of, id_); }

  bool has_columns() {
    const std::string dispatches = table("kernel_dispatch");
    by_track_ = file_.has_column(dispatches, "track_id");
    const std::map<std::string, std::vector<const char*>> needed = {
        {dispatches,
         {"kernel_id", "start", "end", "event_id", "group_segment_size", "grid_size_x",
          "workgroup_size_x", by_track_ ? "track_id" : "agent_id"}},
        {table("event"), {"stack_id", "category_id", "extdata"}},
        {table("region"), {"name_id", "start", "end", "event_id", by_track_ ? "track_id" : "tid"}},
        {table("memory_copy"), {"dst_agent_id", "src_agent_id", "size", "start", "end"}},
        {table("info_agent"), {"type", "absolute_index", "product_name", "extdata"}},
        {table("info_kernel_symbol"), {"kernel_name", "display_name", "arch_vgpr_count"}},
        {table("info_thread"), {"tid"}},
        {table("string"), {"string"}}};
    bool all = true;
    for (const auto& [in, columns] : needed) {
      for (const char* column : columns) {
        if (file_.has_column(in, column)) continue;
        problems_.add(
            name_, in,
            fmt::format("has no column {}; weft reads schemas 3 and 4.1 of rocpd", column));
        all = false;
      }
    }
    return all;
  }

  // In schema 4.1, threads, agents, queues and streams of a record are those of its track.
  std::string joined() const {
    return by_track_ ? fmt::format("LEFT JOIN {} k ON k.id = t.track_id", table("track")) : "";
  }
  std::string place(const char* column) const {
    return fmt::format("{}.{}", by_track_ ? 'k' : 't', column);
  }
  std::string event() const {
    return fmt::format("LEFT JOIN {} e ON e.id = t.event_id", table("event"));
  }

  void read_agents() {
    SqliteRows rows(file_, fmt::format("SELECT id, product_name, name, extdata FROM {} WHERE type "
                                       "= 'GPU' ORDER BY absolute_index, id",
                                       table("info_agent")));
    while (rows.next() && problems_.keep(name_, 3 * kMemoryOfMapEntry)) {
      const std::string_view name = rows.text(1).empty() ? rows.text(2) : rows.text(1);
      const Json extdata = Json::parse(rows.text(3), nullptr, false);
      rocprof::GpuAgent gpu =
          rocprof::gpu_agent(name, whole_or(in_extdata(extdata, "cu_count"), 0));
      gpu.number = static_cast<std::int64_t>(gpus_.size());
      gpus_.emplace(rows.whole(0), std::move(gpu));
    }
  }

  void read_symbols() {
    SqliteRows rows(file_, fmt::format("SELECT id, display_name, kernel_name, arch_vgpr_count, "
                                       "accum_vgpr_count FROM {}",
                                       table("info_kernel_symbol")));
    while (rows.next()) {
      const std::string_view name = rows.text(1).empty() ? rows.text(2) : rows.text(1);
      if (!problems_.keep(name_, kMemoryOfMapEntry + static_cast<std::int64_t>(name.size())))
        return;
      symbols_[rows.whole(0)] = {
          .name = rocprof::name_of_descriptor(name),
          .registers = rocprof::registers_of(rows.whole(3), rows.whole(4, 0))};
    }
  }

  rocprof::Streams streams() {
    rocprof::Streams found;
    SqliteRows kernels(
        file_, fmt::format("SELECT max({}), count(DISTINCT {}) FROM {} t {}", place("stream_id"),
                           place("queue_id"), table("kernel_dispatch"), joined()));
    if (kernels.next()) {
      found.known = kernels.whole(0) > 0;
      found.queues = kernels.whole(1, 0);
    }
    SqliteRows copies(file_, fmt::format("SELECT max({}), count(*) FROM {} t {}",
                                         place("stream_id"), table("memory_copy"), joined()));
    if (copies.next()) {
      found.known = found.known || copies.whole(0) > 0;
      found.copies = copies.whole(1, 0) > 0;
    }
    return found;
  }

  void read_dispatches(rocprof::ProcessMaker& maker) {
    SqliteRows rows(
        file_,
        fmt::format("SELECT t.start, t.\"end\", e.stack_id, t.kernel_id, {}, {}, {}, "
                    "t.group_segment_size, t.grid_size_x, t.grid_size_y, t.grid_size_z, "
                    "t.workgroup_size_x, t.workgroup_size_y, t.workgroup_size_z FROM {} t {} {}",
                    place("agent_id"), place("stream_id"), place("queue_id"),
                    table("kernel_dispatch"), event(), joined()));
    while (!problems_.full() && rows.next()) {
      const auto symbol = symbols_.find(rows.whole(3));
      if (symbol == symbols_.end()) {
        maker.wrong("kernel_dispatch", "kernel_id",
                    fmt::format("{} is not in info_kernel_symbol", rows.whole(3)));
        continue;
      }
      const auto gpu = gpus_.find(rows.whole(4));
      if (gpu == gpus_.end()) {
        maker.wrong(symbol->second.name, "agent_id",
                    fmt::format("{} is no GPU that info_agent lists", rows.whole(4)));
        continue;
      }
      maker.add(rocprof::Dispatch{.times = {.start = rows.whole(0), .end = rows.whole(1)},
                                  .correlation = rows.whole(2),
                                  .symbol = symbol->second,
                                  .gpu = gpu->second,
                                  .stream = rows.whole(5),
                                  .queue = rows.whole(6),
                                  .lds = rows.whole(7, 0),
                                  .items = {rows.whole(8), rows.whole(9), rows.whole(10)},
                                  .work_group = {rows.whole(11), rows.whole(12), rows.whole(13)}});
    }
  }

  void read_copies(rocprof::ProcessMaker& maker) {
    SqliteRows rows(file_,
                    fmt::format("SELECT t.start, t.\"end\", e.stack_id, t.dst_agent_id, "
                                "t.src_agent_id, {}, t.size FROM {} t {} {}",
                                place("stream_id"), table("memory_copy"), event(), joined()));
    const auto gpu = [this](std::int64_t agent) {
      const auto found = gpus_.find(agent);
      return found != gpus_.end() ? &found->second : nullptr;
    };
    while (!problems_.full() && rows.next()) {
      maker.add(rocprof::Copy{.times = {.start = rows.whole(0), .end = rows.whole(1)},
                              .correlation = rows.whole(2),
                              .to = gpu(rows.whole(3)),
                              .from = gpu(rows.whole(4)),
                              .stream = rows.whole(5),
                              .bytes = rows.whole(6, 0)});
    }
  }

  // Calls of HIP and RCCL, and ranges. Those of the layer below HIP are many, and not needed.
  void read_regions(rocprof::ProcessMaker& maker) {
    const bool own_categories = file_.has_column(table("info_category"), "name");
    const std::string category =
        fmt::format("LEFT JOIN {} c ON c.id = e.category_id",
                    own_categories ? table("info_category") : table("string"));
    const char* name_of_category = own_categories ? "c.name" : "c.string";
    SqliteRows rows(
        file_, fmt::format("SELECT t.start, t.\"end\", e.stack_id, p.tid, {}, s.string, CASE WHEN "
                           "{} LIKE 'MARKER%' THEN e.extdata END FROM {} t {} {} {} LEFT JOIN {} s "
                           "ON s.id = t.name_id LEFT JOIN {} p ON p.id = {} WHERE {} NOT LIKE "
                           "'HSA%'",
                           name_of_category, name_of_category, table("region"), event(), category,
                           joined(), table("string"), table("info_thread"), place("tid"),
                           name_of_category));
    while (!problems_.full() && rows.next()) {
      const std::string_view kind = rows.text(4);
      const rocprof::Call call{.times = {.start = rows.whole(0), .end = rows.whole(1)},
                               .correlation = rows.whole(2),
                               .thread = rows.whole(3, 0),
                               .name = rows.text(5)};
      if (kind.starts_with("HIP_RUNTIME")) {
        maker.add_hip(call);
      } else if (kind.starts_with("RCCL")) {
        maker.add_rccl(call);
      } else if (kind.starts_with("MARKER") && rocprof::is_range_of_thread(call.name)) {
        const Json extdata = Json::parse(rows.text(6), nullptr, false);
        maker.add_range(call.times, call.thread, text_or(in_extdata(extdata, "message"), ""));
      }
    }
  }

  SqliteFile& file_;
  std::string id_;
  const std::string& name_;
  std::int64_t element_bytes_;
  TraceProblems& problems_;
  bool by_track_ = false;
  std::map<std::int64_t, rocprof::GpuAgent> gpus_;                   // by id
  std::unordered_map<std::int64_t, rocprof::KernelSymbol> symbols_;  // by id
};

}  // namespace

NodeProcesses read_rocpd(std::string& bytes, const std::string& name, std::int64_t element_bytes,
                         TraceProblems& problems) {
  NodeProcesses processes;
  SqliteFile file(bytes, "rocprofv3");
  const std::vector<std::string> ids = processes_in(file);
  if (ids.empty() && file.problem().empty()) {
    problems.add(name, std::string(kDispatches), "no such table; this is no database of rocprofv3");
  }
  std::string numbers;
  for (const std::string& id : ids) {
    ProcessTables tables(file, id, name, element_bytes, problems);
    NodeProcess made = tables.read();
    if (made.events.gpu.empty()) continue;
    numbers += (numbers.empty() ? "" : ", ") + tables.number();
    const auto number = static_cast<std::int64_t>(processes.size());
    processes.emplace(number, std::move(made));
  }
  if (processes.size() > 1) {
    std::string& note = processes.begin()->second.note;
    note += fmt::format(
        "{}{}: processes of one GPU each are in the order of their tables' names, "
        "in which they began: pid {}",
        note.empty() ? "" : "; ", name, numbers);
  }
  if (!file.problem().empty()) problems.add(name, "", file.problem());
  return processes;
}

}  // namespace weft
