// The words of the scenario's enumerations, each with its meaning: one table each, for reading,
// writing and explaining.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "sim/gpu_model/gpu_words.h"
#include "sim/scenario/mode_rows.h"
#include "sim/scenario/scenario.h"
#include "sim/spec/words.h"

namespace weft::names {

inline constexpr std::array kDataTypes = {
    Choice<DataType>{"fp32", DataType::fp32},
    Choice<DataType>{"fp16", DataType::fp16},
    Choice<DataType>{"bf16", DataType::bf16},
};
// Those of the rows of kinds that suit.
template <bool (*suits)(WorkloadKind)>
constexpr auto words_of_kinds() {
  constexpr auto count = static_cast<std::size_t>(std::count_if(
      kKindRows.begin(), kKindRows.end(), [](const KindRow& row) { return suits(row.kind); }));
  std::array<Choice<WorkloadKind>, count> words{};
  std::size_t next = 0;
  for (const KindRow& row : kKindRows) {
    if (suits(row.kind)) words[next++] = {row.name, row.kind, row.meaning};
  }
  return words;
}
constexpr bool is_any(WorkloadKind /*kind*/) { return true; }
inline constexpr auto kWorkloadKinds = words_of_kinds<is_any>();
// What a model's pairs may be fused as.
inline constexpr auto kFusePatterns = words_of_kinds<is_pair>();
inline constexpr std::array kRepeats = {
    Choice<Repeats>{"once", Repeats::once,
                    "identical blocks once, and of copies of the model that do the same a few"},
    Choice<Repeats>{"blocks", Repeats::blocks, "identical blocks once, on all copies"},
    Choice<Repeats>{"each", Repeats::each, "every block, on all copies"},
};
inline constexpr std::array kClocks = {
    Choice<Clocks>{"auto", Clocks::automatic,
                   "sustained: a training step of a whole model; burst: all else"},
    Choice<Clocks>{"sustained", Clocks::sustained,
                   "what the power limit leaves where the run repeats for seconds"},
    Choice<Clocks>{"burst", Clocks::burst, "that of kernels by themselves, for some milliseconds"},
};
inline constexpr std::array kPhases = {
    Choice<Phase>{"training", Phase::training, "a step: forward, backward, update"},
    Choice<Phase>{"inference", Phase::inference, "the forward pass of a batch"},
    Choice<Phase>{"prefill", Phase::prefill, "all tokens of the prompt together"},
    Choice<Phase>{"decode", Phase::decode, "one more token for each sequence"},
};
inline constexpr std::array kGradientScalings = {
    Choice<bool>{"none", false,
                 "without a kernel: the collective averages, or the loss is scaled (Megatron-LM's "
                 "average_in_collective)"},
    Choice<bool>{"kernel", true,
                 "a kernel divides each layer's gradients before they are summed (PyTorch's DDP)"},
};
inline constexpr std::array kSendOrders = {
    Choice<SendOrder>{"free", SendOrder::free,
                      "those with other neighbours, or in the other direction, do not wait for one "
                      "another (Megatron-LM)"},
    Choice<SendOrder>{"in_turns", SendOrder::in_turns,
                      "all do, in the order in which stages, a step each in turn, send what they "
                      "have made (PyTorch's torch.distributed.pipelining)"},
};
inline constexpr std::array kGradientSums = {
    Choice<GradientSums>{"each", GradientSums::each, "each microbatch's are scattered"},
    Choice<GradientSums>{"last", GradientSums::last,
                         "each copy adds up its own, whole; scattered after the last microbatch"},
};
inline constexpr std::array kShards = {
    Choice<Sharding>{"none", Sharding::none, "each has and updates all of it"},
    Choice<Sharding>{"optimizer", Sharding::optimizer,
                     "each updates its part of the weights, then all are gathered"},
    Choice<Sharding>{"gradients", Sharding::gradients,
                     "also gradients: they are scattered, each copy keeps its part"},
    Choice<Sharding>{"parameters", Sharding::parameters,
                     "also parameters: each layer's are gathered when they are needed (PyTorch's "
                     "fully_shard)"},
};
inline constexpr std::array kFp8Scales = {
    Choice<Fp8Scales>{"none", Fp8Scales::none, "products in the model's type"},
    Choice<Fp8Scales>{"tensor", Fp8Scales::tensor,
                      "each tensor, from its largest element, which a kernel finds first"},
    Choice<Fp8Scales>{"row", Fp8Scales::row, "each row of a matrix"},
    Choice<Fp8Scales>{"block", Fp8Scales::block,
                      "each 128 elements of a row, each 128 x 128 of weights (DeepSeek-V3)"},
};
inline constexpr std::array kRecomputes = {
    Choice<Recompute>{"none", Recompute::none, "nothing"},
    Choice<Recompute>{"selective", Recompute::selective,
                      "of each layer the parts in recompute_modules"},
    Choice<Recompute>{"layer", Recompute::layer, "each layer's forward pass"},
};
// Words of Megatron-LM's --recompute-modules; its moe_act is of experts only.
inline constexpr std::array kRecomputeModules = {
    Choice<RecomputeModule>{"core_attn", RecomputeModule::core_attn,
                            "attention between queries, keys and values and its result"},
    Choice<RecomputeModule>{"layernorm", RecomputeModule::layernorm, "both norms"},
    Choice<RecomputeModule>{"activation", RecomputeModule::activation,
                            "activation of the feed-forward and of experts, where it is not in mlp "
                            "or moe"},
    Choice<RecomputeModule>{"mla_up_proj", RecomputeModule::mla_up_proj,
                            "queries, keys and values from the short vectors of model.latent"},
    Choice<RecomputeModule>{"mlp", RecomputeModule::mlp,
                            "the whole feed-forward of layers without experts"},
    Choice<RecomputeModule>{"moe", RecomputeModule::moe,
                            "router, exchanges and experts of layers with them"},
};
inline constexpr std::array kBeyondMemory = {
    Choice<BeyondMemory>{"refuse", BeyondMemory::refuse, "it is refused"},
    Choice<BeyondMemory>{"warn", BeyondMemory::warn, "it is simulated, with a warning"},
};
inline constexpr std::array kRouterSkews = {
    Choice<RouterSkew>{"uniform", RouterSkew::uniform, "all equally often"},
    Choice<RouterSkew>{"zipf", RouterSkew::zipf, "the i-th in proportion to i^-exponent"},
    Choice<RouterSkew>{"histogram", RouterSkew::histogram, "as listed"},
};
inline constexpr std::array kInteractions = {
    Choice<Interaction>{"dot", Interaction::dot,
                        "products of all pairs, after the bottom MLP's output"},
    Choice<Interaction>{"concat", Interaction::concat, "concatenated"},
    Choice<Interaction>{"sum", Interaction::sum, "added up"},
};
inline constexpr auto kModes = [] {
  std::array<Choice<Mode>, kModeRows.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = {kModeRows[i].name, kModeRows[i].mode, kModeRows[i].meaning};
  }
  return choices;
}();
// The grains, in which a pair can be overlapped.
inline constexpr auto kGrains = [] {
  std::array<Choice<Mode>, 6> choices{};
  std::copy_n(kModes.begin(), choices.size(), choices.begin());
  return choices;
}();
// What the key `modes` lists: these, or all that suit.
using AskedMode = std::optional<Mode>;
inline constexpr auto kAskedModes = [] {
  std::array<Choice<AskedMode>, kModes.size() + 1> choices{};
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    choices[i] = {kModes[i].name, kModes[i].value, kModes[i].meaning};
  }
  choices[kModes.size()] = {"all", std::nullopt, "all that suit the workload"};
  return choices;
}();
inline constexpr std::array kPartitions = {
    Choice<PartitionBy>{"masks", PartitionBy::masks, "CU masks on both streams"},
    Choice<PartitionBy>{
        "channels", PartitionBy::channels,
        "no CU mask; only the number of channels is limited, and the collective is launched first"},
};
inline constexpr std::array kExecutors = {
    Choice<CollectiveExecutor>{"cu", CollectiveExecutor::cu,
                               "a kernel whose channels are WGs on CUs"},
    Choice<CollectiveExecutor>{"dma", CollectiveExecutor::dma,
                               "copy engines; within a node, no reductions"},
};
inline constexpr std::array kDmaPatterns = {
    Choice<DmaPattern>{"direct", DmaPattern::direct, "one engine per peer"},
    Choice<DmaPattern>{"back_to_back", DmaPattern::back_to_back,
                       "one engine for all peers, one copy after another"},
    Choice<DmaPattern>{"broadcast", DmaPattern::broadcast,
                       "a command reads once and writes to two peers"},
};
inline constexpr std::array kCollectiveOps = {
    Choice<CollectiveOp>{"all_to_all", CollectiveOp::all_to_all,
                         "every GPU sends a different part to every other"},
    Choice<CollectiveOp>{"all_gather", CollectiveOp::all_gather, "every GPU gets the parts of all"},
    Choice<CollectiveOp>{"reduce_scatter", CollectiveOp::reduce_scatter,
                         "the buffers are summed, and every GPU keeps its part of the sum"},
    Choice<CollectiveOp>{"all_reduce", CollectiveOp::all_reduce,
                         "the buffers are summed, and every GPU gets the whole sum"},
    Choice<CollectiveOp>{"broadcast", CollectiveOp::broadcast, "every GPU gets the root's buffer"},
    Choice<CollectiveOp>{"point_to_point", CollectiveOp::point_to_point,
                         "one GPU sends to another"},
};
// Those in which all GPUs take part equally: what can run concurrently with a GEMM.
inline constexpr std::span kCommunications = std::span(kCollectiveOps).first<4>();
inline constexpr std::array kOrders = {
    Choice<DestinationOrder>{"remote_first", DestinationOrder::remote_first,
                             "for GPUs of other nodes first, then for those of its own node (a "
                             "slice for each in turn if "
                             "every pair has a link of its own), itself last"},
    Choice<DestinationOrder>{
        "local_first", DestinationOrder::local_first,
        "for itself first, then for GPUs of its own node (likewise), then for other nodes"},
    Choice<DestinationOrder>{
        "staggered", DestinationOrder::staggered,
        "a slice for each remote GPU in turn, in an order that spreads them, and for itself last"},
    Choice<DestinationOrder>{
        "in_turn", DestinationOrder::in_turn,
        "a slice for each GPU in turn, itself last: so all of a GEMM's rows in a column of tiles "
        "follow one another, and B is read once instead of once for each GPU"},
    Choice<DestinationOrder>{
        "rotating", DestinationOrder::rotating,
        "as in_turn, but with each round of WGs the turn begins one GPU later: a WG makes slices "
        "for all, and none sends more than others"},
    Choice<DestinationOrder>{"given", DestinationOrder::given,
                             "for GPU 0, 1, 2, ..., the same on all GPUs"},
};
inline constexpr std::array kWorkLists = {
    Choice<WorkList>{"dynamic", WorkList::dynamic_list, "the next one in the list, from a counter"},
    Choice<WorkList>{"static", WorkList::static_list, "each of n physical WGs takes every n-th"},
};
inline constexpr std::array kFlagPer = {
    Choice<FlagPer>{"slice", FlagPer::slice, "a slice of fused.slice_wgs WGs"},
    Choice<FlagPer>{"peer", FlagPer::peer, "everything that goes to a peer"},
};
inline constexpr std::array kInSwitch = {
    Choice<bool>{"false", false, "stores of the WGs, one for each GPU, and loads to add up"},
    Choice<bool>{"true", true,
                 "the switch of the node (multimem of NVLink): owners load sums from it, and what "
                 "all GPUs get is stored once; slices are made for each owner in turn"},
};
inline constexpr std::array kPutBy = {
    Choice<PutBy>{"wg", PutBy::wg, "those of the whole WG"},
    Choice<PutBy>{"wave", PutBy::wave, "each wave's"},
    Choice<PutBy>{"thread", PutBy::thread, "each thread's"},
};
inline constexpr std::array kSentBys = {
    Choice<SentBy>{"wg", SentBy::wg, "the WG, which goes on when it has arrived"},
    Choice<SentBy>{
        "wave", SentBy::wave,
        "one wave of each CU, by bulk copies where the GPU has them, while all others go on"},
};
inline constexpr std::array kFenceBys = {
    Choice<FenceBy>{"wg", FenceBy::wg, "one thread, after a barrier of the WG"},
    Choice<FenceBy>{"wave", FenceBy::wave, "each wave"},
};
inline constexpr std::array kFenceOfs = {
    Choice<FenceOf>{"sent", FenceOf::sent, "results that leave for a peer"},
    Choice<FenceOf>{"all", FenceOf::all,
                    "also those that stay, as where their flags are set at system scope too"},
};
inline constexpr std::array kAcquires = {
    Choice<Acquire>{"load", Acquire::load, "with an acquiring load"},
    Choice<Acquire>{"fence", Acquire::fence, "with plain loads, followed by a fence"},
};
inline constexpr std::array kStagings = {
    Choice<Staging>{"zero_copy", Staging::zero_copy, "where it belongs"},
    Choice<Staging>{"staged", Staging::staged, "in a buffer, from which the slice's last WG sends"},
};
inline constexpr std::array kFusedAdds = {
    Choice<FusedAdd>{"at_end", FusedAdd::at_end, "after all results that it makes"},
    Choice<FusedAdd>{"with_own", FusedAdd::with_own,
                     "each to its own part, while that is in registers: it is not stored"},
};
inline constexpr std::array kBrought = {
    Choice<Brought>{"fetched", Brought::fetched,
                    "each GPU copies its own to where peers can fetch it, and after a barrier "
                    "fetches the others' (Flux, PyTorch's symmetric memory)"},
    Choice<Brought>{
        "pushed", Brought::pushed,
        "each GPU's engines write its own, from where it lies, into its peers' buffers; "
        "nobody waits before (two buffers in turn)"},
};
inline constexpr std::array kFusedRegisters = {
    Choice<FusedRegisters>{"auto", FusedRegisters::automatic,
                           "capped where else half of the WGs on a CU or more would be lost"},
    Choice<FusedRegisters>{"all", FusedRegisters::all, "all that it needs, for fewer WGs on a CU"},
    Choice<FusedRegisters>{"capped", FusedRegisters::capped,
                           "as many as leave the plain kernel's WGs on a CU (__launch_bounds__); "
                           "the rest is spilled"},
};
inline constexpr std::array kTileOrders = {
    Choice<TileOrder>{"row", TileOrder::row, "row of tiles by row of tiles"},
    Choice<TileOrder>{"column", TileOrder::column, "column by column"},
    Choice<TileOrder>{"swizzled", TileOrder::swizzled,
                      "column by column within groups of gemm.swizzle rows"},
};
inline constexpr std::array kGemmSchedules = {
    Choice<GemmSchedule>{"tiles", GemmSchedule::tiles, "one WG per tile"},
    Choice<GemmSchedule>{"persistent", GemmSchedule::persistent,
                         "n WGs stay resident, each takes every n-th tile"},
    Choice<GemmSchedule>{"dynamic", GemmSchedule::dynamic,
                         "WGs stay resident, each takes the next tile"},
    Choice<GemmSchedule>{
        "stream_k", GemmSchedule::stream_k,
        "WGs stay resident and share all tiles evenly, splitting tiles; they end together"},
    Choice<GemmSchedule>{
        "counter", GemmSchedule::counter,
        "WGs stay resident; each has a first tile of its own, the others come from a counter; WGs "
        "that find no slot do their first tile when all others have ended (cuBLAS on Hopper)"},
};
inline constexpr std::array kGemmKernels = {
    Choice<bool>{"described", false, "as the other keys say"},
    Choice<bool>{
        "library", true,
        "the GPU's library chooses tile, split of k and schedule (cluster.gpu.library_gemm); "
        "kind: c3 only"},
};
inline constexpr std::array kTableWalks = {
    Choice<TableWalk>{"by_table", TableWalk::by_table,
                      "all samples of a table, then those of the next"},
    Choice<TableWalk>{"by_sample", TableWalk::by_sample,
                      "all tables of a sample, then those of the next"},
};
inline constexpr std::array kLookupKernels = {
    Choice<bool>{"one", false, "one for all tables of a GPU"},
    Choice<bool>{"per_table", true, "one for each table, one after another; with walk: by_table"},
};
inline constexpr std::array kL2Before = {
    Choice<bool>{"other_work", false, "nothing of the tables: other kernels have run since"},
    Choice<bool>{"lookups", true, "rows that earlier lookups of the same tables left there"},
};
inline constexpr std::array kWeights = {
    Choice<bool>{"in_hbm", false},
    Choice<bool>{"in_l2", true, "in the L2, into which it must fit"},
};
inline constexpr std::array kLaunches = {
    Choice<LaunchKind>{"host", LaunchKind::host,
                       "the host launches a kernel after it has seen the previous one end"},
    Choice<LaunchKind>{"queue", LaunchKind::queue,
                       "the next kernel already waits in the stream's queue"},
    Choice<LaunchKind>{"graph", LaunchKind::graph,
                       "kernels are nodes of a graph that is launched as a whole"},
};

inline constexpr auto kSizeUnits = with_auto(std::array{
    Choice<CommSizeUnit>{"bytes", CommSizeUnit::bytes},
    Choice<CommSizeUnit>{"elements", CommSizeUnit::elements, "elements of element_bytes each"},
});
inline constexpr auto kAllGatherSizes = with_auto(std::array{
    Choice<AllGatherSize>{"per_rank", AllGatherSize::per_rank, "what each rank contributes"},
    Choice<AllGatherSize>{"total", AllGatherSize::total, "the size of the result"},
});
inline constexpr auto kCpuOps = with_auto(std::array{
    Choice<CpuOps>{"drop", CpuOps::drop,
                   "they take no time; their successors wait for their predecessors"},
    Choice<CpuOps>{"run", CpuOps::run, "they are kernels of one WG on a stream of their own"},
});
inline constexpr std::array kStepsAs = {
    Choice<StepsAs>{"in_a_row", StepsAs::in_a_row, "one after another"},
    Choice<StepsAs>{"mean", StepsAs::mean,
                    "one step, each kernel with the mean of its times; they must be alike"},
};
inline constexpr std::array kHostTimes = {
    Choice<HostTime>{"drop", HostTime::drop, "the GPU never waits for the host"},
    Choice<HostTime>{"recorded", HostTime::recorded,
                     "kernels wait until the host, in its recorded time, has launched them"},
};
inline constexpr auto kWaitFors = with_auto(std::array{
    Choice<WaitFor>{"data", WaitFor::data, "data dependencies; the CPU only starts collectives"},
    Choice<WaitFor>{"blocking_collectives", WaitFor::blocking_collectives,
                    "also, whatever follows the operator that started a collective waits for it"},
    Choice<WaitFor>{"data_and_control", WaitFor::data_and_control, "data and control dependencies"},
});
template <std::size_t n>
constexpr std::array<Choice<AskedAlgorithm>, n + 5> with_who_chooses(
    const std::array<Choice<Algorithm>, n>& choices) {
  std::array<Choice<AskedAlgorithm>, n + 5> all{};
  all[0] = {"auto", {}, "the fastest of all algorithms, found by trying each alone"};
  all[1] = {"library", {std::nullopt, true, false}, "what the GPU's library would choose"};
  all[2] = {"engine",
            {std::nullopt, true, true},
            "what an inference engine takes for all-reduces in a node; the library for the rest"};
  all[3] = {"engine_one_shot",
            {Algorithm::one_shot, true, true},
            "an engine's kernel: each GPU loads all others' whole buffers; the library for the "
            "rest"};
  all[4] = {"engine_two_shot",
            {Algorithm::direct, true, true},
            "an engine's kernel: each GPU adds up a part, all load the sums; the library for the "
            "rest"};
  for (std::size_t i = 0; i < n; ++i) {
    all[i + 5] = {choices[i].name, {choices[i].value, false, false}, choices[i].meaning};
  }
  return all;
}
inline constexpr auto kAlgorithmChoices = with_who_chooses(kAlgorithms);
inline constexpr auto kProtocolChoices = with_auto(kProtocolWords);

}  // namespace weft::names
