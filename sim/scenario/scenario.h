// Scenario: checked values. After load_scenario (load.h) it cannot be wrong: no optional that is
// required, no string that means a number, no second check downstream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/gpu_model/gpu_spec.h"
#include "sim/network/network_spec.h"
#include "sim/scenario/data_type.h"
#include "sim/scenario/model_spec.h"
#include "sim/scenario/trace_work.h"
#include "sim/scenario/workload_kinds.h"

namespace weft {

// A GPU that is slower than the others.
struct Straggler {
  int gpu = 0;
  double clock = 1;   // share of the speed at which its WGs work
  double memory = 1;  // share of its HBM's bandwidth
};

struct ClusterSpec {
  std::string name;
  int nodes = 0;
  int gpus_per_node = 0;
  GpuSpec gpu;
  std::optional<FabricSpec> scale_up;   // inside a node; present when gpus_per_node > 1
  std::optional<FabricSpec> scale_out;  // between nodes; present when nodes > 1
  std::optional<NicSpec> nic;           // present when nodes > 1
  std::vector<Straggler> stragglers;    // each another GPU
  std::vector<DegradedLink> degraded_links;
  [[nodiscard]] int gpus() const { return nodes * gpus_per_node; }
  [[nodiscard]] NetworkSpec network() const {
    return {.nodes = nodes,
            .gpus_per_node = gpus_per_node,
            .scale_up = scale_up,
            .scale_out = scale_out,
            .nic = nic,
            .degraded = degraded_links};
  }
};

// In which order a kernel's WGs come to their pooled rows: all samples of a table, then those of
// the next; or all tables of a sample, so that a WG comes to several.
enum class TableWalk : std::uint8_t { by_table, by_sample };

// Every GPU pools `pooling` rows for every (sample of the global batch) x (table of its own); the
// pooled rows then go to the GPU that owns the sample (docs/model.md, "Embedding").
struct EmbeddingWork {
  std::int64_t batch = 0;  // global; every GPU owns batch / gpus samples
  int tables_per_gpu = 0;
  std::int64_t rows_per_table = 0;
  double zipf = 0;  // row x of a table is asked for as often as (x + 1)^-zipf; 0: all alike
  int dim = 0;
  int pooling = 0;
  DataType dtype = DataType::fp32;
  int index_bytes = 0;  // of one looked-up row
  int rows_per_wg = 0;  // pooled rows one WG makes, all for one destination
  TableWalk walk = TableWalk::by_table;
  int chain = 1;                  // of a thread's loads in flight, those that wait for one another
  Bytes index_read = bytes(128);  // of a pooled row's indices, what one wait brings
  Bytes load = bytes(16);         // of a row, what one load of a thread brings
  int instructions = 0;           // of a thread for each load of a row, where counted
  bool l2_is_warm = false;        // from earlier lookups of the same tables
  bool kernel_per_table = false;  // the plain version; by_table
  WgShape wg;
  double jitter = 0;  // each WG's work varies evenly by +- this fraction
  bool operator==(const EmbeddingWork&) const = default;
};

// y = W x on every GPU, W of m x k (k is this GPU's share); the y of all GPUs are added up.
struct GemvWork {
  std::int64_t m = 0;
  std::int64_t k = 0;
  DataType dtype = DataType::fp16;  // of W
  int rows_per_wg = 0;
  bool weights_in_l2 = false;  // from a run before, where they fit
  Duration load_sums;          // of a wave, the sums of one load that its next loads wait for
  WgShape wg;
  double jitter = 0;
  bool operator==(const GemvWork&) const = default;
};

enum class TileOrder { row, column, swizzled };
enum class GemmSchedule { tiles, persistent, dynamic, stream_k, counter };

// C = A B on every GPU, C of m x n.
struct GemmWork {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DataType dtype = DataType::bf16;
  bool by_library = false;  // a kernel of the GPU's library, which decides all that follows
  int tile_m = 128;         // of C, made by one WG ...
  int tile_n = 128;
  int split_k = 1;  // ... or by so many, each for its part of k
  TileOrder order = TileOrder::swizzled;
  int swizzle = 8;          // rows of tiles in a group, where the order is swizzled
  double efficiency = 0.7;  // of the matrix peak, on a CU full of WGs
  double alone = 1;         // part of it that one WG reaches that has its CU to itself
  GemmSchedule schedule = GemmSchedule::tiles;
  // A tile of accumulators and a pipeline of operands: two WGs of 128 x 128 on most CUs.
  WgShape wg = {
      .threads = 256, .registers_per_thread = 128, .lds = bytes(32'768), .loads_in_flight = 8};
  double jitter = 0;
  LibraryKernel library;  // no file says it, but for `fixed`
  bool fp8 = false;       // its operands; `dtype` is the result's
  bool operator==(const GemmWork&) const = default;
};

// The kernel of an operator that a scenario describes down to its WGs.
struct DescribedKernel {
  const OperatorKind* kind = nullptr;  // null: a library's kernel
  std::variant<std::monostate, GemvWork, GemmWork> work = {};
};

// Groups of GPUs: given one by one, or in a regular form, or (all zero) one of all GPUs.
struct GroupsWork {
  int size = 0;                                 // GPUs of a group ...
  int stride = 1;                               // ... so far apart: 1 makes neighbours a group
  std::vector<std::vector<std::int64_t>> gpus;  // by rank
};

// A collective alone, of all GPUs or of several groups of them at once.
struct CollectiveWork {
  CollectiveOp op = CollectiveOp::all_to_all;
  // Of each GPU: what it sends from, receives into (all-gather) or reduces; n blocks, one a rank.
  Bytes bytes;
  GroupsWork groups;
  int root = 0;    // rank that broadcasts, or sends point to point ...
  int target = 1;  // ... to this one
  std::vector<std::vector<std::int64_t>> matrix;  // uneven all-to-all: bytes from rank to rank
};

// Grains of overlap of an operator and the collective that depends on it; mixed: of a model, each
// pair in its own. The others are of kind c3: a GEMM and a collective that know nothing of one
// another.
enum class Mode {
  bulk,
  kernel,
  fused,
  pipelined,
  role_split,
  copy_fed,
  mixed,
  compute_alone,
  comm_alone,
  comm_alone_dma,
  serial,
  base,
  comm_first,
  priority,
  launch_order,
  partition,
  priority_partition,
  lookup,
  best,
  dma,
  dma_partition
};

enum class DestinationOrder : std::uint8_t {
  remote_first,
  local_first,
  staggered,
  in_turn,
  rotating,
  given
};

// Which of a model's pairs of operator and collective the fused mode fuses, and the kernel-granular
// one cuts into chunks: those that are faster so by themselves, or those of these patterns.
struct FuseOptions {
  bool automatic = true;
  std::vector<WorkloadKind> patterns;  // where it is not
};

// An algorithm by name, the one that the GPU's library would take, or (neither) the fastest. An
// inference engine has kernels of its own for all-reduces (`named`, or by its rows); the library
// does the rest.
struct AskedAlgorithm {
  std::optional<Algorithm> named;
  bool of_library = false;
  bool of_engine = false;
  bool operator==(const AskedAlgorithm&) const = default;
};

// When a WG of the owner adds up the parts of a sum: after all results that it makes; or to its own
// part, as soon as that is made, from registers.
enum class FusedAdd : std::uint8_t { at_end, with_own };

// Mode mixed: how pairs are overlapped. The last rule that a pair fits counts.
struct PairRule {
  std::string pair;     // its name, that of either operator, or its pattern; empty: all pairs
  int from_layer = -1;  // of a decoder's layers, both included; -1: any
  int to_layer = -1;
  Mode mode = Mode::bulk;
  // None, and 0 below: as the scenario's; of tiles, as the library's.
  std::optional<DestinationOrder> order = {};
  int slice_wgs = 0;
  int max_wgs_per_cu = 0;
  int own_first = 0;
  std::optional<FusedAdd> add = {};
  int sending_cus = 0;
  int chunks = 0;
  int tile_m = 0;
  int tile_n = 0;
  std::optional<AskedAlgorithm> algorithm = {};  // of the collective where the library runs it
  std::optional<Protocol> protocol = {};
  int channels = 0;
  bool operator==(const PairRule&) const = default;
};

// How the library runs collectives of a model, in every mode. The last rule that one fits counts.
struct CollectiveRule {
  std::string collective;  // its name; empty: all
  int from_layer = -1;     // of a decoder's layers, both included; -1: any
  int to_layer = -1;
  // None, and 0: as the scenario's.
  std::optional<AskedAlgorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int channels = 0;
  bool operator==(const CollectiveRule&) const = default;
};

struct Workload : ModelSpecs {
  WorkloadKind kind = WorkloadKind::embedding_all_to_all;
  EmbeddingWork embedding;
  GemvWork gemv;
  GemmWork gemm;
  CollectiveWork collective;
  // Of whole models:
  Phase phase = Phase::inference;
  DataType gradients = DataType::fp32;  // as data parallelism adds them up
  DataType optimizer = DataType::fp32;  // its moments, and a copy of narrower weights
  bool scales_gradients = false;        // by a kernel, before they are summed
  FuseOptions fuse;
  std::vector<PairRule> pairs;
  std::vector<CollectiveRule> collectives;
  Bytes gradient_bucket;  // gradients that are added up together, at least; 0: a layer's
  TraceWork trace;
};

// A decoder's optimizer has the weights a second time, as wide as its moments.
constexpr bool keeps_a_copy(const Workload& workload) {
  return size_of(workload.optimizer) > size_of(workload.transformer.decoder.dtype);
}

// Of the kernel that computes.
WgShape wg_of(Workload workload);

// What is run alone, or concurrently with the kernel.
CollectiveOp collective_of(const Workload& workload);

// The GPUs of each group, by rank. One group of all where none is given.
std::vector<std::vector<std::uint32_t>> groups_of(const GroupsWork& groups, int gpus);

enum class LaunchKind { host, queue, graph };
enum class CollectiveExecutor { cu, dma };
// How the WGs of a persistent grid share its items: as they come; each those of its number; or each
// the one of its number first, then as they come, and those that find no room until one of the
// others has found no more items, wait until all others have ended (libraries' kernels, not in
// files).
enum class WorkList : std::uint8_t { dynamic_list, static_list, first_static };
enum class FlagPer { slice, peer };
enum class PutBy { wg, wave, thread };
enum class FenceBy { wg, wave };
enum class FenceOf { sent, all };  // results that a WG fences after
enum class SentBy { wg, wave };
enum class Acquire { load, fence };
enum class Staging { zero_copy, staged };
// How copy engines bring a fused kernel's input.
enum class Brought : std::uint8_t {
  fetched,  // by who needs it, from where its owner has copied it first
  pushed    // by its owner, from where it lies
};
// Registers of a kernel that needs more than the plain one: all that it needs; or no more than
// leave as many WGs on a CU, and the rest is spilled; or (automatic) that where else half of the
// WGs or more would be lost.
enum class FusedRegisters : std::uint8_t { automatic, all, capped };

// How copy engines are given their commands.
enum class DmaPattern {
  direct,        // one engine for each peer
  back_to_back,  // all copies one after another on one engine
  broadcast      // a command reads once and writes to two peers
};

// How the library runs a collective.
struct CollectiveOptions {
  CollectiveExecutor executor = CollectiveExecutor::cu;
  DmaPattern dma = DmaPattern::direct;
  AskedAlgorithm algorithm = {.named = std::nullopt, .of_library = true, .of_engine = false};
  std::optional<Protocol> protocol;  // none: as the algorithm is chosen
  int channels = 0;                  // 0: the GPU's
  bool operator==(const CollectiveOptions&) const = default;
};
struct KernelOptions {
  int chunks = 0;
};
struct FusedOptions {
  DestinationOrder order = DestinationOrder::remote_first;
  WorkList work_list = WorkList::dynamic_list;
  FlagPer flag_per = FlagPer::slice;
  PutBy put_by = PutBy::wg;
  FenceBy fence_by = FenceBy::wg;
  FenceOf fence_of = FenceOf::sent;
  SentBy sent_by = SentBy::wg;
  Acquire acquire = Acquire::load;
  Staging staging = Staging::zero_copy;
  Brought brought = Brought::fetched;  // of mode copy_fed
  bool in_switch = false;              // sums and copies, where the switch of a node can
  int slice_wgs = 0;                   // WGs whose results leave as one put
  int unsent = 1;                      // results that a WG has buffers for, if waves send
  int sending_waves = 0;               // of a GPU, that send at a time; 0: one of each CU
  double rate_while_sending = 1;       // of a CU whose wave stores into a peer, of its own
  int own_first = 0;                   // WGs of own input before those of all in turn; 0: all
  int sending_wgs = 0;                 // that send all input before they compute; 0: all in turn
  Bytes piece = bytes(64 * 1024);      // of input, that a WG sends before it fences
  int extra_registers_per_thread = 0;  // what in-kernel communication costs
  FusedRegisters registers = FusedRegisters::automatic;
  int max_wgs_per_cu = 0;  // 0: as many as fit
  int sending_cus = 0;     // of mode role_split; 0: as many as fill the links
  int chain = 0;           // of the fused embedding kernel; 0: the plain one's
  FusedAdd add = FusedAdd::at_end;
  Bytes add_load = {};  // of each part, in a thread adding up; 0: all in flight
};

// Who keeps the GEMM off the collective's CUs.
enum class PartitionBy {
  masks,    // CU masks of both streams
  channels  // nobody: the collective only has fewer channels, and is launched first
};
struct C3Options {
  PartitionBy partition_by = PartitionBy::masks;
  int partition_cus = 0;    // of the collective; 0: what lookup finds
  int dma_reserve_cus = 0;  // that the GEMM leaves empty beside copy engines
};

// The clock of kernels that compute: of short ones, or what the power limit leaves for seconds.
enum class Clocks : std::uint8_t { automatic, sustained, burst };

// What of a whole model is simulated: what repeats in it and copies of it that do the same once,
// all copies, or all of it.
enum class Repeats : std::uint8_t { once, blocks, each };

// What becomes of a language model that a GPU's memory does not hold.
enum class BeyondMemory : std::uint8_t { refuse, warn };

// How events wait: those of each place by themselves where that is possible, or all in one order.
enum class Queues : std::uint8_t { by_place, one };

class KnownRuns;  // sim/engine/known_runs.h

struct RunOptions {
  std::uint64_t seed = 0;
  std::int64_t max_events = 0;
  Duration max_time;  // simulated
  Bytes max_memory;   // estimate above this is refused before the run
  LaunchKind launch = LaunchKind::queue;
  Clocks clocks = Clocks::automatic;
  int steps_between_pauses = 0;  // 0: no pauses
  Repeats repeats = Repeats::once;
  BeyondMemory beyond_memory = BeyondMemory::refuse;
  bool range = false;                // whether results say how sure times are
  double gpu_hour_price = 0;         // of a GPU, in any currency; 0: results have no costs
  std::uint64_t tie_shuffle = 0;     // 0: ties in their written order; else a seed (tests only)
  Queues queues = Queues::by_place;  // no key: results are the same
  int cores = 1;                     // that one run may take; no key either
  KnownRuns* known = nullptr;        // to ask before it is simulated, and to add to; no key either
};

struct Scenario {
  std::string name;
  std::string hash;  // of the resolved values, 16 hexadecimal digits
  ClusterSpec cluster;
  Workload workload;
  std::vector<Mode> modes;
  CollectiveOptions collective;
  KernelOptions kernel;
  FusedOptions fused;
  C3Options c3;
  RunOptions run;
};

}  // namespace weft
