#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kRegistersPerThread{1, 4'096};

// Those asked for; of kind c3 behind the isolated runs, which every measure of it is made from.
std::vector<Mode> modes_to_run(const Scenario& scenario,
                               const std::optional<std::vector<Mode>>& asked) {
  const WorkloadKind kind = scenario.workload.kind;
  const std::span<const Mode> suiting = modes_of(kind);
  std::vector<Mode> modes = asked.value_or(std::vector<Mode>(suiting.begin(), suiting.end()));
  const bool engines = can_use_copy_engines(scenario);
  if (!asked && !engines) {
    modes.erase(std::remove_if(modes.begin(), modes.end(), uses_copy_engines), modes.end());
  }
  if (kind != WorkloadKind::c3) return modes;
  std::vector<Mode> with_isolated;
  for (const Mode mode : suiting) {
    const bool given = std::find(modes.begin(), modes.end(), mode) != modes.end();
    const bool always = is_isolated(mode) && (engines || !uses_copy_engines(mode));
    if (always && !given) with_isolated.push_back(mode);
  }
  with_isolated.insert(with_isolated.end(), modes.begin(), modes.end());
  return with_isolated;
}

CollectiveOptions read_collective_options(MapReader map) {
  CollectiveOptions options;
  options.executor = map.choice_or("executor", CollectiveExecutor::cu,
                                   names::table(names::kExecutors), "what carries the collective");
  const bool dma = options.executor == CollectiveExecutor::dma;
  MapReader of_channels = map.where(!dma, "executor: cu");
  options.algorithm =
      of_channels.choice_or("algorithm", options.algorithm, names::table(names::kAlgorithmChoices),
                            "how the collective is done");
  options.protocol =
      of_channels.choice_or("protocol", options.protocol, names::table(names::kProtocolChoices),
                            "how channels synchronise; auto: chosen with the algorithm");
  options.channels =
      of_channels
          .optional_count("channels", {1, 65'536}, "WGs of a kernel; default: those of the GPU")
          .value_or(0);
  options.dma = map.where(dma, "executor: dma")
                    .choice_or("dma", options.dma, names::table(names::kDmaPatterns),
                               "how copy engines are told what to do");
  map.finish();
  return options;
}

KernelOptions read_kernel(MapReader map) {
  const KernelOptions kernel{
      .chunks = map.count_or("chunks", 4, {1, 1'000'000},
                             "parts the kernel is cut into; by default as many as there are where "
                             "each peer has fewer tables, rows of tiles or WGs")};
  map.finish();
  return kernel;
}

FusedOptions read_fused(MapReader map, WorkloadKind kind) {
  MapReader results =
      map.where(results_travel(kind), "kinds whose results travel, not their input");
  FusedOptions fused{
      .order = results.choice_or("order", DestinationOrder::remote_first,
                                 names::table(names::kOrders), "whose results are made first"),
      .work_list =
          map.choice_or("work_list", WorkList::dynamic_list, names::table(names::kWorkLists),
                        "how logical WGs come to physical ones"),
      .flag_per = results.choice_or("flag_per", FlagPer::slice, names::table(names::kFlagPer),
                                    "what one ready flag stands for"),
      .put_by = map.choice_or("put_by", PutBy::wg, names::table(names::kPutBy),
                              "whose results make one queue entry, or one burst of stores"),
      .fence_by = map.choice_or("fence_by", FenceBy::wg, names::table(names::kFenceBys),
                                "who fences the stores"),
      .acquire = map.choice_or("acquire", Acquire::load, names::table(names::kAcquires),
                               "how a flag's reader gets what came before it"),
      .staging = results.choice_or("staging", Staging::zero_copy, names::table(names::kStagings),
                                   "where a result is stored"),
      .slice_wgs =
          map.count_or("slice_wgs", 1, {1, 1'000'000}, "WGs whose results leave as one put"),
      // In-kernel communication costs 12.5 % of the occupancy (Punniyamurthy et al., SC24,
      // arXiv:2305.06942): 72 registers instead of 64 let 7 WGs of 256 in where 8 fitted.
      .extra_registers_per_thread =
          map.count_or("extra_registers_per_thread", 8, {0, kRegistersPerThread.high},
                       "registers that in-kernel communication costs")};
  const auto most = map.optional_count("max_wgs_per_cu", {1, 1'024},
                                       "resident WGs of the fused kernel; default: what fits");
  fused.max_wgs_per_cu = most.value_or(0);
  MapReader bags = map.where(embeds(kind), "kinds that look up embeddings");
  fused.chain = bags.optional_count("chain", {1, 1'024},
                                    "workload.chain of the fused kernel; default: the same")
                    .value_or(0);
  fused.add_load = map.where(adds_up(kind), "kinds whose fused WGs add up parts")
                       .size_or("add_load", {},
                                "of each GPU's part, what a thread waits for at once when it adds "
                                "them up; 0 B: wg.loads_in_flight of 16 B, of all together",
                                {bytes(0), bytes(4'096)});
  map.finish();
  return fused;
}

C3Options read_c3(MapReader map, int mask_step) {
  C3Options c3{.partition_by = map.choice_or("partition_by", PartitionBy::masks,
                                             names::table(names::kPartitions),
                                             "who keeps the GEMM off the collective's CUs")};
  const auto cus =
      map.optional_count("partition_cus", {1, 100'000},
                         "CUs of the collective, or channels; default: what lookup finds");
  c3.partition_cus = cus.value_or(0);
  const auto reserve = map.optional_count(
      "dma_reserve_cus", {1, 100'000},
      "CUs that mode dma+partition takes from the GEMM; default: launch.mask_step");
  c3.dma_reserve_cus = reserve.value_or(mask_step);
  map.finish();
  return c3;
}

RunOptions read_run(MapReader map) {
  constexpr Range<std::int64_t> kSeed{0, 999'999'999'999'999'999};
  // The clocks of shared servers hold 563 s of one WG alone, whose work may be twice the unit.
  constexpr Range<Duration> kRunTime{picoseconds(1), microseconds(200'000'000)};
  const auto seed = [&map, kSeed](std::string_view key, std::int64_t fallback,
                                  std::string_view help) {
    return static_cast<std::uint64_t>(map.integer_or(key, fallback, kSeed, help));
  };
  const RunOptions run{
      .seed = seed("seed", 1, "of every random number"),
      .max_events = map.integer_or("max_events", 4'000'000'000, {1, 1'000'000'000'000'000},
                                   "the run stops after so many events"),
      .max_time = map.duration_or("max_time", microseconds(100'000'000),
                                  "the run stops at this simulated time", kRunTime),
      .max_memory =
          map.size_or("max_memory", mebibytes(16 * 1024), "a run estimated to need more is refused",
                      {mebibytes(1), kAnySize.high}),
      .launch = map.choice_or("launch", LaunchKind::queue, names::table(names::kLaunches),
                              "how kernels follow one another"),
      .repeats_once = map.choice_or("repeats", true, names::table(names::kRepeats),
                                    "which blocks of a whole model are simulated"),
      .tie_shuffle = seed("tie_shuffle", 0, "tests only: order of events of the same time")};
  map.finish();
  return run;
}

}  // namespace

Scenario read_scenario(MapReader map) {
  Scenario scenario;
  scenario.name = map.name("name", "what reports call this scenario");
  scenario.cluster = read_cluster(map.map("cluster", "usually base: clusters/NAME"));
  scenario.workload = read_workload(map.map("workload", "what is run"));
  const auto modes =
      map.choices<Mode>("modes", names::table(names::kModes), "all that suit the kind",
                        "grains of overlap, or strategies of c3, to compare");
  scenario.modes = modes_to_run(scenario, modes);
  scenario.collective =
      read_collective_options(map.map_of_defaults("collective", "how the library runs it"));
  scenario.kernel = read_kernel(map.map_of_defaults("kernel", "kernel-granular overlap"));
  scenario.fused =
      read_fused(map.map_of_defaults("fused", "WG-granular overlap"), scenario.workload.kind);
  scenario.c3 = read_c3(map.map_of_defaults("c3", "how a GEMM and a collective share the CUs"),
                        scenario.cluster.gpu.launch.mask_step);
  scenario.run = read_run(map.map_of_defaults("run", "of the simulation itself"));
  map.finish();
  return scenario;
}

}  // namespace weft
