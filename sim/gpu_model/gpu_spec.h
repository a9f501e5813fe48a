// What one GPU is, as far as the simulator asks. Plain data; every number comes from a file of
// configs/gpus, where it stands with its source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cache/spec.h"
#include "sim/core/quantity.h"
#include "sim/plans/algorithms.h"

namespace weft {

// What a CU can hold at once, and what one work-group (WG) of a kernel asks of it.
struct CuResources {
  int waves = 0;      // wavefronts (warps)
  int registers = 0;  // 32-bit vector registers of the whole CU; a WG takes threads x registers
  Bytes lds;          // local data share (shared memory)
  int wgs = 0;        // WG slots
};

// Rows read at random places (docs/model.md, "Gathers").
struct GatherSpec {
  Duration latency;       // of one row on an idle memory system
  Duration doubling;      // more for each doubling of the rows that a thread waits for at once
  Duration cached;        // the same of a row in the L2
  double unfairness = 0;  // how much CUs' speeds spread as more is asked of the memory
  Bytes l1 = {};          // what of the rows a CU's L1 holds, until one of its WGs fences
};

struct MemorySpec {
  Bandwidth bandwidth;    // what streams reach with many WGs, not the data sheet's peak
  double write_cost = 1;  // time of a written byte, in those read
  Duration latency;       // of one load on an idle memory system
  Duration doubling;      // more for each doubling of the loads that a thread waits for at once
  double bend = 0;        // exponent of the bend near saturation (docs/model.md, "Memory")
  Bytes capacity;
  Bytes side_cache;  // a cache in front of the HBM that all dies share; 0: none
};

// The last cache before HBM that all WGs of a die share.
struct L2Spec {
  Bytes capacity;  // of all dies together
  int dies = 0;    // each with its part of the capacity; WGs are dealt to them in turn
  int copies = 1;  // in which a line is kept that all CUs of a die read
  Duration latency;
  Bandwidth bandwidth;  // of all dies together; 0: never the limit
  bool operator==(const L2Spec&) const = default;
};

// Who gets the room that a WG frees, where kernels of several streams of one priority want it.
enum class Arbitration : std::uint8_t {
  in_order,    // the kernel that started first, until it has no WGs left to start
  round_robin  // one WG of each in turn
};

// What stands between a kernel and the one before it, and how WGs get their places.
struct LaunchSpec {
  Duration host;         // launched by the host after it saw the previous one end
  Duration queue;        // already waiting in the stream's queue when the previous one ends
  Duration graph;        // node of a graph launched as a whole
  Duration clock;        // in a measured time, but not in a simulated one: the marks at both ends
  Duration ramp;         // of a kernel that does something more than of an empty one
  Duration wg_interval;  // the dispatcher starts one WG per interval
  Arbitration arbitration = Arbitration::in_order;
  int mask_step = 1;  // CUs: masks are multiples of it
};

// Copy engines: they use neither CUs nor caches, but HBM and links.
struct DmaSpec {
  int engines = 0;
  Bandwidth rate;     // of one engine
  Duration host;      // of the CPU thread, for one command, one after another
  Duration schedule;  // from the command's arrival at an engine to its first byte
  Duration next;      // the same for a command that the engine finds behind another one
  Duration signal;    // from the last byte to the waiter seeing it
};

// Release fences of the WGs of a CU: each waits for its own stores; or the CU has one under way,
// and those that come meanwhile share the next.
enum class Fences : std::uint8_t { independent, one_a_cu };

// Stores of a kernel into a peer's memory.
struct PeerStoreSpec {
  Bandwidth wg_rate;  // what one WG's stores reach alone
  Duration fence;     // release: until what is outstanding is known to have arrived
  Fences fences = Fences::independent;
  Duration fence_gap;  // one_a_cu: between the ends of two CUs' fences
  Duration flag;       // from the flag's arrival to the waiter seeing it (polling)
};

constexpr std::int64_t kLoadBytes = 16;  // one load of one thread

// What a WG of a kernel asks of its CU.
struct WgShape {
  int threads = 0;
  int registers_per_thread = 0;
  Bytes lds;
  int loads_in_flight = 0;  // loads of kLoadBytes each thread keeps outstanding
  bool operator==(const WgShape&) const = default;
};

// The tiles that a library's GEMM kernels come in.
enum class LibraryTiles : std::uint8_t {
  few,    // sides of powers of two
  by_16,  // as many more, whose sides are multiples of 16: they fill the GPU with one round
};

// GEMM kernels of the GPU's library, one WG a CU (docs/model.md, "Library GEMMs").
struct LibraryGemmSpec {
  LibraryTiles tiles = LibraryTiles::few;
  double efficiency = 0;    // of the matrix peak, which the loop over k reaches
  Bandwidth load;           // of operands and results, between the L2 and one CU
  Bandwidth store;          // of sums that leave a CU's WG in fp32
  Duration start;           // of a tile: its first operands come, its pipeline fills
  Duration sum;             // the second kernel, where k is split: adds up the parts
  double operand_cost = 1;  // time of an operand's byte in the HBM, in those of a stream
};

// Attention kernels of the GPU's libraries, one WG a CU (docs/models.md, "Kernels").
struct LibraryAttentionSpec {
  double efficiency = 0;           // of the matrix peak, that the products reach by themselves
  double backward_efficiency = 0;  // the same, backward
  FlopRate exponentials;           // of scores, of the whole GPU; backward it takes twice as long
  Duration setup;  // of a kernel: the counter that hands out its blocks is cleared before it
  Duration start;  // of a block: its queries come, its pipeline fills, its result leaves
  Duration backward_start;  // the same of a block of keys, backward
  Duration split_start;     // of a WG that decodes: it has a part of the keys
  Duration sum;             // the second kernel, where keys are split: joins the parts
};

// Where the power limit holds the clock down (docs/model.md, "Power"), as fractions of the limit.
struct PowerSpec {
  double idle = 0;
  double matrix = 0;    // more while GEMMs of the library run at the clock of short kernels
  double memory = 0;    // more while the HBM is at its bandwidth
  double exponent = 0;  // `matrix` goes with this power of the clock
};

// How the channels of a collective synchronise: `ll` sends a flag with every 8 bytes, `ll128` one
// with every 120, `simple` fences and then sets a flag.
enum class Protocol : std::uint8_t { ll, ll128, simple };
constexpr std::size_t kProtocols = 3;

struct ProtocolSpec {
  Duration startup;     // launch of the kernel to its first byte moving, and the last handshake
  Duration step;        // from the last byte of a step in the peer's memory to its channel going on
  Duration handover{};  // between nodes: from a channel's word to its CPU thread taking it up
  // Payload that a channel copies, in or out; and while it does both. 0: channel_rate of the wire.
  Bandwidth rate;
  Bandwidth relay_rate;
  double of_bytes = 1;  // share of it where single bytes are moved, not numbers: gathers, exchanges
  Duration line{};      // `ll`: more in a step whose every thread has a line, not only one thread
};

// What the library reckons that a way to run a collective costs: start-up + step x steps + bytes /
// bus.
struct CostSpec {
  Duration startup;
  Duration step;
  Bandwidth bus;  // 0: the library does not have this way
};
using CostTable = std::array<std::array<CostSpec, kProtocols>, kAlgorithmRows.size()>;

// What the library takes for an all-reduce of so many whole nodes or more, up to the next row's: a
// tree or, for larger buffers, a tree of the nodes' switches, then rings; `ll`, then `ll128`, then
// `simple`.
struct BetweenNodesSpec {
  int nodes = 2;
  Bytes tree_up_to;
  Bytes in_switch_tree_up_to;
  Bytes ll_up_to;
  Bytes ll128_up_to;
};

// How the library divides its channels among the peers of an all-to-all in a node. Each peer has
// channels of its own: as many as it would get if all channels were dealt out, itself included.
struct PeerPartSpec {
  Bytes least;       // no channel takes less of what goes to a peer ...
  Bytes least_ll;    // ... with protocol `ll`
  Bytes most;        // where a channel would take more, more channels share it
  Bytes chunk;       // what a channel signals at once
  Bytes ll_up_to;    // to a peer: below it, times the channels, the protocol is `ll`
  Bandwidth total;   // the most that all channels of a GPU send together
  Duration startup;  // as a protocol's
  Duration step{};   // with `simple`, as a protocol's; 0: that protocol's
};

// How the library has a switch add up and copy. A channel takes chunk by chunk of the parts of all
// GPUs: `chunk` of each; half of it where that makes fewer than 8 turns, a quarter below 1.
struct InSwitchSpec {
  Duration startup;  // as a protocol's, and until all are ready
  Bytes chunk;
  Duration turn;   // of a channel, for a chunk of one GPU's part, whatever its size ...
  Bandwidth rate;  // ... and by its size
};

// The library's collective kernels on this GPU (docs/model.md, "Collective kernels").
struct CollectiveSpec {
  std::array<ProtocolSpec, kProtocols> protocols;
  std::vector<Algorithm> algorithms;        // of the library, for reductions and gathers
  std::vector<Protocol> protocols_in_node;  // by which it may do them in a node
  int channels = 0;                         // WGs of the kernel
  WgShape channel;                          // what one of them asks of its CU
  Bandwidth channel_rate;   // what one of them passes on: receives, adds or copies, and sends
  Bandwidth exchange_rate;  // what one of them sends while it receives as much (all-to-all)
  Bytes chunk;              // the most that one step of a channel moves
  int slices = 1;           // chunks that a channel of a ring sends before it takes in the next
  std::optional<CostTable> costs;  // in a node: by which it chooses; else a closed form
  std::vector<BetweenNodesSpec> between_nodes;  // what it takes there; none: the fastest
  std::optional<PeerPartSpec> peer_parts;  // else all channels take pieces for all peers in turn
  std::optional<InSwitchSpec> in_switch;   // else channels move channel_rate, in small pieces
  Duration spread{};  // between the first and the last of many channels to start
};

struct GpuSpec {
  std::string name;
  int cus = 0;
  int wave_size = 0;  // lanes of a wave
  CuResources cu;
  FlopRate fp32_vector;  // peak of the whole GPU
  FlopRate bf16_matrix;  // peak of its matrix units, dense, bf16 or fp16
  Duration wave_sum;     // a wave's lanes added up and stored, behind its last load
  MemorySpec memory;
  L2Spec l2;
  GatherSpec gather;
  LaunchSpec launch;
  DmaSpec dma;
  PeerStoreSpec peer_store;
  CollectiveSpec collective;
  // None: nobody has measured its kernels.
  std::optional<LibraryGemmSpec> library_gemm = {};
  std::optional<LibraryAttentionSpec> library_attention = {};
  std::optional<PowerSpec> power = {};  // none: the clock stays
  // By which the cache model says what kernels read from the HBM; none: formulas say it.
  std::optional<cache::Hierarchy> caches = {};
};

}  // namespace weft
