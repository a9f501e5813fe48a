// The keys of the library's collective kernels.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/gpu_model/gpu_fields.h"
#include "sim/gpu_model/gpu_words.h"

namespace weft {
namespace {

// `ll128` has no measured rates of its own; only `ll` unpacks its lines.
void protocol_fields(Fields& map, ProtocolSpec& protocol, Protocol which) {
  map.add("startup", protocol.startup,
          {.help = "from the launch of a collective kernel to its first byte"});
  map.add(
      "step", protocol.step,
      {.help = "from a step's last byte in the peer's memory to the peer's channel continuing"});
  map.add("handover", protocol.handover,
          {.help = "between nodes: from a channel's request until its CPU thread takes it up",
           .fallback = nanoseconds(0),
           .quiet = true});
  if (which != Protocol::ll128) {
    map.add("rate", protocol.rate,
            {.help = "payload rate of a channel that copies in or out",
             .fallback = Bandwidth{},
             .means = "channel_rate, less the protocol's overhead",
             .quiet = true});
    map.add("relay_rate", protocol.relay_rate,
            {.help = "payload rate of a channel that receives and forwards",
             .fallback = Bandwidth{},
             .means = "same as rate",
             .quiet = true});
  }
  if (which != Protocol::ll128) {
    map.add("of_bytes", protocol.of_bytes,
            {.help = "fraction of these rates for collectives without a reduction",
             .range = {{0.01, 1}},
             .fallback = 1,
             .quiet = true});
  }
  if (which == Protocol::simple) {
    map.add("of_two", protocol.of_two,
            {.help = "fraction of startup where two GPUs of a node are the only ranks, each both "
                     "neighbours of the other",
             .range = {{0.01, 1}},
             .fallback = 1,
             .quiet = true});
  }
  if (which == Protocol::ll) {
    map.add("line", protocol.line,
            {.help = "how much longer a step is if every thread of a channel has a line to send",
             .fallback = nanoseconds(0),
             .quiet = true});
  }
}

void channel_fields(Fields& map, WgShape& channel) {
  map.add("threads", channel.threads, {.help = "threads of a channel", .range = {{1, 1'024}}});
  map.add("registers_per_thread", channel.registers_per_thread,
          {.help = "32-bit vector registers of a thread", .range = kRegistersPerThread});
  map.add("lds", channel.lds, {.help = "local data share of a channel"});
  channel.loads_in_flight = 1;
}

}  // namespace

static void fields(Fields& map, CostSpec& cost) {
  map.add("startup", cost.startup, {.help = "fixed part of the time"});
  map.add("step", cost.step, {.help = "time of each step"});
  map.add("bus", cost.bus, {.help = "bus bandwidth: bytes of the busiest rank per second"});
}

namespace {

using Costs = CostTable::value_type;  // of one algorithm, by protocol

bool has(const CostSpec& cost) { return cost.bus.count() > 0; }

// What is written for an entry of the table: nothing where the library does not have it.
template <class Entry, class Has>
std::optional<Entry> if_it(const Fields& map, const Entry& entry, Has it_has) {
  return map.writes() && it_has(entry) ? std::optional(entry) : std::nullopt;
}

void costs_of_algorithm(Fields& map, Costs& costs, Algorithm algorithm) {
  for (const auto& [name, protocol, meaning] : names::kProtocolWords) {
    if (by_switches(algorithm) && protocol != Protocol::simple) continue;
    CostSpec& entry = costs.at(static_cast<std::size_t>(protocol));
    std::optional<CostSpec> cost = if_it(map, entry, has);
    map.optional_map(name, cost, "with this protocol",
                     [](Fields& inner, CostSpec& spec) { fields(inner, spec); });
    if (cost) entry = *cost;
  }
}

void cost_fields(Fields& map, CostTable& table) {
  for (const AlgorithmRow& row : kAlgorithmRows) {
    const std::string_view help = row.costs;
    if (help.empty()) continue;
    Costs& entry = table.at(static_cast<std::size_t>(row.algorithm));
    std::optional<Costs> costs =
        if_it(map, entry, [](const Costs& of) { return std::any_of(of.begin(), of.end(), has); });
    map.optional_map(row.name, costs, help, [&](Fields& inner, Costs& of) {
      costs_of_algorithm(inner, of, row.algorithm);
    });
    if (costs) entry = *costs;
  }
}

}  // namespace

static void fields(Fields& map, BetweenNodesSpec& row) {
  map.add("nodes", row.nodes,
          {.help = "number of whole nodes from which this row applies, up to the next row's",
           .range = {{2, 1'000'000}}});
  map.add("tree_up_to", row.tree_up_to,
          {.help = "a buffer up to this goes by tree, above it by rings"});
  map.add("in_switch_tree_up_to", row.in_switch_tree_up_to,
          {.help = "above tree_up_to, a buffer up to this goes by in_switch_tree",
           .fallback = bytes(0),
           .quiet = true});
  map.add("ll_up_to", row.ll_up_to, {.help = "a buffer up to this goes by ll"});
  map.add("ll128_up_to", row.ll128_up_to, {.help = "up to this by ll128, above it by simple"});
}

static void fields(Fields& map, PeerPartSpec& parts) {
  const std::optional<Range<Bytes>> some = {{bytes(1), kAnySize.high}};
  map.add("least", parts.least,
          {.help = "least part of a peer's data that a channel takes", .range = some});
  map.add("least_ll", parts.least_ll, {.help = "the same with protocol ll", .range = some});
  map.add("most", parts.most,
          {.help = "above this size per channel, more channels share the data", .range = some});
  map.add("chunk", parts.chunk, {.help = "bytes that a channel signals at a time", .range = some});
  map.add("ll_up_to", parts.ll_up_to, {.help = "use ll up to this size per peer and channel"});
  map.add("total", parts.total, {.help = "the most that all channels of a GPU send together"});
  map.add("startup", parts.startup, {.help = "from the launch of such a kernel to its first byte"});
  map.add(
      "step", parts.step,
      {.help =
           "with simple: from a part's last byte in the peer's memory to its channel continuing",
       .fallback = nanoseconds(0),
       .means = "same as simple.step",
       .quiet = true});
  map.add("several", parts.several,
          {.help = "a channel with several parts copies so much faster than with one, with simple",
           .range = {{1, 4}},
           .fallback = 1});
}

static void fields(Fields& map, InSwitchSpec& in_switch) {
  map.add("startup", in_switch.startup,
          {.help = "from the launch of such a kernel until all GPUs are ready"});
  map.add(
      "chunk", in_switch.chunk,
      {.help = "the most of each GPU's part that a channel takes in a turn; less in small calls",
       .range = {{bytes(1'024), kAnySize.high}}});
  map.add("turn", in_switch.turn,
          {.help = "a channel's time for a chunk, besides its bytes",
           .range = {{nanoseconds(0), nanoseconds(1'000'000)}}});
  map.add("rate", in_switch.rate, {.help = "bandwidth of a channel, of the parts of all GPUs"});
}

static void fields(Fields& map, EngineRow& row) {
  map.add("gpus", row.gpus, {.help = "number of GPUs of a group", .range = {{2, 1'024}}});
  map.add("one_shot_below", row.one_shot_below,
          {.help = "smaller buffers: each GPU loads all others' and adds them up"});
  map.add("two_shot_below", row.two_shot_below,
          {.help = "smaller buffers: each GPU adds up its part, then all load the sums",
           .fallback = bytes(0),
           .quiet = true});
  map.add("in_switch_below", row.in_switch_below,
          {.help = "smaller buffers: the switch adds up and copies; larger ones: the library",
           .fallback = bytes(0),
           .quiet = true});
}

static void fields(Fields& map, EngineSpec& engine) {
  map.add("startup", engine.startup,
          {.help = "from the launch of such a kernel to its first flag"});
  map.add("load", engine.load,
          {.help = "a load from a peer's memory on idle links, there and back"});
  map.add("fence", engine.fence,
          {.help = "how much longer a flag with release and acquire takes than a plain one"});
  map.add("wgs", engine.wgs, {.help = "most WGs of the kernel", .range = {{1, 65'536}}});
  map.add("threads", engine.threads,
          {.help = "threads of a WG, each with a load of 16 B from each peer in flight",
           .range = {{1, 1'024}}});
  map.optional_maps("rows", engine.rows, "what the engine takes, by GPUs and size");
  map.optional_map("in_switch", engine.in_switch,
                   "how its kernel has the switch add up and copy, copies of the buffer included");
}

namespace {

void protocols(Fields& map, CollectiveSpec& collective) {
  const auto add = [&](Protocol which, std::string_view help) {
    map.map(names::word(names::kProtocolWords, which), help, [&](Fields& inner) {
      protocol_fields(inner, collective.protocols.at(static_cast<std::size_t>(which)), which);
    });
  };
  add(Protocol::ll, "low latency: a flag with every 8 bytes");
  add(Protocol::ll128, "a flag with every 120 bytes");
  add(Protocol::simple, "fence, then flag");
}

void library_algorithms(Fields& map, CollectiveSpec& collective) {
  std::optional<std::vector<Algorithm>> asked = collective.algorithms;
  map.choices("algorithms", asked, names::kAlgorithms, "[ring]",
              "algorithms that the library has; all-to-all is always direct");
  collective.algorithms = asked.value_or(std::vector{Algorithm::ring});
}

// If all are allowed, the key is not written.
void protocols_in_node(Fields& map, CollectiveSpec& collective) {
  const std::vector<Protocol> all{Protocol::ll, Protocol::ll128, Protocol::simple};
  std::optional<std::vector<Protocol>> asked;
  if (map.writes() && collective.protocols_in_node != all) asked = collective.protocols_in_node;
  map.choices("protocols_in_node", asked, names::kProtocolWords, "[ll, ll128, simple]",
              "protocols by which the library does them in a node");
  if (!map.writes()) collective.protocols_in_node = asked.value_or(all);
}

}  // namespace

void fields(Fields& map, CollectiveSpec& collective) {
  protocols(map, collective);
  library_algorithms(map, collective);
  protocols_in_node(map, collective);
  map.add("channels", collective.channels,
          {.help = "WGs of a collective kernel", .range = {{1, 65'536}}});
  map.map("channel", "what one channel needs on its CU",
          [&](Fields& inner) { channel_fields(inner, collective.channel); });
  map.add("channel_rate", collective.channel_rate, {.help = "bandwidth of one channel"});
  map.add("exchange_rate", collective.exchange_rate,
          {.help = "bandwidth that one channel sends while it receives as much"});
  map.add(
      "chunk", collective.chunk,
      {.help = "the most that one step of a channel moves", .range = {{bytes(1), kAnySize.high}}});
  map.add("slices", collective.slices,
          {.help = "chunks that a ring's channel sends before it receives the next",
           .range = {{1, 64}},
           .fallback = 1,
           .quiet = true});
  map.optional_map("costs", collective.costs, "the library's own cost model, by which it chooses",
                   [](Fields& inner, CostTable& table) { cost_fields(inner, table); });
  map.optional_maps("between_nodes", collective.between_nodes,
                    "what the library takes for all-reduces of whole nodes");
  map.optional_map("peer_parts", collective.peer_parts, "an all-to-all assigns channels to peers");
  map.optional_map("in_switch", collective.in_switch,
                   "how channels have the switch add up and copy");
  map.optional_map("engine", collective.engine,
                   "all-reduces of inference engines (collective.algorithm: engine)");
  map.add("spread", collective.spread,
          {.help = "time from the start of the first of many channels to the last one's",
           .fallback = nanoseconds(0),
           .quiet = true});
}

}  // namespace weft
