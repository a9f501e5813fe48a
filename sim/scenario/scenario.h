// Scenario: checked values. After load_scenario (load.h) it cannot be wrong: no optional that is
// required, no string that means a number, no second check downstream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/gpu_model/gpu_spec.h"
#include "sim/network/network_spec.h"

namespace weft {

struct ClusterSpec {
  std::string name;
  int nodes = 0;
  int gpus_per_node = 0;
  GpuSpec gpu;
  std::optional<FabricSpec> scale_up;   // inside a node; present when gpus_per_node > 1
  std::optional<FabricSpec> scale_out;  // between nodes; present when nodes > 1
  std::optional<NicSpec> nic;           // present when nodes > 1
  [[nodiscard]] int gpus() const { return nodes * gpus_per_node; }
};

enum class DataType { fp32, fp16, bf16 };
constexpr Bytes size_of(DataType type) { return bytes(type == DataType::fp32 ? 4 : 2); }

// Every GPU pools `pooling` rows for every (sample of the global batch) x (table of its own); the
// pooled rows then go to the GPU that owns the sample (docs/model.md, "Embedding").
struct EmbeddingWork {
  std::int64_t batch = 0;  // global; every GPU owns batch / gpus samples
  int tables_per_gpu = 0;
  std::int64_t rows_per_table = 0;
  int dim = 0;
  int pooling = 0;
  DataType dtype = DataType::fp32;
  int rows_per_wg = 0;  // pooled rows one WG makes, all for one destination
  WgShape wg;
  double jitter = 0;  // each WG's work varies evenly by +- this fraction
};

// The all-to-all alone: every GPU sends `bytes_per_pair` to every other.
struct AllToAllWork {
  Bytes bytes_per_pair;
};

enum class WorkloadKind { embedding_all_to_all, all_to_all };

struct Workload {
  WorkloadKind kind = WorkloadKind::embedding_all_to_all;
  EmbeddingWork embedding;
  AllToAllWork all_to_all;
};

enum class Mode { bulk, kernel, fused };

enum class LaunchKind { host, queue, graph };
enum class CollectiveExecutor { cu, dma };
enum class DestinationOrder { remote_first, local_first, staggered, given };
enum class WorkList { dynamic_list, static_list };
enum class FlagPer { slice, peer };

struct BulkOptions {
  CollectiveExecutor executor = CollectiveExecutor::cu;
};
struct KernelOptions {
  int chunks = 0;
};
struct FusedOptions {
  DestinationOrder order = DestinationOrder::remote_first;
  WorkList work_list = WorkList::dynamic_list;
  FlagPer flag_per = FlagPer::slice;
  int slice_wgs = 0;                   // WGs whose results leave as one put
  int extra_registers_per_thread = 0;  // what in-kernel communication costs: lowers residency
  int max_wgs_per_cu = 0;              // 0: as many as fit
};

struct RunOptions {
  std::uint64_t seed = 0;
  std::int64_t max_events = 0;
  Duration max_time;  // simulated
  Bytes max_memory;   // estimate above this is refused before the run
  LaunchKind launch = LaunchKind::queue;
  std::uint64_t tie_shuffle = 0;  // 0: ties in their written order; else a seed (tests only)
};

struct Scenario {
  std::string name;
  std::string hash;  // of the resolved values, 16 hexadecimal digits
  ClusterSpec cluster;
  Workload workload;
  std::vector<Mode> modes;
  BulkOptions bulk;
  KernelOptions kernel;
  FusedOptions fused;
  RunOptions run;
};

}  // namespace weft
