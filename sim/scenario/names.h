// The words of the scenario's enumerations, each with its meaning: one table each, for reading,
// writing and explaining.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "sim/cache/spec.h"
#include "sim/scenario/reader.h"
#include "sim/scenario/scenario.h"

namespace weft::names {

// `ring` is a word of its own (a torus of one size) and is handled by read_fabric.
inline constexpr std::array kRingTies = {
    Choice<RingTies>{"split", RingTies::split, "half of the pairs each way"},
    Choice<RingTies>{"positive", RingTies::positive, "always towards larger coordinates"},
};
inline constexpr std::array kTruths = {
    Choice<bool>{"false", false},
    Choice<bool>{"true", true},
};
inline constexpr std::array kReplacements = {
    Choice<cache::Replacement>{"lru", cache::Replacement::lru},
    Choice<cache::Replacement>{"random", cache::Replacement::random},
};
inline constexpr std::array kDies = {
    Choice<cache::Dies>{"home", cache::Dies::home},
    Choice<cache::Dies>{"apart", cache::Dies::apart},
};
inline constexpr std::array kUpRoutings = {
    Choice<UpRouting>{"by_destination", UpRouting::by_destination,
                      "destination modulo spines: one route a destination"},
    Choice<UpRouting>{"ecmp", UpRouting::ecmp, "hash of source and destination: one route a pair"},
    Choice<UpRouting>{"spray", UpRouting::spray,
                      "hash of the message: a route of its own for each"},
};
inline constexpr std::array kInitiators = {
    Choice<InitiatedBy>{"gpu", InitiatedBy::gpu,
                        "the WG writes the queue's entry and rings the doorbell"},
    Choice<InitiatedBy>{"proxy", InitiatedBy::proxy,
                        "a CPU thread for each GPU does, one operation after another"},
};
inline constexpr std::array kDataTypes = {
    Choice<DataType>{"fp32", DataType::fp32},
    Choice<DataType>{"fp16", DataType::fp16},
    Choice<DataType>{"bf16", DataType::bf16},
};
inline constexpr std::array kWorkloadKinds = {
    Choice<WorkloadKind>{"embedding_all_to_all", WorkloadKind::embedding_all_to_all,
                         "rows are looked up, pooled and sent to the samples' owners"},
    Choice<WorkloadKind>{
        "embedding_backward", WorkloadKind::embedding_backward,
        "gradients are sent to the owners of the tables and added into their rows"},
    Choice<WorkloadKind>{"gemv_all_reduce", WorkloadKind::gemv_all_reduce,
                         "y = W x, a part of the sum on each GPU; all get the sum"},
    Choice<WorkloadKind>{"gemm_all_to_all", WorkloadKind::gemm_all_to_all,
                         "an expert's GEMM; rows of C go to their tokens' owners"},
    Choice<WorkloadKind>{"gemm_reduce_scatter", WorkloadKind::gemm_reduce_scatter,
                         "C = A B, a part of the sum on each GPU; each gets its rows of the sum"},
    Choice<WorkloadKind>{"gemm_all_reduce", WorkloadKind::gemm_all_reduce,
                         "the same; all get the sum"},
    Choice<WorkloadKind>{"all_gather_gemm", WorkloadKind::all_gather_gemm,
                         "rows of A are gathered, then multiplied"},
    Choice<WorkloadKind>{"collective", WorkloadKind::collective, "a collective alone"},
    Choice<WorkloadKind>{"c3", WorkloadKind::c3,
                         "a GEMM beside a collective; neither depends on the other"},
    Choice<WorkloadKind>{"dlrm", WorkloadKind::dlrm, "a recommendation model"},
    Choice<WorkloadKind>{"transformer", WorkloadKind::transformer, "a decoder of language"},
    Choice<WorkloadKind>{"moe", WorkloadKind::moe, "the same, with experts"},
    Choice<WorkloadKind>{"chakra", WorkloadKind::chakra,
                         "a recorded trace in the format of Chakra"},
    Choice<WorkloadKind>{"pytorch", WorkloadKind::pytorch, "a recorded trace of PyTorch"},
};
// Kinds that are an operator and its collective, which a model has as pairs.
inline constexpr std::array kFusePatterns = {
    Choice<WorkloadKind>{"embedding_all_to_all", WorkloadKind::embedding_all_to_all,
                         "rows are looked up, pooled and sent to the samples' owners"},
    Choice<WorkloadKind>{
        "embedding_backward", WorkloadKind::embedding_backward,
        "gradients are sent to the owners of the tables and added into their rows"},
    Choice<WorkloadKind>{"gemv_all_reduce", WorkloadKind::gemv_all_reduce,
                         "y = W x, a part of the sum on each GPU; all get the sum"},
    Choice<WorkloadKind>{"gemm_all_to_all", WorkloadKind::gemm_all_to_all,
                         "an expert's GEMM; rows of C go to their tokens' owners"},
    Choice<WorkloadKind>{"gemm_reduce_scatter", WorkloadKind::gemm_reduce_scatter,
                         "C = A B, a part of the sum on each GPU; each gets its rows of the sum"},
    Choice<WorkloadKind>{"gemm_all_reduce", WorkloadKind::gemm_all_reduce,
                         "the same; all get the sum"},
    Choice<WorkloadKind>{"all_gather_gemm", WorkloadKind::all_gather_gemm,
                         "rows of A are gathered, then multiplied"},
};
inline constexpr std::array kRepeats = {
    Choice<bool>{"once", true, "alike ones once"},
    Choice<bool>{"each", false, "each for itself"},
};
inline constexpr std::array kPhases = {
    Choice<Phase>{"training", Phase::training, "a step: forward, backward, update"},
    Choice<Phase>{"inference", Phase::inference, "an answer to a batch"},
    Choice<Phase>{"prefill", Phase::prefill, "the prompt, all its tokens together"},
    Choice<Phase>{"decode", Phase::decode, "one more token of each sequence"},
};
inline constexpr std::array kRecomputes = {
    Choice<Recompute>{"none", Recompute::none, "nothing"},
    Choice<Recompute>{"layer", Recompute::layer, "each layer's forward"},
};
inline constexpr std::array kRouterSkews = {
    Choice<RouterSkew>{"uniform", RouterSkew::uniform, "all alike"},
    Choice<RouterSkew>{"zipf", RouterSkew::zipf, "the i-th as often as i^-exponent"},
    Choice<RouterSkew>{"histogram", RouterSkew::histogram, "as listed"},
};
inline constexpr std::array kInteractions = {
    Choice<Interaction>{"dot", Interaction::dot,
                        "products of all pairs, behind the bottom MLP's output"},
    Choice<Interaction>{"concat", Interaction::concat, "one behind the other"},
    Choice<Interaction>{"sum", Interaction::sum, "added up"},
};
inline constexpr std::array kModes = {
    Choice<Mode>{"bulk", Mode::bulk, "the kernel, a kernel boundary, the collective"},
    Choice<Mode>{"kernel", Mode::kernel,
                 "chunks: one's collective runs beside the next one's kernel"},
    Choice<Mode>{"fused", Mode::fused, "one kernel, whose WGs send or wait by themselves"},
    Choice<Mode>{"compute_alone", Mode::compute_alone, "c3: the GEMM by itself"},
    Choice<Mode>{"comm_alone", Mode::comm_alone, "the collective's kernel by itself"},
    Choice<Mode>{"comm_alone_dma", Mode::comm_alone_dma, "the same, carried by copy engines"},
    Choice<Mode>{"serial", Mode::serial, "the collective after the GEMM"},
    Choice<Mode>{"base", Mode::base, "GEMM launched first, then the collective; no control"},
    Choice<Mode>{"comm_first", Mode::comm_first,
                 "collective launched first, with the higher priority"},
    Choice<Mode>{"priority", Mode::priority,
                 "GEMM launched first, collective with the higher priority"},
    Choice<Mode>{"launch_order", Mode::launch_order,
                 "the kernel that starts fewer WGs is launched first"},
    Choice<Mode>{"partition", Mode::partition,
                 "the collective has c3.partition_cus CUs, the GEMM the others"},
    Choice<Mode>{"priority+partition", Mode::priority_partition, "comm_first and partition"},
    Choice<Mode>{"lookup", Mode::lookup, "partition, its size from a table of each by itself"},
    Choice<Mode>{"best", Mode::best, "partition, its size from trial runs of both together"},
    Choice<Mode>{"dma", Mode::dma, "copy engines carry the collective, all CUs are the GEMM's"},
    Choice<Mode>{"dma+partition", Mode::dma_partition,
                 "the same, and the GEMM leaves c3.dma_reserve_cus CUs empty"},
};
inline constexpr std::array kPartitions = {
    Choice<PartitionBy>{"masks", PartitionBy::masks, "CU masks of both streams"},
    Choice<PartitionBy>{"channels", PartitionBy::channels,
                        "nobody: the collective has so many channels, and is launched first"},
};
inline constexpr std::array kExecutors = {
    Choice<CollectiveExecutor>{"cu", CollectiveExecutor::cu,
                               "a kernel, its channels are WGs on CUs"},
    Choice<CollectiveExecutor>{"dma", CollectiveExecutor::dma,
                               "copy engines; inside a node, nothing added up"},
};
inline constexpr std::array kDmaPatterns = {
    Choice<DmaPattern>{"direct", DmaPattern::direct, "an engine for each peer"},
    Choice<DmaPattern>{"back_to_back", DmaPattern::back_to_back,
                       "one engine for all, a copy after another"},
    Choice<DmaPattern>{"broadcast", DmaPattern::broadcast,
                       "a command reads once and writes to two peers"},
};
inline constexpr std::array kCollectiveOps = {
    Choice<CollectiveOp>{"all_to_all", CollectiveOp::all_to_all,
                         "every GPU sends a part of its own to every other"},
    Choice<CollectiveOp>{"all_gather", CollectiveOp::all_gather, "every GPU gets what all have"},
    Choice<CollectiveOp>{"reduce_scatter", CollectiveOp::reduce_scatter,
                         "all add up, every GPU keeps its part of the sum"},
    Choice<CollectiveOp>{"all_reduce", CollectiveOp::all_reduce,
                         "all add up, every GPU gets the whole sum"},
    Choice<CollectiveOp>{"broadcast", CollectiveOp::broadcast, "every GPU gets what the root has"},
    Choice<CollectiveOp>{"point_to_point", CollectiveOp::point_to_point,
                         "one GPU sends to one other"},
};
// Those that every GPU takes part in alike: what can run beside a GEMM.
inline constexpr std::span kCommunications = std::span(kCollectiveOps).first<4>();
inline constexpr std::array kArbitrations = {
    Choice<Arbitration>{"in_order", Arbitration::in_order,
                        "the kernel that started first, until its last WG is placed"},
    Choice<Arbitration>{"round_robin", Arbitration::round_robin, "one WG of each in turn"},
};
inline constexpr std::array kAlgorithms = {
    Choice<Algorithm>{
        "direct", Algorithm::direct,
        "each rank to every other, all at once; all-reduce: first to add up, then to gather"},
    Choice<Algorithm>{"one_shot", Algorithm::one_shot,
                      "each rank sends all it has to every other, and all add up"},
    Choice<Algorithm>{"ring", Algorithm::ring, "from neighbour to neighbour"},
    Choice<Algorithm>{"tree", Algorithm::tree,
                      "up and down two trees, each for half of the buffer"},
    Choice<Algorithm>{"halving_doubling", Algorithm::halving_doubling,
                      "between pairs, half as much or twice as much each time"},
    Choice<Algorithm>{"hierarchical", Algorithm::hierarchical,
                      "inside the nodes, then between them, then inside again"},
    Choice<Algorithm>{"in_switch", Algorithm::in_switch, "the node's switch adds up and copies"},
};
inline constexpr std::array kProtocolWords = {
    Choice<Protocol>{"ll", Protocol::ll, "a flag of 8 B with every 8 B"},
    Choice<Protocol>{"ll128", Protocol::ll128, "a flag of 8 B with every 120 B"},
    Choice<Protocol>{"simple", Protocol::simple, "a fence, then a flag"},
};
inline constexpr std::array kOrders = {
    Choice<DestinationOrder>{"remote_first", DestinationOrder::remote_first,
                             "of GPU g: for g + 1, then g + 2, ... around, and last for itself"},
    Choice<DestinationOrder>{"local_first", DestinationOrder::local_first,
                             "of GPU g: for itself, then for g + 1, ... around"},
    Choice<DestinationOrder>{
        "staggered", DestinationOrder::staggered,
        "a slice for each remote GPU in turn, in an order that spreads them; last for itself"},
    Choice<DestinationOrder>{"given", DestinationOrder::given,
                             "for GPU 0, 1, 2, ..., alike on all GPUs"},
};
inline constexpr std::array kWorkLists = {
    Choice<WorkList>{"dynamic", WorkList::dynamic_list, "the next in the list, by a counter"},
    Choice<WorkList>{"static", WorkList::static_list, "every n-th of n physical ones"},
};
inline constexpr std::array kFlagPer = {
    Choice<FlagPer>{"slice", FlagPer::slice, "a slice of fused.slice_wgs WGs"},
    Choice<FlagPer>{"peer", FlagPer::peer, "all that goes to a peer"},
};
inline constexpr std::array kPutBy = {
    Choice<PutBy>{"wg", PutBy::wg, "the WG's, together"},
    Choice<PutBy>{"wave", PutBy::wave, "each wave for itself"},
    Choice<PutBy>{"thread", PutBy::thread, "each thread for itself"},
};
inline constexpr std::array kFenceBys = {
    Choice<FenceBy>{"wg", FenceBy::wg, "one thread, behind a barrier of the WG"},
    Choice<FenceBy>{"wave", FenceBy::wave, "each wave"},
};
inline constexpr std::array kAcquires = {
    Choice<Acquire>{"load", Acquire::load, "the load acquires"},
    Choice<Acquire>{"fence", Acquire::fence, "loads are plain, a fence stands behind them"},
};
inline constexpr std::array kFences = {
    Choice<Fences>{"independent", Fences::independent, "each WG waits for its own stores"},
    Choice<Fences>{"one_a_cu", Fences::one_a_cu,
                   "a CU has one under way; WGs that come meanwhile share the next"},
};
inline constexpr std::array kStagings = {
    Choice<Staging>{"zero_copy", Staging::zero_copy, "where it belongs"},
    Choice<Staging>{"staged", Staging::staged,
                    "in a buffer, from which the last WG of a slice sends"},
};
inline constexpr std::array kTileOrders = {
    Choice<TileOrder>{"row", TileOrder::row, "row by row of tiles"},
    Choice<TileOrder>{"column", TileOrder::column, "column by column"},
    Choice<TileOrder>{"swizzled", TileOrder::swizzled,
                      "column by column in groups of gemm.swizzle rows"},
};
inline constexpr std::array kGemmSchedules = {
    Choice<GemmSchedule>{"tiles", GemmSchedule::tiles, "one each"},
    Choice<GemmSchedule>{"persistent", GemmSchedule::persistent,
                         "n WGs stay, each takes every n-th"},
    Choice<GemmSchedule>{"dynamic", GemmSchedule::dynamic, "WGs stay, each takes the next"},
    Choice<GemmSchedule>{"stream_k", GemmSchedule::stream_k,
                         "WGs stay and share all evenly, also parts of tiles; they end together"},
};
inline constexpr std::array kTableWalks = {
    Choice<TableWalk>{"by_table", TableWalk::by_table, "all samples of a table, then of the next"},
    Choice<TableWalk>{"by_sample", TableWalk::by_sample,
                      "all tables of a sample, then of the next"},
};
inline constexpr std::array kWeights = {
    Choice<bool>{"in_hbm", false},
    Choice<bool>{"in_l2", true, "and it fits there"},
};
inline constexpr std::array kLaunches = {
    Choice<LaunchKind>{"host", LaunchKind::host,
                       "the host launches a kernel when it has seen the one before end"},
    Choice<LaunchKind>{"queue", LaunchKind::queue, "a kernel waits in the stream's queue"},
    Choice<LaunchKind>{"graph", LaunchKind::graph,
                       "kernels are nodes of a graph launched as a whole"},
};

// The same with `auto`, which leaves the choice to the library or to what wrote the trace.
template <class E, std::size_t n>
constexpr std::array<Choice<std::optional<E>>, n + 1> with_auto(
    const std::array<Choice<E>, n>& choices) {
  std::array<Choice<std::optional<E>>, n + 1> all{};
  all[0] = {"auto", std::nullopt};
  for (std::size_t i = 0; i < n; ++i) {
    all[i + 1] = {choices[i].name, choices[i].value, choices[i].meaning};
  }
  return all;
}
inline constexpr auto kSizeUnits = with_auto(std::array{
    Choice<CommSizeUnit>{"bytes", CommSizeUnit::bytes},
    Choice<CommSizeUnit>{"elements", CommSizeUnit::elements, "of element_bytes each"},
});
inline constexpr auto kAllGatherSizes = with_auto(std::array{
    Choice<AllGatherSize>{"per_rank", AllGatherSize::per_rank, "what a rank puts in"},
    Choice<AllGatherSize>{"total", AllGatherSize::total, "what it has in the end"},
});
inline constexpr auto kCpuOps = with_auto(std::array{
    Choice<CpuOps>{"drop", CpuOps::drop,
                   "no time; what is behind them waits for what is before them"},
    Choice<CpuOps>{"run", CpuOps::run, "kernels of one WG, on a stream of their own"},
});
inline constexpr auto kWaitFors = with_auto(std::array{
    Choice<WaitFor>{"data", WaitFor::data, "data dependencies; the CPU only starts collectives"},
    Choice<WaitFor>{"blocking_collectives", WaitFor::blocking_collectives,
                    "and what is behind an operator that started one waits for it"},
    Choice<WaitFor>{"data_and_control", WaitFor::data_and_control, "control dependencies too"},
});
template <std::size_t n>
constexpr std::array<Choice<AskedAlgorithm>, n + 2> with_auto_and_library(
    const std::array<Choice<Algorithm>, n>& choices) {
  std::array<Choice<AskedAlgorithm>, n + 2> all{};
  all[0] = {"auto", {}, "the fastest of all algorithms, each tried by itself"};
  all[1] = {"library", {std::nullopt, true}, "what the GPU's library would take"};
  for (std::size_t i = 0; i < n; ++i) {
    all[i + 2] = {choices[i].name, {choices[i].value, false}, choices[i].meaning};
  }
  return all;
}
inline constexpr auto kAlgorithmChoices = with_auto_and_library(kAlgorithms);
inline constexpr auto kProtocolChoices = with_auto(kProtocolWords);

// A table as the span that the reader's templates can match.
template <class E, std::size_t n>
std::span<const Choice<E>> table(const std::array<Choice<E>, n>& choices) {
  return choices;
}

template <class E, std::size_t n>
std::string_view word(const std::array<Choice<E>, n>& choices, E value) {
  for (const Choice<E>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "";
}

}  // namespace weft::names
