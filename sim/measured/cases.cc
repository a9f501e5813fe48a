#include "sim/measured/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "sim/core/assert.h"
#include "sim/measured/library_kernels.h"
#include "sim/measured/own_kernels.h"

namespace weft {
namespace {

// A number of a line that sets a key of its scenario.
struct Column {
  const char* name;
  const char* key;
};
constexpr std::array kBagColumns = {
    Column{"batch", "workload.batch"},
    Column{"tables", "workload.tables_per_gpu"},
    Column{"dim", "workload.dim"},
    Column{"pooling", "workload.pooling"},
    Column{"rows_per_table", "workload.rows_per_table"},
    Column{"rows_per_wg", "workload.rows_per_wg"},
};
constexpr std::array kGemvColumns = {
    Column{"m", "workload.gemv.m"},
    Column{"k_local", "workload.gemv.k"},
    Column{"rows_per_wg", "workload.gemv.rows_per_wg"},
};
constexpr std::array kGemmColumns = {
    Column{"m", "workload.gemm.m"},
    Column{"n", "workload.gemm.n"},
    Column{"k", "workload.gemm.k"},
};
constexpr std::array kC3Columns = {
    Column{"m", "workload.gemm.m"},
    Column{"n", "workload.gemm.n"},
    Column{"k", "workload.gemm.k"},
    Column{"bytes_per_gpu", "workload.communication.bytes"},
};
constexpr std::array kLibraryColumns = {Column{"bytes_per_gpu", "workload.bytes"}};

// What the two lines of a comparison may differ in: how the fused kernel was launched
// or built.
constexpr std::array kOfOneVersion = {"wgs",  "occupancy",   "ctas", "flags_per_destination",
                                      "tile", "rows_at_once"};

struct Family {
  const char* prefix;
  const char* scenario;
  std::span<const Column> columns;
};
constexpr std::array kFamilies = {
    Family{"emb", "validation/emb", kBagColumns},
    Family{"gemv", "validation/gemv", kGemvColumns},
    Family{"gemm", "validation/gemm", kGemmColumns},
    Family{"gemm_rs", "validation/gemm_rs", kGemmColumns},
    Family{"c3", "validation/c3", kC3Columns},
    Family{"micro", "validation/collective", kLibraryColumns},
    Family{"engine", "validation/all_reduce_engine", kLibraryColumns},
};

// What is the same for all lines of a kind.
struct Kind {
  const char* kind;
  Mode mode = Mode::bulk;
  Until until = Until::all_done;
  const char* sets = "";          // one more key
  const char* limited_by = "";    // key that the column `ctas` sets
  const char* communicates = "";  // the collective, if it runs alone
};
constexpr std::array kKinds = {
    Kind{"emb.compute", Mode::bulk, Until::computed},
    Kind{"emb.comm", Mode::bulk, Until::all_done, "", "", "all_to_all"},
    Kind{"emb.bulk"},
    Kind{"emb.fused", Mode::fused},
    Kind{"emb.fused_local_first", Mode::fused, Until::all_done, "fused.order=local_first"},
    Kind{"emb.fused_low_occ", Mode::fused},
    Kind{"gemv.compute", Mode::bulk, Until::computed},
    Kind{"gemv.comm", Mode::bulk, Until::all_done, "", "", "all_reduce"},
    Kind{"gemv.bulk"},
    Kind{"gemv.fused", Mode::fused},
    Kind{"gemv.fused_local_first", Mode::fused, Until::all_done, "fused.order=local_first"},
    Kind{"gemm.compute", Mode::bulk, Until::computed},
    Kind{"gemm.comm", Mode::bulk, Until::all_done, "", "", "all_to_all"},
    Kind{"gemm.bulk"},
    Kind{"gemm.fused", Mode::fused, Until::all_done, "fused.order=remote_first"},
    Kind{"gemm.fused_local_first", Mode::fused, Until::all_done, "fused.order=local_first"},
    Kind{"gemm.fused_in_turn", Mode::fused, Until::all_done, "fused.order=in_turn"},
    Kind{"gemm_rs.compute", Mode::bulk, Until::computed},
    Kind{"gemm_rs.comm", Mode::bulk, Until::all_done, "", "", "reduce_scatter"},
    Kind{"gemm_rs.bulk"},
    Kind{"gemm_rs.fused", Mode::fused, Until::all_done, "fused.order=remote_first"},
    Kind{"gemm_rs.fused_local_first", Mode::fused, Until::all_done, "fused.order=local_first"},
    Kind{"gemm_rs.fused_in_turn", Mode::fused, Until::all_done, "fused.order=in_turn"},
    Kind{"c3.gemm_alone", Mode::compute_alone},
    Kind{"c3.comm_alone", Mode::comm_alone},
    Kind{"c3.comm_alone_ctas", Mode::comm_alone, Until::all_done, "", "collective.channels"},
    Kind{"c3.ce_alone", Mode::comm_alone_dma},
    Kind{"c3.serial", Mode::serial},
    Kind{"c3.base", Mode::base},
    Kind{"c3.priority", Mode::priority},
    Kind{"c3.comm_first", Mode::comm_first},
    Kind{"c3.partition", Mode::partition, Until::all_done, "", "c3.partition_cus"},
    Kind{"c3.dma", Mode::dma},
    Kind{"micro.nccl_alltoall", Mode::bulk, Until::all_done, "workload.op=all_to_all"},
    Kind{"micro.nccl_allreduce", Mode::bulk, Until::all_done, "workload.op=all_reduce"},
    Kind{"micro.nccl_allgather", Mode::bulk, Until::all_done, "workload.op=all_gather"},
    Kind{"micro.nccl_reducescatter", Mode::bulk, Until::all_done, "workload.op=reduce_scatter"},
    Kind{"engine.all_reduce"},
};

const Kind* find_kind(std::string_view word) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const Kind& kind) { return word == kind.kind; });
  return found == kKinds.end() ? nullptr : found;
}

std::string_view prefix_of(std::string_view kind) { return kind.substr(0, kind.find('.')); }

const Family& family_of(std::string_view kind) {
  const auto* found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return prefix_of(kind) == family.prefix;
  });
  SIM_ASSERT(found != kFamilies.end());
  return *found;
}

class CaseMaker {
 public:
  CaseMaker(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems)
      : line_(line), gpu_(gpu), problems_(problems) {}

  Case make(const Kind& kind) {
    const std::string_view prefix = prefix_of(line_.kind);
    case_.mode = kind.mode;
    case_.until = kind.until;
    set_cluster();
    if (*kind.communicates != '\0') {
      communicate(kind.communicates, sent_of(prefix));
      return case_;
    }
    const Family& family = family_of(line_.kind);
    case_.scenario = scenario_of(family);
    for (const Column& column : family.columns) set(column.key, needed(column.name));
    if (*kind.sets != '\0') case_.sets.emplace_back(kind.sets);
    if (*kind.limited_by != '\0') set(kind.limited_by, needed("ctas"));
    if (prefix == "micro" && line_.number("ctas")) set("collective.channels", needed("ctas"));
    set_loads(prefix);
    set_walk(prefix);
    set_hot_rows();
    if (prefix == "gemv") place_weights();
    if (prefix == "c3") set_collective();
    // NCCL was told to have as many channels, which may be more than it takes by itself.
    if (kind.mode == Mode::partition) set("collective.channels", needed("ctas"));
    if (kind.mode == Mode::fused) limit_residents();
    return case_;
  }

 private:
  std::int64_t needed(const char* name) { return line_.needed(name, problems_).value_or(1); }

  // One node, or the nodes that the line says, with equally many GPUs each.
  void set_cluster() {
    const std::int64_t nodes = line_.number("nodes").value_or(1);
    const std::int64_t gpus = needed("gpus");
    if (nodes < 1 || gpus % nodes != 0) {
      problems_.add({.at = line_.at,
                     .path = "nodes",
                     .message = fmt::format("must divide the {} GPUs, but is {}", gpus, nodes),
                     .source_line = ""});
      return;
    }
    if (nodes > 1) set("cluster.nodes", nodes);
    set("cluster.gpus_per_node", gpus / nodes);
  }

  void set(const char* key, std::int64_t value) {
    const bool size = std::string_view(key).ends_with(".bytes");
    case_.sets.push_back(fmt::format("{}={}{}", key, value, size ? " B" : ""));
  }

  // The kernel with wide tiles is another one (calibration/src/gemm_tile_wgmma.h).
  std::string scenario_of(const Family& family) {
    const std::string_view prefix = family.prefix;
    const bool wide = line_.number("tile_n").value_or(0) == 256;
    if (wide && prefix == "gemm") return "validation/hip_gemm";
    if (wide && prefix == "gemm_rs") return "validation/hip_gemm_rs";
    return family.scenario;
  }

  // The bytes that the collective of an operator moves, per GPU.
  std::int64_t sent_of(std::string_view prefix) {
    if (prefix == "emb") {
      return needed("batch") * needed("tables") * needed("dim") * needed("dtype_bytes");
    }
    if (prefix == "gemv") return needed("m") * needed("out_bytes");
    return needed("m") * needed("n") * needed("dtype_bytes");
  }

  void communicate(const char* op, std::int64_t size) {
    case_.scenario = "validation/collective";
    case_.sets.push_back(fmt::format("workload.op={}", op));
    set("workload.bytes", size);
  }

  // Loads in flight of the kernel that was measured, if the line says it.
  void set_loads(std::string_view prefix) {
    const auto loads = line_.number("loads_in_flight");
    if (!loads) return;
    if (prefix == "emb") set("workload.wg.loads_in_flight", *loads);
    if (prefix == "gemv") set("workload.gemv.wg.loads_in_flight", *loads);
  }

  // A line without this walks its tiles row by row, and adds up 4 B at a time.
  void set_walk(std::string_view prefix) {
    const auto rows = line_.number("group_rows");
    if (!rows) return;
    case_.sets.emplace_back("workload.gemm.order=swizzled");
    set("workload.gemm.swizzle", *rows);
    if (prefix == "gemm_rs") case_.sets.emplace_back("fused.add_load=16 B");
  }

  // A line without this has no hot rows.
  void set_hot_rows() {
    const auto percent = line_.number("zipf_percent");
    if (percent)
      case_.sets.push_back(fmt::format("workload.zipf={}.{:02}", *percent / 100, *percent % 100));
  }

  void place_weights() {
    const std::int64_t size = needed("m") * needed("k_local") * needed("weight_bytes");
    case_.sets.push_back(place_of_weights(size, gpu_));
  }

  void set_collective() {
    constexpr std::array kOps = {
        std::pair{"allgather", "all_gather"}, std::pair{"alltoall", "all_to_all"},
        std::pair{"allreduce", "all_reduce"}, std::pair{"reducescatter", "reduce_scatter"}};
    const auto found = line_.words.find("collective");
    const std::string word = found == line_.words.end() ? "" : found->second;
    for (const auto& [said, op] : kOps) {
      if (word != said) continue;
      case_.sets.push_back(fmt::format("workload.communication.op={}", op));
      return;
    }
    problems_.add({.at = line_.at,
                   .path = "collective",
                   .message = "must be allgather, alltoall, allreduce or reducescatter",
                   .source_line = ""});
  }

  // A persistent kernel was launched with this many WGs.
  void limit_residents() {
    const std::int64_t wgs = needed("wgs");
    set("fused.max_wgs_per_cu", (wgs + gpu_.cus - 1) / gpu_.cus);
  }

  const MeasuredLine& line_;
  const GpuSpec& gpu_;
  Diagnostics& problems_;
  Case case_;
};

}  // namespace

bool has_case(const std::string& kind) {
  return find_kind(kind) != nullptr || is_library_kernel(kind) || is_torch_pair(kind) ||
         is_own_kernel(kind);
}

Case case_of(const MeasuredLine& line, const GpuSpec& gpu, Diagnostics& problems) {
  if (is_library_kernel(line.kind)) {
    Case one;
    one.kernels = library_kernels(line, problems);
    return one;
  }
  if (is_torch_pair(line.kind)) {
    Case one;
    one.pair = torch_pair(line, problems);
    return one;
  }
  if (is_own_kernel(line.kind)) return own_kernel(line, gpu, problems);
  const Kind* kind = find_kind(line.kind);
  SIM_ASSERT(kind != nullptr);
  return CaseMaker(line, gpu, problems).make(*kind);
}

// A line's operands are the same in each run. What a run reads once is all there in the next up to
// 0.73 (H200) and 0.76 (H100) of the L2's capacity, nothing of it from 0.78 and 0.92 on ([M]
// calibration/measurements/h200-pytorch-rereads.jsonl, h100-pytorch-rereads.jsonl).
std::string place_of_weights(std::int64_t size, const GpuSpec& gpu) {
  constexpr double kStaysUpTo = 0.8;  // of the capacity
  const auto capacity = static_cast<double>(gpu.l2.capacity.count());
  const bool fits = static_cast<double>(size) <= kStaysUpTo * capacity;
  return fmt::format("workload.gemv.weights={}", fits ? "in_l2" : "in_hbm");
}

std::string bulk_kind_of(const std::string& kind) {
  if (is_torch_pair(kind)) return bulk_of_torch_pair(kind);
  if (is_own_kernel(kind)) return bulk_of_own_kernel(kind);
  const Kind* found = find_kind(kind);
  if (found == nullptr || found->mode != Mode::fused) return "";
  return std::string(prefix_of(kind)) + ".bulk";
}

std::string compared_text(const MeasuredLine& line) {
  MeasuredLine common = line;
  for (const char* name : kOfOneVersion) {
    common.numbers.erase(name);
    common.words.erase(name);
  }
  return common.text();
}

}  // namespace weft
