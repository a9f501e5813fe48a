#include "sim/gpu_model/gpu_fields.h"

#include <array>
#include <string>

#include "sim/cache/machine_fields.h"

namespace weft {
namespace {

constexpr std::array kArbitrations = {
    Choice<Arbitration>{"in_order", Arbitration::in_order,
                        "the kernel that started first, until its last WG is placed"},
    Choice<Arbitration>{"round_robin", Arbitration::round_robin, "one WG from each in turn"},
};
constexpr std::array kLibraryTiles = {
    Choice<LibraryTiles>{"few", LibraryTiles::few, "sides of powers of two, 16 to 256"},
    Choice<LibraryTiles>{
        "by_16", LibraryTiles::by_16,
        "also sides that are multiples of 16, so that one round fills the GPU; WGs stay and "
        "take tiles from a counter, the first by their number"},
};
constexpr std::array kEngineKernels = {
    Choice<EngineKernel>{"flash_2", EngineKernel::flash_2, "FlashAttention-2, as PyTorch has it"},
    Choice<EngineKernel>{"flash_2_paged", EngineKernel::flash_2_paged,
                         "the same for keys in pages, as vLLM has it"},
    Choice<EngineKernel>{"flash_3", EngineKernel::flash_3,
                         "FlashAttention-3, as vLLM and SGLang have it on Hopper"},
};
constexpr std::array kFences = {
    Choice<Fences>{"independent", Fences::independent, "each WG waits for its own stores"},
    Choice<Fences>{"one_a_cu", Fences::one_a_cu,
                   "a CU has one fence in progress; WGs that fence meanwhile share the next"},
};

// Above 0, because bytes in flight are divided by it.
constexpr Range<Duration> kLatency{picoseconds(1), kHardwareTime.high};

}  // namespace

static void fields(Fields& map, CuResources& cu) {
  map.add("waves", cu.waves,
          {.help = "wavefronts (warps) resident on one CU", .range = {{1, 1'024}}});
  map.add("registers", cu.registers,
          {.help = "32-bit vector registers of one CU, for all lanes together"});
  map.add("lds", cu.lds, {.help = "local data share (shared memory) of one CU"});
  map.add("wgs", cu.wgs, {.help = "work-groups resident on one CU", .range = {{1, 1'024}}});
}

static void fields(Fields& map, MemorySpec& memory) {
  map.add("bandwidth", memory.bandwidth,
          {.help = "bandwidth that streams reach with many WGs, not the peak"});
  map.add("write_cost", memory.write_cost,
          {.help = "cost of a written byte, relative to a byte read",
           .range = {{1, 100}},
           .fallback = 1});
  map.add("latency", memory.latency,
          {.help = "latency of one load on an idle memory system", .range = kLatency});
  map.add("doubling", memory.doubling,
          {.help = "latency per doubling: added each time a thread's loads in flight double",
           .fallback = nanoseconds(0)});
  map.add("bend", memory.bend,
          {.help = "saturation exponent: higher is a sharper corner near full bandwidth",
           .range = {{1, 1'000}}});
  map.add("capacity", memory.capacity,
          {.help = "HBM capacity of one GPU", .range = {{bytes(1), kAnySize.high}}});
  map.add("side_cache", memory.side_cache,
          {.help = "memory-side cache between L2 and HBM; 0 B: none", .fallback = bytes(0)});
}

static void fields(Fields& map, L2Spec& l2) {
  map.add("capacity", l2.capacity, {.help = "capacity of all dies together"});
  map.add("dies", l2.dies,
          {.help = "dies with an L2 each; WGs are distributed over them in turn",
           .range = {{1, 1'024}}});
  map.add("copies", l2.copies,
          {.help = "copies of a line that all CUs read, per die",
           .range = {{1, 1'024}},
           .fallback = 1});
  map.add("latency", l2.latency, {.help = "latency of one load that hits"});
  map.add("bandwidth", l2.bandwidth,
          {.help = "bandwidth of all dies together",
           .fallback = Bandwidth{},
           .means = "unlimited",
           .quiet = true});
}

static void fields(Fields& map, GatherSpec& gather) {
  map.add("latency", gather.latency,
          {.help = "latency of one row at a random HBM address", .range = kLatency});
  map.add("doubling", gather.doubling,
          {.help = "added latency each time a thread's rows in flight double"});
  map.add("cached", gather.cached, {.help = "latency of one row in the L2"});
  map.add("unfairness", gather.unfairness,
          {.help = "how much CUs' speeds spread as demand exceeds the memory's bandwidth",
           .range = {{0, 1}}});
  map.add("l1", gather.l1,
          {.help = "L1 capacity that holds rows of a CU until one of its WGs fences; 0: none",
           .range = {{bytes(0), mebibytes(16)}},
           .fallback = bytes(0)});
}

static void fields(Fields& map, LaunchSpec& launch) {
  map.add("host", launch.host, {.help = "kernel boundary if the host launches the next kernel"});
  map.add("queue", launch.queue, {.help = "kernel boundary if the next kernel waits in the queue"});
  map.add("graph", launch.graph, {.help = "kernel boundary between two nodes of a graph"});
  map.add("clock", launch.clock,
          {.help = "what the measurement itself adds to a time; weft validate adds it as well",
           .fallback = nanoseconds(0)});
  map.add("ramp", launch.ramp,
          {.help = "how much longer a compute kernel takes to start than an empty one",
           .fallback = nanoseconds(0)});
  map.add("wg_interval", launch.wg_interval, {.help = "the dispatcher starts one WG per interval"});
  map.choice("arbitration", launch.arbitration, kArbitrations,
             {.help = "which stream gets a slot that a WG frees"});
  map.add("mask_step", launch.mask_step,
          {.help = "granularity of CU masks, in CUs", .range = {{1, 65'536}}});
}

static void fields(Fields& map, DmaSpec& dma) {
  map.add("engines", dma.engines, {.help = "copy engines", .range = {{1, 1'024}}});
  map.add("rate", dma.rate, {.help = "bandwidth of one engine"});
  map.add("host", dma.host, {.help = "the CPU thread's time for each command"});
  map.add("schedule", dma.schedule,
          {.help = "from a command's arrival at an engine to its first byte"});
  map.add("next", dma.next, {.help = "the same for a command that was queued after another"});
  map.add("signal", dma.signal, {.help = "from the last byte to the waiter seeing it"});
  map.add(
      "poll", dma.poll,
      {.help = "a copy engine looks so often whether the kernel before a copy has ended, so that "
               "copies begin anywhere in this range around schedule (at most twice that): those of "
               "several GPUs, spread evenly over it (modes pipelined and copy_fed)",
       .fallback = nanoseconds(0)});
}

static void fields(Fields& map, PeerStoreSpec& store) {
  map.add("wg_rate", store.wg_rate, {.help = "bandwidth of one WG's stores to a peer, alone"});
  map.add("bulk_rate", store.bulk_rate,
          {.help = "bandwidth of one WG's or wave's bulk copies to a peer (TMA), if it only sends: "
                   "role_split, fused.sent_by: wave",
           .fallback = Bandwidth{},
           .means = "wg_rate",
           .quiet = true});
  map.add("register_rate", store.register_rate,
          {.help = "the same of a WG that stores what it has in its registers, as one that loads "
                   "several words of each thread before it stores them: fused.sending_wgs",
           .fallback = Bandwidth{},
           .means = "wg_rate",
           .quiet = true});
  map.add("fence", store.fence,
          {.help = "time until outstanding stores are known to have arrived"});
  map.choice("fences", store.fences, kFences,
             {.help = "whether the WGs of a CU fence independently or one at a time"});
  map.add("fence_gap", store.fence_gap,
          {.help = "least time between the ends of two CUs' fences", .fallback = nanoseconds(0)});
  map.add(
      "fence_more", store.fence_more,
      {.help = "fences: one_a_cu: what each WG that has waited for the CU's next fence adds to it",
       .fallback = nanoseconds(0)});
  map.add("flag", store.flag, {.help = "from a flag's arrival to the waiter seeing it"});
  map.add(
      "swap", store.swap,
      {.help = "what a barrier between GPUs takes longer than a fence and a flag (modes pipelined "
               "and copy_fed): it sets and takes its flags by compare-and-swap, 2.2 us on an H100",
       .fallback = nanoseconds(0)});
}

static void fields(Fields& map, Fp32SumsSpec& sums) {
  constexpr Range<double> kLonger{0, 4};
  map.add("tensor", sums.tensor,
          {.help = "a scale for each tensor", .range = kLonger, .fallback = 0.0});
  map.add("row", sums.row, {.help = "a scale for each row", .range = kLonger, .fallback = 0.0});
  map.add("block", sums.block,
          {.help = "a scale for each 128 elements of A, each 128 x 128 of B",
           .range = kLonger,
           .fallback = 0.0});
  map.add(
      "two_blocks", sums.two_blocks,
      {.help = "a scale for each 128 elements of A and of B", .range = kLonger, .fallback = 0.0});
}

static void fields(Fields& map, LibraryGemmSpec& gemm) {
  map.choice("tiles", gemm.tiles, kLibraryTiles, {.help = "tiles that the library has"});
  map.add(
      "efficiency", gemm.efficiency,
      {.help = "fraction of the matrix peak that the loop over k reaches", .range = {{0.01, 1}}});
  map.add("load", gemm.load, {.help = "bandwidth between the L2 and one CU"});
  map.add("cluster", gemm.cluster,
          {.help = "WGs with a common longer side of their tiles, whose rows the L2 reads once for "
                   "all of them (multicast)",
           .range = {{1, 16}},
           .fallback = 1});
  map.add("store", gemm.store, {.help = "bandwidth at which sums leave a CU in fp32"});
  map.add("start", gemm.start, {.help = "time of a tile before and after its loop over k"});
  map.add("sum", gemm.sum, {.help = "time of the second kernel that sums the parts of a split k"});
  map.add("unaligned", gemm.unaligned,
          {.help = "time added to `start` if an operand's rows are not a multiple of 16 B",
           .fallback = Duration{}});
  map.add(
      "scaled", gemm.scaled,
      {.help = "time before the first tile of a kernel with fp8 operands", .fallback = Duration{}});
  map.add("grouped", gemm.grouped,
          {.help = "time before the first tile of a kernel of products of several sizes (experts)",
           .fallback = Duration{}});
  map.add("operand_cost", gemm.operand_cost,
          {.help = "cost of an operand's byte in HBM, relative to a stream's",
           .range = {{1, 10}},
           .fallback = 1});
  map.map_of_defaults(
      "fp32_sums",
      "fp8 GEMMs that add every 128 of k in fp32: how much longer their arithmetic takes",
      [&](Fields& inner) { fields(inner, gemm.fp32_sums); });
}

static void fields(Fields& map, FlashPromptSpec& flash) {
  map.add("alone", flash.alone,
          {.help = "fraction of what WGs reach together on a CU that one by itself reaches",
           .range = {{0.01, 1}}});
  map.add("masked", flash.masked, {.help = "time added to a WG's block under a mask"});
  map.add("ragged", flash.ragged,
          {.help = "the same, more, where tokens do not fill their blocks: masked steps are "
                   "unrolled code"});
}

static void fields(Fields& map, LibraryAttentionSpec& attention) {
  map.add(
      "efficiency", attention.efficiency,
      {.help = "fraction of the matrix peak that the products reach alone", .range = {{0.01, 1}}});
  map.add("backward_efficiency", attention.backward_efficiency,
          {.help = "the same, backward", .range = {{0.01, 1}}});
  map.add("exponentials", attention.exponentials,
          {.help = "rate of scores that pass the softmax, of the whole GPU"});
  map.add("setup", attention.setup, {.help = "time of a kernel before its first block"});
  map.add("start", attention.start, {.help = "time of a WG before and after its loop over keys"});
  map.add("backward_start", attention.backward_start, {.help = "the same, backward"});
  map.add("split_start", attention.split_start,
          {.help = "time of a decoding WG before and after its loop over keys"});
  map.add("sum", attention.sum, {.help = "time of the second kernel that joins split keys"});
  map.optional_map("flash_2", attention.flash_2,
                   "prompts by FlashAttention-2's kernel: several WGs share a CU");
}

static void fields(Fields& map, EngineAttentionSpec& attention) {
  map.choice("kernel", attention.kernel, kEngineKernels, {.help = "which of them"});
  map.add("efficiency", attention.efficiency,
          {.help = "fraction of the matrix peak that its products reach, with the rows of its tile "
                   "that have no query",
           .range = {{0.01, 1}}});
  map.add("exponentials", attention.exponentials,
          {.help = "rate of scores that pass the softmax, of the whole GPU"});
  map.add("start", attention.start, {.help = "time of a WG before and after its loop over keys"});
  map.add("sum", attention.sum, {.help = "time of the second kernel that joins split keys"});
  map.add("part", attention.part, {.help = "time of that kernel for each part of the keys"});
  map.add("regroup", attention.regroup,
          {.help = "time of copies that put heads that share keys next to one another, for several "
                   "sequences",
           .fallback = Duration{}});
}

static void fields(Fields& map, LawError& error) {
  constexpr Range<double> kFactors{0.1, 10};
  map.add(
      "low", error.low,
      {.help = "the tenth part of measured times was below this, of weft's", .range = kFactors});
  map.add("median", error.median, {.help = "half of them", .range = kFactors});
  map.add("high", error.high, {.help = "nine of ten", .range = kFactors});
  if (map.writes() || map.describes()) return;
  if (error.low > error.median || error.median > error.high) {
    map.fail("median", "must not be below low or above high");
  }
}

static void fields(Fields& map, PowerSpec& power) {
  map.add("idle", power.idle, {.help = "power of an idle GPU / power limit", .range = {{0, 1}}});
  map.add(
      "matrix", power.matrix,
      {.help =
           "power added while the library's GEMMs run at the clock of short kernels / power limit",
       .range = {{0, 10}}});
  map.add(
      "memory", power.memory,
      {.help = "power added while the HBM is at its bandwidth / power limit", .range = {{0, 1}}});
  map.add("exponent", power.exponent,
          {.help = "`matrix` is proportional to the clock to this power", .range = {{1, 4}}});
  map.add("gemm_clock", power.gemm_clock,
          {.help = "clock of a large GEMM of milliseconds / clock of kernels with little "
                   "arithmetic; concurrent kernels of collectives are slower by it",
           .range = {{0.1, 1}},
           .fallback = 1.0});
  map.add("short_clock", power.short_clock,
          {.help = "the same of one that ends within a millisecond; one on few CUs has up to 1 / "
                   "this of its clock",
           .range = {{0.1, 1}},
           .fallback = 1});
  map.add("window", power.window,
          {.help = "time over which the limit holds for the mean power, which lets a GPU that was "
                   "idle be above it; 0: at no time",
           .range = {{Duration{}, microseconds(10'000'000)}},
           .fallback = Duration{}});
}

namespace {

void errors_fields(Fields& map, LawErrors& errors) {
  for (std::size_t i = 0; i < kLaws.size(); ++i) {
    map.map(kLaws[i].name, errors[i], kLaws[i].meaning);
  }
}

// If not given, a row takes as long as any load.

void gather_fields(Fields& map, GpuSpec& gpu) {
  std::optional<GatherSpec> gather;
  if (map.writes()) gather = gpu.gather;
  map.optional_map("gather", gather, "reads of rows at random addresses");
  if (map.writes()) return;
  gpu.gather = gather.value_or(
      GatherSpec{.latency = gpu.memory.latency, .doubling = {}, .cached = gpu.l2.latency});
}

void cache_fields(Fields& map, GpuSpec& gpu) {
  map.optional_map("caches", gpu.caches,
                   "machine of the cache model that determines what GEMMs read, for example {base: "
                   "cache/machines/h200}",
                   [&gpu](Fields& inner, cache::Hierarchy& machine) {
                     fields(inner, machine);
                     if (inner.writes() || inner.describes() || machine.cus == gpu.cus) return;
                     inner.fail("cus", "must be those of the GPU, " + std::to_string(gpu.cus));
                   });
}

}  // namespace

void fields(Fields& map, GpuSpec& gpu) {
  map.name("name", gpu.name, "what reports call this GPU");
  map.add("cus", gpu.cus, {.help = "compute units (SMs)", .range = {{1, 65'536}}});
  map.add("wave_size", gpu.wave_size,
          {.help = "lanes of a wavefront (warp)", .range = {{1, 1'024}}});
  map.map("cu", gpu.cu, "what one CU holds");
  map.add("fp32_vector", gpu.fp32_vector, {.help = "peak fp32 vector rate of the whole GPU"});
  map.add("bf16_matrix", gpu.bf16_matrix, {.help = "peak matrix rate, dense, bf16 or fp16"});
  map.add("fp8_matrix", gpu.fp8_matrix,
          {.help = "peak matrix rate, dense, fp8; 0: its matrix units have no fp8",
           .range = {{FlopRate{}, FlopRate::from_count(1'000'000'000'000'000'000)}},
           .fallback = FlopRate{}});
  map.add("wave_sum", gpu.wave_sum, {.help = "time to sum a wave's lanes after its last load"});
  map.map("memory", gpu.memory, "HBM");
  map.map("l2", gpu.l2, "L2, the last cache of a die");
  gather_fields(map, gpu);
  cache_fields(map, gpu);
  map.map("launch", gpu.launch, "times at kernel boundaries");
  map.map("dma", gpu.dma, "copy engines");
  map.map("peer_store", gpu.peer_store, "stores into a peer's memory");
  map.map("collective", gpu.collective, "the library's collective kernels");
  map.optional_map("library_gemm", gpu.library_gemm, "GEMM kernels of the GPU's library");
  map.optional_map("library_attention", gpu.library_attention,
                   "attention kernels of the GPU's libraries");
  map.optional_map("engine_attention", gpu.engine_attention,
                   "attention kernels of inference engines for one new token a sequence; default: "
                   "the library's");
  map.optional_map("errors", gpu.errors,
                   "measured times / what weft says, by what takes the time; for `--range`",
                   errors_fields);
  map.optional_map("power", gpu.power,
                   "how the power limit lowers the clock; default: it does not");
}

}  // namespace weft
