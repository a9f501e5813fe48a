#include "sim/scenario/modes.h"

#include <algorithm>
#include <array>

#include "sim/scenario/names.h"

namespace weft {
namespace {

constexpr std::array kGrains = {Mode::bulk,  Mode::kernel,     Mode::pipelined,
                                Mode::fused, Mode::role_split, Mode::copy_fed};
constexpr std::array kOfModels = {Mode::bulk,       Mode::kernel,   Mode::pipelined, Mode::fused,
                                  Mode::role_split, Mode::copy_fed, Mode::mixed};
constexpr std::array kNoKernel = {Mode::bulk};
constexpr std::array kStrategies = {
    Mode::compute_alone, Mode::comm_alone,   Mode::comm_alone_dma, Mode::serial,
    Mode::base,          Mode::comm_first,   Mode::priority,       Mode::launch_order,
    Mode::partition,     Mode::lookup,       Mode::best,           Mode::priority_partition,
    Mode::dma,           Mode::dma_partition};

}  // namespace

const char* name_of(Mode mode) { return names::word(names::kModes, mode).data(); }

const char* name_of(WorkloadKind kind) { return row_of(kind).name; }

std::span<const Mode> modes_of(WorkloadKind kind) {
  const Family family = row_of(kind).family;
  if (family == Family::c3) return kStrategies;
  if (is_model(kind)) return kOfModels;
  return family == Family::collective ? std::span<const Mode>(kNoKernel) : kGrains;
}

bool is_extra(Mode mode) {
  return mode == Mode::pipelined || mode == Mode::role_split || mode == Mode::copy_fed ||
         mode == Mode::mixed;
}

bool is_fused(Mode mode) {
  return mode == Mode::fused || mode == Mode::role_split || mode == Mode::copy_fed;
}

bool fuses(const Scenario& scenario) {
  return std::any_of(scenario.modes.begin(), scenario.modes.end(),
                     [](Mode mode) { return is_fused(mode) || mode == Mode::mixed; });
}

bool asks_for_sustained_clocks(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const bool trains = row_of(workload.kind).model != nullptr && workload.phase == Phase::training;
  return scenario.run.clocks == Clocks::sustained ||
         (scenario.run.clocks == Clocks::automatic && trains);
}

std::string_view why_not(const PairTraits& pair, Mode mode) {
  const bool by_engines = mode == Mode::pipelined || mode == Mode::copy_fed;
  if (pair.scatters && (mode == Mode::kernel || by_engines)) {
    return "its WGs have rows of several peers, so there is no part for each";
  }
  if (mode == Mode::pipelined && pair.op == CollectiveOp::all_reduce) {
    return "an all-reduce has no part for each peer; the pair of a reduce-scatter has";
  }
  if (mode == Mode::copy_fed && pair.travels == Travels::result &&
      pair.op != CollectiveOp::reduce_scatter) {
    return "there is no input for copy engines to bring, nor are sums left to a kernel";
  }
  if (by_engines && !pair.in_a_node) return "copy engines reach the GPUs of one node only";
  return "";
}

std::string why_not(const Scenario& scenario, Mode mode) {
  const KindRow& row = row_of(scenario.workload.kind);
  if (mode == Mode::role_split && scenario.cluster.gpu.cus < 2) {
    return "a GPU of one CU has none to spare for sending";
  }
  if (row.family != Family::pair) return "";
  const PairTraits pair{.op = *row.collective,  // a pair has one
                        .travels = row.travels,
                        .in_a_node = scenario.cluster.nodes == 1};
  return std::string(why_not(pair, mode));
}

Mode baseline_of(WorkloadKind kind) { return kind == WorkloadKind::c3 ? Mode::serial : Mode::bulk; }

bool is_isolated(Mode mode) {
  return mode == Mode::compute_alone || mode == Mode::comm_alone || mode == Mode::comm_alone_dma;
}

bool uses_copy_engines(Mode mode) {
  return mode == Mode::comm_alone_dma || mode == Mode::dma || mode == Mode::dma_partition;
}

bool has_partition(Mode mode) {
  return mode == Mode::partition || mode == Mode::priority_partition || mode == Mode::lookup ||
         mode == Mode::best;
}

int channels_of(const CollectiveOptions& options, const GpuSpec& gpu) {
  if (options.channels > 0) return options.channels;
  const bool loads =
      options.algorithm.of_engine && options.algorithm.named && gpu.collective.engine;
  return loads ? gpu.collective.engine->wgs : gpu.collective.channels;
}

bool can_use_copy_engines(const Scenario& scenario) {
  const CollectiveOp op = scenario.workload.collective.op;
  return scenario.cluster.nodes == 1 && op != CollectiveOp::all_reduce &&
         op != CollectiveOp::reduce_scatter;
}

}  // namespace weft
