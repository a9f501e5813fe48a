// Grid: the WGs of an operator as the overlap patterns see them. Embedding bag, GEMV and GEMM each
// make one; bulk, chunked and fused lowerings then need not know the operator.
//
// On every GPU `per_peer` WGs belong to each GPU (itself included): their results go there, or
// their input comes from there.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/gpu_model/cu_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/tasks/task_graph.h"

namespace weft {

// Tiles whose rows belong to several peers: of experts, to which tokens come from everywhere.
struct ScatteredTiles {
  // Of tiles: rows of C, by the rank that they go to; or of A, by the rank that they come from.
  using Row = std::vector<std::int64_t>;
  std::vector<std::vector<Row>> rows;  // by rank
  std::vector<Work> works;             // by rank: of a tile
  std::uint32_t columns = 0;           // of tiles
  std::int64_t width = 0;              // of a column, in elements; the last may be narrower
  std::int64_t row_elements = 0;
  std::int64_t element_bytes = 0;
  std::int64_t input_row = 0;        // bytes of a row of A on its way ...
  std::int64_t input_made_from = 0;  // ... and where it comes from
  // Of so many bytes, when fused.
  [[nodiscard]] std::int64_t rows_of_a_piece(Bytes piece) const {
    return std::max<std::int64_t>(1, piece.count() / input_row);
  }
  // Of a row of C, in this column of tiles.
  [[nodiscard]] std::int64_t bytes_of_column(std::uint32_t column) const {
    return std::min(width, row_elements - column * width) * element_bytes;
  }
};

struct Grid {
  std::string name;  // of the operator
  std::uint32_t gpus = 0;
  std::uint32_t per_peer = 0;
  std::uint32_t unit = 1;           // WGs of a peer that are always in the same chunk
  std::uint32_t units_in_turn = 1;  // units of a peer whose results alternate
  std::uint32_t in_a_row = 1;       // WGs of a peer that a plain kernel runs one after another
  bool kernel_a_row = false;        // ... and whether each such row is a plain kernel by itself
  std::uint32_t parts = 1;          // WGs that make one result together (split-k)
  std::int64_t result_bytes = 0;    // of `parts` WGs
  std::int64_t element_bytes = 4;   // of a result that is summed
  std::int64_t input_bytes = 0;     // of a unit, if the input comes from the peers
  WgShape wg;
  Work written;                                // if it leaves its result in its own memory
  Work stored;                                 // if it stores it directly into the peer's memory
  bool persistent = false;                     // the plain kernel's grid is what fits, ...
  WorkList work_list = WorkList::static_list;  // ... and how its WGs share the items
  double jitter = 0;        // each WG's work varies uniformly by +- this fraction
  const char* stream = "";  // of random numbers
  // If its tiles have rows of several peers: these, and none of the numbers by peer above hold.
  std::optional<ScatteredTiles> scattered = {};

  [[nodiscard]] std::uint32_t units() const { return per_peer / unit; }
  [[nodiscard]] std::int64_t bytes_of(std::uint32_t wgs) const {
    return wgs / parts * result_bytes;
  }
  // The unit that a peer's `index`-th WG belongs to.
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t index) const {
    const std::uint32_t first = index / (units_in_turn * unit) * units_in_turn;
    const std::uint32_t in_turn = std::min(units_in_turn, units() - first);
    return first + (index - first * unit) / parts % in_turn;
  }
};

// One logical WG: its peer, and its index among that peer's.
struct Logical {
  std::uint32_t peer;
  std::uint32_t index;
};

// The factor on the WG's work, in units of 2^-20: the same in every mode, since it belongs to the
// WG and not to when it runs.
std::uint32_t scale_of(const Grid& grid, std::uint64_t seed, std::uint32_t gpu, Logical wg);

// The launch gap before any kernel, and before one that computes.
Duration launch_gap(const LaunchSpec& launch, LaunchKind kind);
Duration compute_gap(const LaunchSpec& launch, LaunchKind kind);

// How a version of a kernel differs from the plain kernel running alone.
struct KernelVersion {
  int extra_registers = 0;                               // per thread
  FusedRegisters registers = FusedRegisters::automatic;  // how it is compiled with them
  int most_on_cu = 0;                                    // WGs; 0: as many as fit
  int chain = 0;              // loads that wait for one another; 0: as in the plain kernel
  Bandwidth beside = {};      // what a concurrent collective moves through the L2s
  bool of_a_peer = false;     // there is a kernel for each peer
  bool own_apart = false;     // its own rows are computed before the others' have come
  std::uint32_t in_turn = 1;  // GPUs whose slices alternate (version_of_pair()), ...
  int slice_wgs = 1;          // ... of so many WGs
  int own_first = 0;          // WGs of own input before those in turn
  int chunks = 1;             // kernels that have some of each peer's rows; no more than it has
  bool fences = false;        // a WG that has sent its results fences, which empties its CU's L1
};
KernelVersion fused_version(const FusedOptions& fused);

// How any operator and its collective are run together.
struct OverlapOptions {
  CollectiveOptions collective;
  KernelOptions kernel;
  FusedOptions fused;
  LaunchKind launch = LaunchKind::queue;
  std::uint64_t seed = 0;
};
OverlapOptions overlap_options(const Scenario& scenario);

// The version in this mode: kernel-granular overlap runs plain kernels and collectives at once.
KernelVersion version_in(Mode mode, const OverlapOptions& options, const GpuSpec& gpu);

// The most that all channels of a collective together read and write.
Bandwidth through_channels(const CollectiveSpec& collective);

// What a compiler makes of the registers that this version needs.
struct Compiled {
  int registers = 0;  // per thread
  int spilled = 0;    // of a thread, kept in memory
};
Compiled compiled(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version);

// Adds to both works what spilled registers take.
void add_spills(Grid& grid, const GpuSpec& gpu, const KernelVersion& version);

// WGs of this shape that a CU runs at once.
int resident(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version);
// WGs of this shape that all CUs together run at once.
std::int64_t resident_on_gpu(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version);

// A WG's work to read and write this many bytes of HBM, one after another.
Work copy_work(const GpuSpec& gpu, const WgShape& wg, std::int64_t read, std::int64_t written);

// Adds writes of this many bytes.
void add_writes(Work& work, const GpuSpec& gpu, std::int64_t written);

// The time that the whole memory needs for the work.
Duration memory_time(const Work& work, const GpuSpec& gpu);

// One GPU's kernel. Persistent: the WGs of the grid stay and take items, each of one or several
// tiles or blocks, as the list says.
struct OpKernel {
  struct Run {  // of equal items
    std::uint32_t work = 0;
    std::uint32_t scale = 0;
    std::uint32_t count = 0;
  };
  WgShape wg;
  bool persistent = false;
  WorkList work_list = WorkList::static_list;
  std::vector<Work> works;
  std::vector<Run> runs;
};

// What mode pipelined runs instead of one kernel and one collective.
struct PeerKernels {
  std::optional<OpKernel> part;  // of one peer, where a library chooses it; else the grid's WGs
  OpKernel staging;              // copies what peers fetch to where they can
  OpKernel sum;                  // adds up what has come from all
};

// GPUs that run an operator and its collective together, and what they wait for.
struct Team {
  std::vector<std::uint32_t> gpus;           // by rank
  std::vector<std::vector<KernelId>> after;  // by rank
};

// An operator and its collective, to be added to a task graph for each of these teams.
struct Overlap {
  OverlapOptions options;
  const Cluster& cluster;
  const Grid& grid;  // its `gpus` are those of one team
  CollectiveOp op;
  Travels travels;
  std::vector<Team> teams;
  std::string collective = {};                   // its name
  Bytes from_each = {};                          // what travels from one GPU to one other
  std::optional<PeerKernels> peer_kernels = {};  // of modes that use copy engines
  std::string part = {};                         // of the model: what the operator counts as ...
  std::string collective_part = {};              // ... and what the collective counts as
};

// The last kernels of each team's GPUs, team after team: of the operator and of the collective.
// When fused, they are the same.
struct LastKernels {
  std::vector<KernelId> computing;
  std::vector<KernelId> communicating;
};

// Bulk is one chunk. Kernel-granular overlap cuts the units into `chunks`: while the collective of
// one chunk runs on one stream, the kernel of another one runs on the second.
LastKernels lower_chunked(TaskGraph& graph, const Overlap& overlap, std::uint32_t chunks);

// Peer by peer: while copy engines carry the part of one, the kernel of another's runs.
LastKernels lower_pipelined(TaskGraph& graph, const Overlap& overlap);

// Lowers as the mode says: bulk, kernel, pipelined, fused, role_split or copy_fed.
LastKernels lower_overlap(TaskGraph& graph, const Overlap& overlap, Mode mode);

// Who sends what the WGs of a fused kernel make or need: themselves, between their items; a wave of
// each CU, while the others go on; some WGs, before they compute; WGs on CUs of their own; copy
// engines, which bring input, while
// results that are to be added up are stored by the WGs and added by a kernel afterwards.
enum class Senders : std::uint8_t { wgs, waves, first_wgs, cus, copy_engines };

// WG-granular overlap: one persistent kernel per GPU.
LastKernels lower_fused_producer(TaskGraph& graph, const Overlap& overlap, Senders senders);
LastKernels lower_fused_scatter(TaskGraph& graph, const Overlap& overlap, Senders senders);
LastKernels lower_fused_gather(TaskGraph& graph, const Overlap& overlap, Senders senders);
LastKernels lower_fused_consumer(TaskGraph& graph, const Overlap& overlap, Senders senders);

}  // namespace weft
