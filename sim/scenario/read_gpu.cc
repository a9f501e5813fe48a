#include <array>
#include <utility>

#include "sim/scenario/names.h"
#include "sim/scenario/read.h"
#include "sim/scenario/read_cache.h"

namespace weft {
namespace {

constexpr Duration kShortestLatency = picoseconds(1);  // bytes in flight are divided by it

CuResources read_cu(MapReader map) {
  const CuResources cu{
      .waves = map.count("waves", {1, 1'024}, "wavefronts (warps) resident on one CU"),
      .registers = map.count("registers", {1, 1'000'000'000},
                             "32-bit vector registers of one CU, all lanes together"),
      .lds = map.size("lds", "local data share (shared memory) of one CU"),
      .wgs = map.count("wgs", {1, 1'024}, "work-groups resident on one CU")};
  map.finish();
  return cu;
}

GatherSpec read_gather(MapReader map) {
  const GatherSpec gather{
      .latency = map.duration("latency", "of one row at a random place of the HBM",
                              {kShortestLatency, kHardwareTime.high}),
      .doubling = map.duration("doubling", "more for each doubling of a thread's rows in flight"),
      .cached = map.duration("cached", "of one row in the L2"),
      .unfairness =
          map.number("unfairness", {0, 1}, "spread of CUs' speeds as more is asked of the memory"),
      .l1 = map.size_or("l1", bytes(0),
                        "what of the rows a CU's L1 holds, until one of its WGs fences; 0: nothing",
                        {bytes(0), mebibytes(16)})};
  map.finish();
  return gather;
}

MemorySpec read_memory(MapReader map) {
  MemorySpec memory;
  memory.bandwidth = map.bandwidth("bandwidth", "what streams reach with many WGs, not the peak");
  memory.write_cost =
      map.number_or("write_cost", 1, {1, 100}, "time of a written byte, in bytes read");
  memory.latency = map.duration("latency", "one load on an idle memory system",
                                {kShortestLatency, kHardwareTime.high});
  memory.doubling = map.duration_or("doubling", nanoseconds(0),
                                    "more for each doubling of a thread's loads in flight");
  memory.bend = map.number("bend", {1, 1'000}, "exponent of the bend near saturation");
  memory.capacity = map.size("capacity", "HBM of one GPU", {bytes(1), kAnySize.high});
  memory.side_cache = map.size_or("side_cache", bytes(0), "cache before the HBM; 0 B: none");
  map.finish();
  return memory;
}

L2Spec read_l2(MapReader map) {
  const L2Spec l2{
      .capacity = map.size("capacity", "of all dies of the GPU together"),
      .dies = map.count("dies", {1, 1'024}, "L2s of their own; WGs are dealt to them in turn"),
      .copies =
          map.count_or("copies", 1, {1, 1'024}, "in which a die keeps a line that all CUs read"),
      .latency = map.duration("latency", "of one load that hits"),
      .bandwidth = map.bandwidth_or("bandwidth", Bandwidth{}, "no limit", "of all dies together")};
  map.finish();
  return l2;
}

LaunchSpec read_launch(MapReader map) {
  const LaunchSpec launch{
      .host = map.duration("host", "kernel boundary when the host launches the next kernel"),
      .queue = map.duration("queue", "kernel boundary when the next kernel waits in the queue"),
      .graph = map.duration("graph", "kernel boundary between two nodes of a graph"),
      .clock = map.duration_or("clock", nanoseconds(0),
                               "what measuring adds to a time; weft validate adds it too"),
      .ramp =
          map.duration_or("ramp", nanoseconds(0), "of a compute kernel, more than of an empty one"),
      .wg_interval = map.duration("wg_interval", "the dispatcher starts one WG per interval"),
      .arbitration = map.choice<Arbitration>("arbitration", names::table(names::kArbitrations),
                                             "which stream gets the room that a WG frees")
                         .value_or(Arbitration::in_order),
      .mask_step = map.count("mask_step", {1, 65'536}, "CUs: masks are multiples of it")};
  map.finish();
  return launch;
}

DmaSpec read_dma(MapReader map) {
  const DmaSpec dma{
      .engines = map.count("engines", {1, 1'024}, "copy engines"),
      .rate = map.bandwidth("rate", "what one engine copies"),
      .host = map.duration("host", "the CPU thread's time for one command, one after another"),
      .schedule = map.duration("schedule", "command at an engine to its first byte"),
      .next = map.duration("next", "the same for a command found behind another one"),
      .signal = map.duration("signal", "last byte to the waiter seeing it")};
  map.finish();
  return dma;
}

PeerStoreSpec read_peer_store(MapReader map) {
  const PeerStoreSpec store{
      .wg_rate = map.bandwidth("wg_rate", "what one WG's stores to a peer reach alone"),
      .fence = map.duration("fence", "until outstanding stores are known to have arrived"),
      .fences = map.choice<Fences>("fences", names::table(names::kFences),
                                   "whether WGs of a CU fence apart, or one at a time")
                    .value_or(Fences::independent),
      .fence_gap = map.duration_or("fence_gap", nanoseconds(0),
                                   "between the ends of fences of two CUs, one at a time each"),
      .flag = map.duration("flag", "from a flag's arrival to the waiter seeing it")};
  map.finish();
  return store;
}

// Of `ll128` no rates of its own have been measured; only `ll` unpacks its lines.
ProtocolSpec read_protocol(MapReader map, Protocol which) {
  ProtocolSpec protocol;
  protocol.startup = map.duration("startup", "launch of a collective kernel to its first byte");
  protocol.step =
      map.duration("step", "a step's last byte in the peer's memory to its channel going on");
  if (which != Protocol::ll128) {
    protocol.rate = map.bandwidth_or("rate", Bandwidth{}, "of channel_rate, by what is on the wire",
                                     "payload that a channel copies, in or out");
    protocol.relay_rate = map.bandwidth_or("relay_rate", Bandwidth{}, "as rate",
                                           "payload that a channel takes in and sends on at once");
  }
  if (which == Protocol::ll) {
    protocol.of_bytes = map.number_or("of_bytes", 1, {0.01, 1},
                                      "share of these rates where bytes are moved, not numbers");
  }
  map.finish();
  return protocol;
}

WgShape read_channel(MapReader map) {
  const WgShape wg{.threads = map.count("threads", {1, 1'024}, "threads of a channel"),
                   .registers_per_thread = map.count("registers_per_thread", {1, 4'096},
                                                     "32-bit vector registers of a thread"),
                   .lds = map.size("lds", "local data share of a channel"),
                   .loads_in_flight = 1};
  map.finish();
  return wg;
}

CostSpec read_cost(MapReader map) {
  const CostSpec cost{.startup = map.duration("startup", "whatever the size"),
                      .step = map.duration("step", "for each step"),
                      .bus = map.bandwidth("bus", "that the busiest rank's bytes pass")};
  map.finish();
  return cost;
}

CostTable read_costs(MapReader map) {
  CostTable table{};
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::in_switch}) {
    auto of =
        map.optional_map(names::word(names::kAlgorithms, algorithm), "this algorithm in a node");
    if (!of) continue;
    auto& costs = table.at(static_cast<std::size_t>(algorithm));
    for (const auto& [name, protocol, meaning] : names::kProtocolWords) {
      if (algorithm == Algorithm::in_switch && protocol != Protocol::simple) continue;
      auto by = of->optional_map(name, "by this protocol");
      if (by) costs.at(static_cast<std::size_t>(protocol)) = read_cost(*by);
    }
    of->finish();
  }
  map.finish();
  return table;
}

PeerPartSpec read_peer_parts(MapReader map) {
  const Range<Bytes> some{bytes(1), kAnySize.high};
  const PeerPartSpec parts{
      .least = map.size("least", "no channel takes less of what goes to a peer", some),
      .least_ll = map.size("least_ll", "the same with protocol ll", some),
      .most = map.size("most", "where a channel would take more, more channels share it", some),
      .chunk = map.size("chunk", "what a channel signals at once", some),
      .ll_up_to = map.size("ll_up_to", "to a peer: up to it, times the channels, by ll"),
      .total = map.bandwidth("total", "the most that all channels of a GPU send together"),
      .startup = map.duration("startup", "launch of such a kernel to its first byte")};
  map.finish();
  return parts;
}

CollectiveSpec read_collective(MapReader map) {
  CollectiveSpec collective{
      .protocols = {read_protocol(map.map("ll", "low latency: a flag with every 8 bytes"),
                                  Protocol::ll),
                    read_protocol(map.map("ll128", "a flag with every 120 bytes"), Protocol::ll128),
                    read_protocol(map.map("simple", "fence, then flag"), Protocol::simple)},
      .algorithms = map.choices<Algorithm>("algorithms", names::table(names::kAlgorithms), "[ring]",
                                           "of the library; all-to-all is always direct")
                        .value_or(std::vector{Algorithm::ring}),
      .channels = map.count("channels", {1, 65'536}, "WGs of a collective kernel"),
      .channel = read_channel(map.map("channel", "what one of them asks of its CU")),
      .channel_rate = map.bandwidth("channel_rate", "what one of them passes on"),
      .exchange_rate =
          map.bandwidth("exchange_rate", "what one of them sends while it receives as much"),
      .chunk =
          map.size("chunk", "the most that one step of a channel moves", {bytes(1), kAnySize.high}),
      .slices = map.count_or("slices", 1, {1, 64},
                             "chunks that a ring's channel sends before it takes in the next"),
      .costs = std::nullopt,
      .peer_parts = std::nullopt};
  if (auto costs = map.optional_map("costs", "what the library reckons with when it chooses")) {
    collective.costs = read_costs(*costs);
  }
  if (auto parts = map.optional_map("peer_parts", "an all-to-all's channels are its peers'")) {
    collective.peer_parts = read_peer_parts(*parts);
  }
  map.finish();
  return collective;
}

}  // namespace

GpuSpec read_gpu(MapReader map) {
  GpuSpec gpu{
      .name = map.name("name", "what reports call this GPU"),
      .cus = map.count("cus", {1, 65'536}, "compute units (SMs)"),
      .wave_size = map.count("wave_size", {1, 1'024}, "lanes of a wavefront (warp)"),
      .cu = read_cu(map.map("cu", "what one CU holds")),
      .fp32_vector = map.flop_rate("fp32_vector", "peak of the whole GPU"),
      .bf16_matrix = map.flop_rate("bf16_matrix", "peak of the matrix units, dense, bf16 or fp16"),
      .wave_sum = map.duration("wave_sum", "a wave's lanes added up behind its last load"),
      .memory = read_memory(map.map("memory", "HBM")),
      .l2 = read_l2(map.map("l2", "the last cache before HBM")),
      .gather = {},
      .launch = read_launch(map.map("launch", "kernel boundaries")),
      .dma = read_dma(map.map("dma", "copy engines")),
      .peer_store = read_peer_store(map.map("peer_store", "stores into a peer's memory")),
      .collective = read_collective(map.map("collective", "the library's collective kernels"))};
  // Not given: a row takes as long as any load.
  gpu.gather = {.latency = gpu.memory.latency, .doubling = {}, .cached = gpu.l2.latency};
  if (auto gather = map.optional_map("gather", "rows at random places")) {
    gpu.gather = read_gather(*gather);
  }
  if (auto caches = map.optional_map("caches",
                                     "by which the cache model says what GEMMs read,"
                                     " for example {base: cache/machines/h200}")) {
    gpu.caches = read_cache_machine(*caches);
    if (gpu.caches->cus != gpu.cus && !map.reading().describes()) {
      map.reading().error_at_key(caches->path_of("cus"),
                                 "must be those of the GPU, " + std::to_string(gpu.cus));
    }
  }
  map.finish();
  return gpu;
}

}  // namespace weft
