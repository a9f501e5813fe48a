#include "sim/scenario/read.h"

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

MemorySpec read_memory(MapReader map) {
  const MemorySpec memory{
      .bandwidth = map.bandwidth("bandwidth", "what streams reach with many WGs, not the peak"),
      .latency = map.duration("latency", "one load on an idle memory system",
                              {kShortestLatency, kHardwareTime.high}),
      .bend = map.number("bend", {1, 1'000}, "exponent of the bend near saturation"),
      .capacity = map.size("capacity", "HBM of one GPU", {bytes(1), kAnySize.high})};
  map.finish();
  return memory;
}

LaunchSpec read_launch(MapReader map) {
  const LaunchSpec launch{
      .host = map.duration("host", "kernel boundary when the host launches the next kernel"),
      .queue = map.duration("queue", "kernel boundary when the next kernel waits in the queue"),
      .graph = map.duration("graph", "kernel boundary between two nodes of a graph"),
      .wg_interval = map.duration("wg_interval", "the dispatcher starts one WG per interval")};
  map.finish();
  return launch;
}

DmaSpec read_dma(MapReader map) {
  const DmaSpec dma{
      .engines = map.count("engines", {1, 1'024}, "copy engines"),
      .rate = map.bandwidth("rate", "what one engine copies"),
      .command = map.duration("command", "fixed cost of one copy: schedule and signal")};
  map.finish();
  return dma;
}

PeerStoreSpec read_peer_store(MapReader map) {
  const PeerStoreSpec store{
      .wg_rate = map.bandwidth("wg_rate", "what one WG's stores to a peer reach alone"),
      .fence = map.duration("fence", "until outstanding stores are known to have arrived"),
      .flag = map.duration("flag", "from a flag's arrival to the waiter seeing it")};
  map.finish();
  return store;
}

CollectiveSpec read_collective(MapReader map) {
  const CollectiveSpec collective{
      .startup = map.duration("startup", "launch of a collective kernel to its first byte"),
      .channels = map.count("channels", {1, 65'536}, "WGs of a collective kernel"),
      .channel_rate = map.bandwidth("channel_rate", "what one of them copies"),
      .chunk = map.size("chunk", "the most that one step of a channel moves",
                        {bytes(1), kAnySize.high})};
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
      .memory = read_memory(map.map("memory", "HBM")),
      .launch = read_launch(map.map("launch", "kernel boundaries")),
      .dma = read_dma(map.map("dma", "copy engines")),
      .peer_store = read_peer_store(map.map("peer_store", "stores into a peer's memory")),
      .collective = read_collective(map.map("collective", "the library's collective kernels"))};
  map.finish();
  return gpu;
}

}  // namespace weft
