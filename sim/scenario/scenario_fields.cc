#include "sim/scenario/scenario_fields.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/gpu_model/gpu_fields.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

// Whether a mode that nobody named is among those that suit.
bool suits(const Scenario& scenario, Mode mode) {
  if (uses_copy_engines(mode)) return can_use_copy_engines(scenario);
  return why_not(scenario, mode).empty();
}

using AskedModes = std::vector<names::AskedMode>;

// Without a list, what is not extra, and mixed where rules for it are given. In a list, `all`
// stands for all that suit.
std::vector<Mode> modes_asked(const Scenario& scenario, const std::optional<AskedModes>& asked) {
  const auto named = [&](names::AskedMode mode) {
    return asked && std::find(asked->begin(), asked->end(), mode) != asked->end();
  };
  std::vector<Mode> modes;
  if (asked && !named(std::nullopt)) {
    for (const names::AskedMode mode : *asked) modes.push_back(*mode);
    return modes;
  }
  for (const Mode mode : modes_of(scenario.workload.kind)) {
    const bool ruled = mode == Mode::mixed && !scenario.workload.pairs.empty();
    if (named(mode) || (suits(scenario, mode) && (asked || ruled || !is_extra(mode)))) {
      modes.push_back(mode);
    }
  }
  return modes;
}

// Of kind c3 behind the isolated runs, which every measure of it is made from.
std::vector<Mode> modes_to_run(const Scenario& scenario, const std::optional<AskedModes>& asked) {
  const WorkloadKind kind = scenario.workload.kind;
  std::vector<Mode> modes = modes_asked(scenario, asked);
  if (kind != WorkloadKind::c3) return modes;
  const bool engines = can_use_copy_engines(scenario);
  std::vector<Mode> with_isolated;
  for (const Mode mode : modes_of(kind)) {
    const bool given = std::find(modes.begin(), modes.end(), mode) != modes.end();
    const bool always = is_isolated(mode) && (engines || !uses_copy_engines(mode));
    if (always && !given) with_isolated.push_back(mode);
  }
  with_isolated.insert(with_isolated.end(), modes.begin(), modes.end());
  return with_isolated;
}

void modes_field(Fields& map, Scenario& scenario) {
  std::optional<AskedModes> asked = AskedModes(scenario.modes.begin(), scenario.modes.end());
  map.choices("modes", asked, names::kAskedModes,
              "all that apply to the kind, but for pipelined, role_split and copy_fed; mixed with "
              "workload.pairs",
              "grains of overlap, or strategies of c3, to compare");
  if (!map.writes()) scenario.modes = modes_to_run(scenario, asked);
}

void collective_options(Fields& map, CollectiveOptions& options) {
  map.choice("executor", options.executor, names::kExecutors,
             {.help = "what runs the collective", .fallback = CollectiveExecutor::cu});
  map.where("executor", {"dma"})
      .choice(
          "dma", options.dma, names::kDmaPatterns,
          {.help = "how copy engines are given their commands", .fallback = DmaPattern::direct});
  Fields of_channels = map.where("executor", {"cu"});
  of_channels.choice(
      "algorithm", options.algorithm, names::kAlgorithmChoices,
      {.help = "algorithm of the collective", .fallback = CollectiveOptions{}.algorithm});
  of_channels.choice("protocol", options.protocol, names::kProtocolChoices,
                     {.help = "how channels synchronise; auto: chosen with the algorithm",
                      .fallback = names::kAuto<Protocol>});
  of_channels.add("channels", options.channels,
                  {.help = "WGs of the collective's kernel; default: the GPU's channels",
                   .range = {{1, 65'536}},
                   .fallback = 0,
                   .means = "optional",
                   .quiet = true});
}

void kernel_options(Fields& map, KernelOptions& kernel) {
  map.add("chunks", kernel.chunks,
          {.help = "number of parts into which the kernel is cut; the default is lowered if a peer "
                   "has fewer tables, rows of tiles or WGs",
           .range = {{1, 1'000'000}},
           .fallback = 4});
}

void result_options(Fields map, FusedOptions& fused, const Workload& workload) {
  map.choice(
      "order", fused.order, names::kOrders,
      {.help = "whose results are computed first", .fallback = DestinationOrder::remote_first});
  map.choice("flag_per", fused.flag_per, names::kFlagPer,
             {.help = "what one ready flag stands for", .fallback = FlagPer::slice});
  map.add("unsent", fused.unsent,
          {.help = "fused.sent_by: wave: results of a WG that its wave has yet to send inside the "
                   "node, in buffers of LDS, before the WG waits; 0: they leave from its registers",
           .range = {{0, 1'000'000}},
           .fallback = 1,
           .quiet = true});
  map.add(
      "sending_waves", fused.sending_waves,
      {.help = "fused.sent_by: wave: waves of a GPU that send at the same time inside the node, "
               "the others in turn; default: one of each CU",
       .range = {{1, 1'000'000}},
       .fallback = 0,
       .means = "optional",
       .quiet = true});
  map.add("rate_while_sending", fused.rate_while_sending,
          {.help = "fused.sent_by: wave: how fast a CU computes while its wave stores into a peer, "
                   "of its rate: its loads may queue behind stores that the link has yet to take",
           .range = {{0, 1}},
           .fallback = 1,
           .quiet = true});
  // Where several WGs make a result together, it can only be sent from a buffer.
  const bool parts = is_pair(workload.kind) && has_gemm(workload.kind) && workload.gemm.split_k > 1;
  map.only_if(!parts,
              "kinds whose results are sent, not their input, where workload.gemm.split_k is 1")
      .choice("staging", fused.staging, names::kStagings,
              {.help = "where a result is stored first", .fallback = Staging::zero_copy});
}

void sending_options(Fields& map, FusedOptions& fused) {
  map.choice("work_list", fused.work_list, names::kWorkLists,
             {.help = "how physical WGs get logical WGs", .fallback = WorkList::dynamic_list});
  map.choice(
      "put_by", fused.put_by, names::kPutBy,
      {.help = "whose results share a queue entry or a burst of stores", .fallback = PutBy::wg});
  map.choice("sent_by", fused.sent_by, names::kSentBys,
             {.help = "mode fused: who sends what WGs have made, or what peers need",
              .fallback = SentBy::wg});
  map.choice("brought", fused.brought, names::kBrought,
             {.help = "mode copy_fed: how copy engines bring input",
              .fallback = Brought::fetched,
              .quiet = true});
  map.choice("fence_by", fused.fence_by, names::kFenceBys,
             {.help = "who fences the stores", .fallback = FenceBy::wg});
  map.choice("acquire", fused.acquire, names::kAcquires,
             {.help = "how a flag's reader makes sure that it sees the data before the flag",
              .fallback = Acquire::load});
  map.add(
      "slice_wgs", fused.slice_wgs,
      {.help = "WGs whose results are sent as one put", .range = {{1, 1'000'000}}, .fallback = 1});
}

void residency_options(Fields& map, FusedOptions& fused) {
  // In-kernel communication costs 12.5 % of the occupancy (Punniyamurthy et al., SC24,
  // arXiv:2305.06942): 72 registers instead of 64 let 7 WGs of 256 in where 8 fitted.
  map.add("extra_registers_per_thread", fused.extra_registers_per_thread,
          {.help = "registers per thread that in-kernel communication costs",
           .range = {{0, kRegistersPerThread.high}},
           .fallback = 8});
  map.choice("registers", fused.registers, names::kFusedRegisters,
             {.help = "how many of these registers the fused kernel is compiled with",
              .fallback = FusedRegisters::automatic});
  map.add("max_wgs_per_cu", fused.max_wgs_per_cu,
          {.help = "resident WGs of the fused kernel; default: what fits",
           .range = {{1, 1'024}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
}

// Of kinds without such an operator nothing passes through the switch but stores.
constexpr bool sums_or_gathers(WorkloadKind kind) {
  return adds_up(kind) || row_of(kind).collective == CollectiveOp::all_gather;
}

void switch_options(Fields map, FusedOptions& fused) {
  map.choice("in_switch", fused.in_switch, names::kInSwitch,
             {.help = "what brings parts of a sum, and input of several GPUs, to where they belong",
              .fallback = false,
              .quiet = true});
}

void role_options(Fields& map, FusedOptions& fused) {
  map.add(
      "sending_cus", fused.sending_cus,
      {.help =
           "mode role_split: CUs whose WGs only send; default: as many as fill the links of a node",
       .range = {{1, 65'535}},
       .fallback = 0,
       .means = "optional",
       .quiet = true});
}

void input_options(Fields map, FusedOptions& fused) {
  map.add(
      "own_first", fused.own_first,
      {.help = "WGs of own input that come first, then one of each GPU's input in turn, so that "
               "B is read once; default: all of the own, then each peer's as it arrives",
       .range = {{1, 1'000'000}},
       .fallback = 0,
       .means = "optional",
       .quiet = true});
  map.add("sending_wgs", fused.sending_wgs,
          {.help = "mode fused, fused.sent_by: wg: WGs of a GPU that first send the input, a piece "
                   "to each peer in turn, and then compute; default: all send between their tiles",
           .range = {{1, 1'000'000}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.add("piece", fused.piece,
          {.help = "most bytes of input that a WG sends to a peer before it waits until they have "
                   "arrived: with larger ones the link is idle less often, with smaller ones a "
                   "peer's first rows come sooner",
           .range = {{bytes(1024), bytes(16 * 1024 * 1024)}},
           .fallback = FusedOptions{}.piece,
           .quiet = true});
}

void adding_options(Fields map, FusedOptions& fused) {
  map.choice("add", fused.add, names::kFusedAdds,
             {.help = "when a WG adds up the parts of a sum (mode fused)",
              .fallback = FusedAdd::at_end,
              .quiet = true});
  map.choice("fence_of", fused.fence_of, names::kFenceOfs,
             {.help = "results after which a WG fences, where each slice has a flag (mode fused)",
              .fallback = FenceOf::sent,
              .quiet = true});
  map.add("add_load", fused.add_load,
          {.help = "bytes of each GPU's part that a thread loads at a time when it sums them; 0 B: "
                   "wg.loads_in_flight loads of 16 B, of all parts together",
           .range = {{bytes(0), bytes(4'096)}},
           .fallback = Bytes{}});
}

void fused_options(Fields& map, FusedOptions& fused, const Workload& workload) {
  const WorkloadKind kind = workload.kind;
  result_options(map.only_if(results_travel(kind), "kinds whose results are sent, not their input"),
                 fused, workload);
  const bool multiplies_input = is_model(kind) || (has_gemm(kind) && !results_travel(kind));
  input_options(map.only_if(multiplies_input, "kinds of a GEMM whose input comes from all GPUs"),
                fused);
  sending_options(map, fused);
  residency_options(map, fused);
  role_options(map, fused);
  switch_options(
      map.only_if(sums_or_gathers(kind), "kinds whose fused WGs sum parts, or gather input"),
      fused);
  map.only_if(embeds(kind), "kinds that look up embeddings")
      .add("chain", fused.chain,
           {.help = "workload.chain in the fused kernel; default: the same",
            .range = {{1, 1'024}},
            .fallback = 0,
            .means = "optional",
            .quiet = true});
  adding_options(map.only_if(adds_up(kind), "kinds whose fused WGs sum parts"), fused);
}

void c3_options(Fields& map, C3Options& c3, int mask_step) {
  map.choice(
      "partition_by", c3.partition_by, names::kPartitions,
      {.help = "how the GEMM is kept off the collective's CUs", .fallback = PartitionBy::masks});
  map.add("partition_cus", c3.partition_cus,
          {.help = "CUs of the collective, or channels; default: what lookup finds",
           .range = {{1, 100'000}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.add("dma_reserve_cus", c3.dma_reserve_cus,
          {.help = "CUs that mode dma+partition takes from the GEMM; default: launch.mask_step",
           .range = {{1, 100'000}},
           .fallback = mask_step,
           .means = "optional"});
}

void memory_option(Fields map, RunOptions& run) {
  map.choice("beyond_memory", run.beyond_memory, names::kBeyondMemory,
             {.help = "what becomes of a model that needs more memory than a GPU has",
              .fallback = BeyondMemory::refuse,
              .quiet = true});
}

void run_options(Fields& map, RunOptions& run, const Workload& workload) {
  constexpr Range<std::int64_t> kSeed{0, 999'999'999'999'999'999};
  // The clocks of shared servers hold 563 s of one WG alone, whose work may be twice the unit.
  constexpr Range<Duration> kRunTime{picoseconds(1), microseconds(200'000'000)};
  map.add("seed", run.seed, {.help = "seed of every random number", .range = kSeed, .fallback = 1});
  map.add("max_events", run.max_events,
          {.help = "the run stops after this many events",
           .range = {{1, 1'000'000'000'000'000}},
           .fallback = 4'000'000'000});
  map.add("max_time", run.max_time,
          {.help = "the run stops at this simulated time",
           .range = kRunTime,
           .fallback = microseconds(100'000'000)});
  map.add("max_memory", run.max_memory,
          {.help = "a run estimated to need more is refused",
           .range = {{mebibytes(1), kAnySize.high}},
           .fallback = mebibytes(16 * 1024)});
  map.choice("launch", run.launch, names::kLaunches,
             {.help = "how kernels follow one another", .fallback = LaunchKind::queue});
  map.choice("clocks", run.clocks, names::kClocks,
             {.help = "clock of kernels that compute, where gpu.power is known",
              .fallback = Clocks::automatic});
  map.add("gpu_hour_price", run.gpu_hour_price,
          {.help = "price of an hour of a GPU, with all that is paid for with it, in any currency: "
                   "results have costs in the same; default: they have none",
           .range = {{0, 1'000'000}},
           .fallback = 0,
           .quiet = true});
  map.add("steps_between_pauses", run.steps_between_pauses,
          {.help = "with sustained clocks: so many in a row, each time after a pause in which the "
                   "GPUs are idle for some gpu.power.window; the time is their mean; 0: no pause",
           .range = {{0, 1'000'000}},
           .fallback = 0,
           .quiet = true});
  map.choice("repeats", run.repeats, names::kRepeats,
             {.help = "what of a whole model is simulated; a collective alone by rings, between "
                      "nodes that are alike, on a few of them with `once`",
              .fallback = Repeats::once});
  memory_option(map.only_if(is_decoder(workload.kind), "kinds transformer and moe"), run);
  map.choice(
      "range", run.range, names::kTruths,
      {.help = "also the range in which 80 % of measured times would be (`weft run --range`), "
               "from gpu.errors",
       .fallback = false,
       .quiet = true});
  map.add("tie_shuffle", run.tie_shuffle,
          {.help = "for tests only: changes the order of simultaneous events",
           .range = kSeed,
           .fallback = 0});
}

}  // namespace

void fields(Fields& map, Scenario& scenario) {
  map.name("name", scenario.name, "what reports call this scenario");
  map.map("cluster", scenario.cluster, "the cluster; usually base: clusters/NAME");
  map.map("workload", scenario.workload, "the work to simulate");
  modes_field(map, scenario);
  map.map_of_defaults("collective", "how collectives are run",
                      [&](Fields& inner) { collective_options(inner, scenario.collective); });
  map.map_of_defaults("kernel", "kernel-granular overlap",
                      [&](Fields& inner) { kernel_options(inner, scenario.kernel); });
  map.map_of_defaults("fused", "WG-granular overlap", [&](Fields& inner) {
    fused_options(inner, scenario.fused, scenario.workload);
  });
  map.map_of_defaults("c3", "how a GEMM and a collective share the CUs", [&](Fields& inner) {
    c3_options(inner, scenario.c3, scenario.cluster.gpu.launch.mask_step);
  });
  map.map_of_defaults("run", "limits and settings of the simulation itself",
                      [&](Fields& inner) { run_options(inner, scenario.run, scenario.workload); });
}

std::string to_text(const Scenario& scenario) {
  Scenario copy = scenario;
  return text_of_fields([&copy](Fields& map) { fields(map, copy); });
}

std::string to_text(const ClusterSpec& cluster) {
  ClusterSpec copy = cluster;
  return text_of_fields([&copy](Fields& map) { fields(map, copy); });
}

}  // namespace weft
