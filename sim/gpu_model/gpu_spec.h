// One GPU, as far as the simulator needs it. Plain data; every number comes from a file of
// configs/gpus, which also gives its source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cache/spec.h"
#include "sim/core/quantity.h"
#include "sim/gpu_model/law.h"
#include "sim/plans/algorithms.h"

namespace weft {

// What a CU can hold at once.
struct CuResources {
  int waves = 0;      // wavefronts (warps)
  int registers = 0;  // 32-bit vector registers of the whole CU; a WG takes threads x registers
  Bytes lds;          // local data share (shared memory)
  int wgs = 0;        // WG slots
};

// Rows read at random addresses (docs/model.md, "Gathers").
struct GatherSpec {
  Duration latency;       // of one row on an idle memory system
  Duration doubling;      // added for each doubling of the rows that a thread waits for at once
  Duration cached;        // latency of one row in the L2
  double unfairness = 0;  // how much CUs' speeds spread as demand exceeds the memory's bandwidth
  Bytes l1 = {};          // L1 capacity that holds rows, until one of the CU's WGs fences
};

struct MemorySpec {
  Bandwidth bandwidth;    // what streams reach with many WGs, not the data sheet's peak
  double write_cost = 1;  // time of a written byte, relative to a byte read
  Duration latency;       // of one load on an idle memory system
  Duration doubling;      // added for each doubling of the loads that a thread waits for at once
  double bend = 0;        // saturation exponent (docs/model.md, "Memory")
  Bytes capacity;
  Bytes side_cache;  // a cache in front of the HBM that all dies share; 0: none
};

// The last cache before HBM that all WGs of a die share.
struct L2Spec {
  Bytes capacity;  // of all dies together
  int dies = 0;    // each with an equal part of the capacity; WGs are dealt to them in turn
  int copies = 1;  // kept per die of a line that all its CUs read
  Duration latency;
  Bandwidth bandwidth;  // of all dies together; 0: never the limit
  bool operator==(const L2Spec&) const = default;
};

// Who gets the slot that a WG frees, where kernels of several streams of one priority want it.
enum class Arbitration : std::uint8_t {
  in_order,    // the kernel that started first, until it has no WGs left to start
  round_robin  // one WG of each in turn
};

// The gap between a kernel and the one before it, and how WGs get their slots.
struct LaunchSpec {
  Duration host;         // launched by the host after it saw the previous one end
  Duration queue;        // already waiting in the stream's queue when the previous one ends
  Duration graph;        // node of a graph launched as a whole
  Duration clock;        // in a measured time, but not in a simulated one: the marks at both ends
  Duration ramp;         // added for a kernel that does something, compared to an empty one
  Duration wg_interval;  // the dispatcher starts one WG per interval
  Arbitration arbitration = Arbitration::in_order;
  int mask_step = 1;  // in CUs: masks are multiples of it
};

// Copy engines: they use HBM and links, but neither CUs nor caches.
struct DmaSpec {
  int engines = 0;
  Bandwidth rate;     // of one engine
  Duration host;      // of the CPU thread, per command; commands follow one another
  Duration schedule;  // from the command's arrival at an engine to its first byte
  Duration next;      // the same for a command that was queued after another one
  Duration signal;    // from the last byte to the waiter seeing it
  Duration poll;      // between two looks of an engine at what its command waits for
};

// Release fences of the WGs of a CU: each waits for its own stores; or the CU has one in progress,
// and WGs that fence meanwhile share the next.
enum class Fences : std::uint8_t { independent, one_a_cu };

// Stores of a kernel into a peer's memory.
struct PeerStoreSpec {
  Bandwidth wg_rate;        // what one WG's stores reach alone
  Bandwidth bulk_rate;      // what one WG's bulk copies (TMA) reach alone; 0: there are none
  Bandwidth register_rate;  // of what a WG has in its registers, not a word at a time; 0: unknown
  Duration fence;           // release: until outstanding stores are known to have arrived
  Fences fences = Fences::independent;
  Duration fence_gap;   // one_a_cu: between the ends of two CUs' fences
  Duration fence_more;  // one_a_cu: what each WG that has waited for it adds to a fence
  Duration flag;        // from the flag's arrival to the waiter seeing it (polling)
  Duration swap;        // a flag that is put by compare-and-swap: until the old value is back
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
  few,    // sides are powers of two
  by_16,  // also sides that are multiples of 16, so that one round fills the GPU
};

// Of fp8 GEMMs that add every 128 of k in fp32: how much longer their arithmetic takes, as a
// fraction, by what has a scale of its own. 0: the matrix units' own sums are as good.
struct Fp32SumsSpec {
  double tensor = 0;
  double row = 0;
  double block = 0;       // each 128 elements of A, each 128 x 128 of B
  double two_blocks = 0;  // each 128 elements of A and of B
};

// GEMM kernels of the GPU's library, one WG per CU (docs/model.md, "Library GEMMs").
struct LibraryGemmSpec {
  LibraryTiles tiles = LibraryTiles::few;
  double efficiency = 0;    // fraction of the matrix peak that the loop over k reaches
  Bandwidth load;           // of operands and results, between the L2 and one CU
  int cluster = 1;          // WGs that read the rows of the longer side of their tiles once for all
  Bandwidth store;          // of sums that leave a CU's WG in fp32
  Duration start;           // of a tile: its first operands come, its pipeline fills
  Duration sum;             // of the second kernel, where k is split: adds up the parts
  Duration unaligned{};     // of a tile whose operands allow no bulk copy, beyond `start`
  Duration scaled{};        // of a kernel with fp8 operands: looks up their scales
  Duration grouped{};       // of a kernel for products of several sizes: finds each one's start
  double operand_cost = 1;  // HBM time of an operand's byte, relative to a stream's byte
  Fp32SumsSpec fp32_sums{};
};

// What a library's GEMM has that no scenario says. The defaults are those of a kernel that a
// scenario describes.
struct LibraryKernel {
  Bandwidth load{};   // of operands, between the L2 and one CU; 0: as its loads in flight allow
  double a_cost = 1;  // lines of the L2 that a byte of A touches, relative to aligned rows
  double b_cost = 1;  // the same for B
  int cluster = 1;    // as in LibraryGemmSpec; 1 where rows do not come by bulk copies
  double a_size = 1;  // bytes of an element of A in memory, over those that it is multiplied in
  double b_size = 1;  // the same for B: below 1 for packed weights
  Duration fixed{};   // of a tile, outside its loop over k
  double operand_cost = 1;   // as in LibraryGemmSpec
  int pair = 1;              // rows of tiles launched together, even if the last has nothing to do
  bool accumulates = false;  // adds its result to existing fp32 numbers
  std::int64_t stage = 1;    // bytes of k that it multiplies at once, also where k has fewer left
  bool operator==(const LibraryKernel&) const = default;
};

// FlashAttention-2's kernel of prompts: WGs share a CU, and each waits for its products and its
// softmax in turn (sim/models/flash_prompt.h).
struct FlashPromptSpec {
  double alone = 0;  // fraction of what WGs reach together on a CU that one by itself reaches
  Duration masked;   // of a block under a mask
  Duration ragged;   // the same, more, where tokens do not fill their blocks
};

// Attention kernels of the GPU's libraries, one WG a CU but for FlashAttention-2's (docs/models.md,
// "Kernels").
struct LibraryAttentionSpec {
  double efficiency = 0;           // fraction of the matrix peak that the products reach alone
  double backward_efficiency = 0;  // the same, backward
  FlopRate exponentials;           // of scores, of the whole GPU; backward it takes twice as long
  Duration setup;  // of a kernel: the counter that hands out its blocks is cleared before it
  Duration start;  // of a block: its queries come, its pipeline fills, its result leaves
  Duration backward_start;  // the same for a block of keys, backward
  Duration split_start;     // of a decoding WG, which has a part of the keys
  Duration sum;             // of the second kernel, where keys are split: joins the parts
  std::optional<FlashPromptSpec> flash_2 = {};  // none: kernels with a CU to each WG
};

// How kept keys are read for one new token a sequence, and by which kernel of FlashAttention.
enum class EngineKernel : std::uint8_t { flash_2, flash_2_paged, flash_3 };
struct EngineAttentionSpec {
  EngineKernel kernel{};
  double efficiency = 0;  // fraction of the matrix peak that its products reach, rows without
                          // queries counted
  FlopRate exponentials;  // of scores, of the whole GPU
  Duration start;         // of a WG: its queries come, its pipeline fills, its result leaves
  Duration sum;           // of the second kernel, where keys are split ...
  Duration part;          // ... and for each part, which it adds one after another
  Duration regroup;       // of copies of queries and results, where heads share keys, there are
                          // several such groups and several sequences
};

// Where the power limit holds the clock down (docs/model.md, "Power"), as fractions of the limit.
struct PowerSpec {
  double idle = 0;
  double matrix = 0;    // added while GEMMs of the library run at the clock of short kernels
  double memory = 0;    // added while the HBM is at its bandwidth
  double exponent = 0;  // `matrix` scales with this power of the clock
  // Clock of a large GEMM over that of kernels that do little arithmetic, from its first
  // milliseconds on. Rates of GEMMs have it in them; kernels of collectives beside them slow down.
  double gemm_clock = 1;
  // The same of one that ends within a millisecond. One on few CUs has a higher clock.
  double short_clock = 1;
  Duration window = {};  // over which the mean power is limited
};

// How the channels of a collective synchronise: `ll` sends a flag with every 8 bytes, `ll128` one
// with every 120, `simple` fences and then sets a flag.
enum class Protocol : std::uint8_t { ll, ll128, simple };
constexpr std::size_t kProtocols = 3;

struct ProtocolSpec {
  Duration startup;     // from the kernel's launch to its first byte, plus the last handshake
  Duration step;        // from a step's last byte in the peer's memory to its channel continuing
  Duration handover{};  // between nodes: from a channel's signal to its CPU thread acting on it
  // Payload rate of a channel that copies in or out; and of one that does both. 0: channel_rate,
  // less the protocol's overhead.
  Bandwidth rate;
  Bandwidth relay_rate;
  double of_bytes = 1;  // fraction of these rates without a reduction: gathers, exchanges
  double of_two = 1;    // fraction of `startup` in a node of two ranks: both neighbours are one
  Duration line{};      // `ll`: added to a step if every thread has a line to send, not only one
};

// The library's own estimate of a way to run a collective: start-up + step x steps + bytes / bus.
struct CostSpec {
  Duration startup;
  Duration step;
  Bandwidth bus;  // 0: the library does not have this way
};
using CostTable = std::array<std::array<CostSpec, kProtocols>, kAlgorithmRows.size()>;

// What the library uses for an all-reduce of `nodes` whole nodes or more, up to the next row's: by
// growing buffer size a tree, a tree of the nodes' switches, then rings; and `ll`, then `ll128`,
// then `simple`.
struct BetweenNodesSpec {
  int nodes = 2;
  Bytes tree_up_to;
  Bytes in_switch_tree_up_to;
  Bytes ll_up_to;
  Bytes ll128_up_to;
};

// How the library divides its channels among the peers of an all-to-all in a node. Each peer has
// channels of its own: as many as it would get if all channels were dealt out to all GPUs, the
// sender included.
struct PeerPartSpec {
  Bytes least;         // no channel takes less than this of what goes to a peer ...
  Bytes least_ll;      // ... or than this with protocol `ll`
  Bytes most;          // where a channel would take more, more channels share it
  Bytes chunk;         // what a channel signals at a time
  Bytes ll_up_to;      // per peer and channel: up to this size the protocol is `ll`
  Bandwidth total;     // the most that all channels of a GPU send together
  Duration startup;    // as a protocol's
  Duration step{};     // with `simple`, as a protocol's; 0: that protocol's
  double several = 1;  // a channel with several parts copies so much faster than with one
};

// How the library has a switch add up and copy. A channel takes the parts of all GPUs chunk by
// chunk: `chunk` of each; half of it where that makes fewer than 8 turns, a quarter below 1.
struct InSwitchSpec {
  Duration startup;  // as a protocol's, and until all are ready
  Bytes chunk;
  Duration turn;   // of a channel, for a chunk of one GPU's part, whatever its size ...
  Bandwidth rate;  // ... and by its size
};

// What an inference engine takes for all-reduces of groups of `gpus` GPUs of a node: buffers
// below the first size go by one_shot, below the second by two_shot, below the third by the switch;
// from there on the library does them.
struct EngineRow {
  int gpus = 0;
  Bytes one_shot_below;
  Bytes two_shot_below;
  Bytes in_switch_below;
};

// All-reduce kernels of inference engines (sim/collectives/collective_loads.cc): WGs load what they
// add up from their peers' memory, each thread kLoadBytes at a time from each peer.
struct EngineSpec {
  Duration startup;  // from the launch of such a kernel to its first flag
  Duration load;     // of a peer's memory on idle links, there and back
  Duration fence;    // what a flag with release and acquire takes more than a plain one
  int wgs = 0;       // of the kernel, at most
  int threads = 0;   // of a WG
  std::vector<EngineRow> rows;
  std::optional<InSwitchSpec> in_switch;  // copies into and out of the shared buffer included
};

// The library's collective kernels on this GPU (docs/model.md, "Collective kernels").
struct CollectiveSpec {
  std::array<ProtocolSpec, kProtocols> protocols;
  std::vector<Algorithm> algorithms;        // of the library, for reductions and gathers
  std::vector<Protocol> protocols_in_node;  // by which it may do them in a node
  int channels = 0;                         // WGs of the kernel
  WgShape channel;                          // what one of them needs on its CU
  Bandwidth channel_rate;   // what one of them passes on: receives, adds or copies, and sends
  Bandwidth exchange_rate;  // what one of them sends while it receives as much (all-to-all)
  Bytes chunk;              // the most that one step of a channel moves
  int slices = 1;           // chunks that a channel of a ring sends before it receives the next
  std::optional<CostTable> costs;  // by which it chooses in a node; else by a closed form
  std::vector<BetweenNodesSpec> between_nodes;  // what it uses there; none: the fastest
  std::optional<PeerPartSpec> peer_parts;  // else all channels take pieces for all peers in turn
  std::optional<InSwitchSpec> in_switch;   // else channels move channel_rate, in small pieces
  std::optional<EngineSpec> engine;        // none: no inference engine's all-reduces are known
  Duration spread{};  // from the start of the first of many channels to that of the last
};

struct GpuSpec {
  std::string name;
  int cus = 0;
  int wave_size = 0;  // lanes of a wave
  CuResources cu;
  FlopRate fp32_vector;  // peak of the whole GPU
  FlopRate bf16_matrix;  // peak of its matrix units, dense, bf16 or fp16
  FlopRate fp8_matrix;   // the same, fp8; 0: they have none
  Duration wave_sum;     // to sum a wave's lanes and store the sum, after its last load
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
  std::optional<EngineAttentionSpec> engine_attention = {};
  std::optional<LawErrors> errors = {};  // none: nobody compared its times with measured ones
  std::optional<PowerSpec> power = {};   // none: no power limit, the clock is constant
  // With which the cache model determines what GEMMs read from the HBM; none: by formula.
  std::optional<cache::Hierarchy> caches = {};
};

}  // namespace weft
