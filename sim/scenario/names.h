// The words of the scenario's enumerations: one table each, for reading, writing and explaining.
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
    Choice<RingTies>{"split", RingTies::split},
    Choice<RingTies>{"positive", RingTies::positive},
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
    Choice<UpRouting>{"by_destination", UpRouting::by_destination},
    Choice<UpRouting>{"ecmp", UpRouting::ecmp},
    Choice<UpRouting>{"spray", UpRouting::spray},
};
inline constexpr std::array kInitiators = {
    Choice<InitiatedBy>{"gpu", InitiatedBy::gpu},
    Choice<InitiatedBy>{"proxy", InitiatedBy::proxy},
};
inline constexpr std::array kDataTypes = {
    Choice<DataType>{"fp32", DataType::fp32},
    Choice<DataType>{"fp16", DataType::fp16},
    Choice<DataType>{"bf16", DataType::bf16},
};
inline constexpr std::array kWorkloadKinds = {
    Choice<WorkloadKind>{"embedding_all_to_all", WorkloadKind::embedding_all_to_all},
    Choice<WorkloadKind>{"embedding_backward", WorkloadKind::embedding_backward},
    Choice<WorkloadKind>{"gemv_all_reduce", WorkloadKind::gemv_all_reduce},
    Choice<WorkloadKind>{"gemm_all_to_all", WorkloadKind::gemm_all_to_all},
    Choice<WorkloadKind>{"gemm_reduce_scatter", WorkloadKind::gemm_reduce_scatter},
    Choice<WorkloadKind>{"gemm_all_reduce", WorkloadKind::gemm_all_reduce},
    Choice<WorkloadKind>{"all_gather_gemm", WorkloadKind::all_gather_gemm},
    Choice<WorkloadKind>{"collective", WorkloadKind::collective},
    Choice<WorkloadKind>{"c3", WorkloadKind::c3},
    Choice<WorkloadKind>{"dlrm", WorkloadKind::dlrm},
    Choice<WorkloadKind>{"transformer", WorkloadKind::transformer},
    Choice<WorkloadKind>{"moe", WorkloadKind::moe},
    Choice<WorkloadKind>{"chakra", WorkloadKind::chakra},
    Choice<WorkloadKind>{"pytorch", WorkloadKind::pytorch},
};
// Kinds that are an operator and its collective, which a model has as pairs.
inline constexpr std::array kFusePatterns = {
    Choice<WorkloadKind>{"embedding_all_to_all", WorkloadKind::embedding_all_to_all},
    Choice<WorkloadKind>{"embedding_backward", WorkloadKind::embedding_backward},
    Choice<WorkloadKind>{"gemv_all_reduce", WorkloadKind::gemv_all_reduce},
    Choice<WorkloadKind>{"gemm_all_to_all", WorkloadKind::gemm_all_to_all},
    Choice<WorkloadKind>{"gemm_reduce_scatter", WorkloadKind::gemm_reduce_scatter},
    Choice<WorkloadKind>{"gemm_all_reduce", WorkloadKind::gemm_all_reduce},
    Choice<WorkloadKind>{"all_gather_gemm", WorkloadKind::all_gather_gemm},
};
inline constexpr std::array kRepeats = {
    Choice<bool>{"once", true},
    Choice<bool>{"each", false},
};
inline constexpr std::array kPhases = {
    Choice<Phase>{"training", Phase::training},
    Choice<Phase>{"inference", Phase::inference},
    Choice<Phase>{"prefill", Phase::prefill},
    Choice<Phase>{"decode", Phase::decode},
};
inline constexpr std::array kRecomputes = {
    Choice<Recompute>{"none", Recompute::none},
    Choice<Recompute>{"layer", Recompute::layer},
};
inline constexpr std::array kRouterSkews = {
    Choice<RouterSkew>{"uniform", RouterSkew::uniform},
    Choice<RouterSkew>{"zipf", RouterSkew::zipf},
    Choice<RouterSkew>{"histogram", RouterSkew::histogram},
};
inline constexpr std::array kInteractions = {
    Choice<Interaction>{"dot", Interaction::dot},
    Choice<Interaction>{"concat", Interaction::concat},
    Choice<Interaction>{"sum", Interaction::sum},
};
inline constexpr std::array kModes = {
    Choice<Mode>{"bulk", Mode::bulk},
    Choice<Mode>{"kernel", Mode::kernel},
    Choice<Mode>{"fused", Mode::fused},
    Choice<Mode>{"compute_alone", Mode::compute_alone},
    Choice<Mode>{"comm_alone", Mode::comm_alone},
    Choice<Mode>{"comm_alone_dma", Mode::comm_alone_dma},
    Choice<Mode>{"serial", Mode::serial},
    Choice<Mode>{"base", Mode::base},
    Choice<Mode>{"comm_first", Mode::comm_first},
    Choice<Mode>{"priority", Mode::priority},
    Choice<Mode>{"launch_order", Mode::launch_order},
    Choice<Mode>{"partition", Mode::partition},
    Choice<Mode>{"priority+partition", Mode::priority_partition},
    Choice<Mode>{"lookup", Mode::lookup},
    Choice<Mode>{"best", Mode::best},
    Choice<Mode>{"dma", Mode::dma},
    Choice<Mode>{"dma+partition", Mode::dma_partition},
};
inline constexpr std::array kPartitions = {
    Choice<PartitionBy>{"masks", PartitionBy::masks},
    Choice<PartitionBy>{"channels", PartitionBy::channels},
};
inline constexpr std::array kExecutors = {
    Choice<CollectiveExecutor>{"cu", CollectiveExecutor::cu},
    Choice<CollectiveExecutor>{"dma", CollectiveExecutor::dma},
};
inline constexpr std::array kDmaPatterns = {
    Choice<DmaPattern>{"direct", DmaPattern::direct},
    Choice<DmaPattern>{"back_to_back", DmaPattern::back_to_back},
    Choice<DmaPattern>{"broadcast", DmaPattern::broadcast},
};
inline constexpr std::array kCollectiveOps = {
    Choice<CollectiveOp>{"all_to_all", CollectiveOp::all_to_all},
    Choice<CollectiveOp>{"all_gather", CollectiveOp::all_gather},
    Choice<CollectiveOp>{"reduce_scatter", CollectiveOp::reduce_scatter},
    Choice<CollectiveOp>{"all_reduce", CollectiveOp::all_reduce},
    Choice<CollectiveOp>{"broadcast", CollectiveOp::broadcast},
    Choice<CollectiveOp>{"point_to_point", CollectiveOp::point_to_point},
};
// Those that every GPU takes part in alike: what can run beside a GEMM.
inline constexpr std::span kCommunications = std::span(kCollectiveOps).first<4>();
inline constexpr std::array kArbitrations = {
    Choice<Arbitration>{"in_order", Arbitration::in_order},
    Choice<Arbitration>{"round_robin", Arbitration::round_robin},
};
inline constexpr std::array kAlgorithms = {
    Choice<Algorithm>{"direct", Algorithm::direct},
    Choice<Algorithm>{"one_shot", Algorithm::one_shot},
    Choice<Algorithm>{"ring", Algorithm::ring},
    Choice<Algorithm>{"tree", Algorithm::tree},
    Choice<Algorithm>{"halving_doubling", Algorithm::halving_doubling},
    Choice<Algorithm>{"hierarchical", Algorithm::hierarchical},
    Choice<Algorithm>{"in_switch", Algorithm::in_switch},
};
inline constexpr std::array kProtocolWords = {
    Choice<Protocol>{"ll", Protocol::ll},
    Choice<Protocol>{"ll128", Protocol::ll128},
    Choice<Protocol>{"simple", Protocol::simple},
};
inline constexpr std::array kOrders = {
    Choice<DestinationOrder>{"remote_first", DestinationOrder::remote_first},
    Choice<DestinationOrder>{"local_first", DestinationOrder::local_first},
    Choice<DestinationOrder>{"staggered", DestinationOrder::staggered},
    Choice<DestinationOrder>{"given", DestinationOrder::given},
};
inline constexpr std::array kWorkLists = {
    Choice<WorkList>{"dynamic", WorkList::dynamic_list},
    Choice<WorkList>{"static", WorkList::static_list},
};
inline constexpr std::array kFlagPer = {
    Choice<FlagPer>{"slice", FlagPer::slice},
    Choice<FlagPer>{"peer", FlagPer::peer},
};
inline constexpr std::array kPutBy = {
    Choice<PutBy>{"wg", PutBy::wg},
    Choice<PutBy>{"wave", PutBy::wave},
    Choice<PutBy>{"thread", PutBy::thread},
};
inline constexpr std::array kFenceBys = {
    Choice<FenceBy>{"wg", FenceBy::wg},
    Choice<FenceBy>{"wave", FenceBy::wave},
};
inline constexpr std::array kAcquires = {
    Choice<Acquire>{"load", Acquire::load},
    Choice<Acquire>{"fence", Acquire::fence},
};
inline constexpr std::array kFences = {
    Choice<Fences>{"independent", Fences::independent},
    Choice<Fences>{"one_a_cu", Fences::one_a_cu},
};
inline constexpr std::array kStagings = {
    Choice<Staging>{"zero_copy", Staging::zero_copy},
    Choice<Staging>{"staged", Staging::staged},
};
inline constexpr std::array kTileOrders = {
    Choice<TileOrder>{"row", TileOrder::row},
    Choice<TileOrder>{"column", TileOrder::column},
    Choice<TileOrder>{"swizzled", TileOrder::swizzled},
};
inline constexpr std::array kGemmSchedules = {
    Choice<GemmSchedule>{"tiles", GemmSchedule::tiles},
    Choice<GemmSchedule>{"persistent", GemmSchedule::persistent},
    Choice<GemmSchedule>{"dynamic", GemmSchedule::dynamic},
    Choice<GemmSchedule>{"stream_k", GemmSchedule::stream_k},
};
inline constexpr std::array kTableWalks = {
    Choice<TableWalk>{"by_table", TableWalk::by_table},
    Choice<TableWalk>{"by_sample", TableWalk::by_sample},
};
inline constexpr std::array kWeights = {
    Choice<bool>{"in_hbm", false},
    Choice<bool>{"in_l2", true},
};
inline constexpr std::array kLaunches = {
    Choice<LaunchKind>{"host", LaunchKind::host},
    Choice<LaunchKind>{"queue", LaunchKind::queue},
    Choice<LaunchKind>{"graph", LaunchKind::graph},
};

// The same with `auto`: the library's choice.
template <class E, std::size_t n>
constexpr std::array<Choice<std::optional<E>>, n + 1> with_auto(
    const std::array<Choice<E>, n>& choices) {
  std::array<Choice<std::optional<E>>, n + 1> all{};
  all[0] = {"auto", std::nullopt};
  for (std::size_t i = 0; i < n; ++i) all[i + 1] = {choices[i].name, choices[i].value};
  return all;
}
inline constexpr auto kSizeUnits = with_auto(std::array{
    Choice<CommSizeUnit>{"bytes", CommSizeUnit::bytes},
    Choice<CommSizeUnit>{"elements", CommSizeUnit::elements},
});
inline constexpr auto kAllGatherSizes = with_auto(std::array{
    Choice<AllGatherSize>{"per_rank", AllGatherSize::per_rank},
    Choice<AllGatherSize>{"total", AllGatherSize::total},
});
inline constexpr auto kCpuOps = with_auto(std::array{
    Choice<CpuOps>{"drop", CpuOps::drop},
    Choice<CpuOps>{"run", CpuOps::run},
});
inline constexpr auto kWaitFors = with_auto(std::array{
    Choice<WaitFor>{"data", WaitFor::data},
    Choice<WaitFor>{"blocking_collectives", WaitFor::blocking_collectives},
    Choice<WaitFor>{"data_and_control", WaitFor::data_and_control},
});
inline constexpr auto kAlgorithmChoices = with_auto(kAlgorithms);
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
