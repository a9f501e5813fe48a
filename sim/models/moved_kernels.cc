#include "sim/models/moved_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/cluster/cluster.h"
#include "sim/engine/simulate.h"
#include "sim/models/lower_model.h"
#include "sim/models/recorded_kernel.h"

namespace weft {
namespace {

// What attention_kernel() is for; other sizes have a roofline only.
std::optional<OpShape> model_of(const RecordedAttention& of, std::int64_t element_bytes) {
  constexpr std::int32_t kLeastTokens = 128;  // of a block of queries, or of keys backward
  if (of.heads % of.kv_heads != 0 || (of.causal && of.queries > of.keys)) return std::nullopt;
  const bool few = std::min(of.queries, of.keys) < kLeastTokens;
  if (few && (of.backward || of.queries >= kLeastTokens)) return std::nullopt;
  AttentionShape shape{.batch = of.batch,
                       .heads = of.heads,
                       .kv_heads = of.kv_heads,
                       .head_dim = of.head_dim,
                       .value_head_dim = of.value_head_dim,
                       .queries = of.queries,
                       .keys = of.keys,
                       .causal = of.causal,
                       .backward = of.backward};
  if (element_bytes >= size_of(DataType::fp32).count()) shape.dtype = DataType::fp32;
  return shape;
}

// The operator that the recorded kernel is modelled as; none: by its roofline.
std::optional<OpShape> model_of(const RecordedWork& work) {
  if (work.attention) return model_of(*work.attention, work.element_bytes);
  const bool products = work.kind == RecordedKind::gemm;  // of several sizes, which are not known
  if (work.kind == RecordedKind::attention || (products && !work.gemm)) return std::nullopt;
  if (!work.gemm) {
    return StreamShape{.read = work.read, .written = work.written, .flops = work.flops};
  }
  GemmShape gemm{
      .m = work.gemm->m, .n = work.gemm->n, .k = work.gemm->k, .batch = work.gemm->batch};
  if (work.element_bytes >= size_of(DataType::fp32).count()) gemm.dtype = DataType::fp32;
  if (work.element_bytes == 1) gemm.fp8 = Fp8Scales::tensor;
  return gemm;
}

// One GPU of this kind, with nothing else on it.
class AloneOn {
 public:
  AloneOn(const Scenario& scenario, const GpuSpec& gpu)
      : scenario_(scenario), cluster_(build_cluster(one_of(gpu))) {}

  // How long the kernel takes, from its start to its end. 0: its run does not end.
  double seconds(const OpShape& shape) const {
    ModelGraph graph;
    ModelOp op;
    op.name = op.part = "alone";
    op.shape = shape;
    op.place = graph.add_place({.groups = {{0}}});
    graph.add(std::move(op));
    const TaskGraph tasks = lower_model(graph, {.options = overlap_options(scenario_),
                                                .cluster = cluster_,
                                                .mode = Mode::bulk,
                                                .fusions = {}});
    const RunResult result = simulate(cluster_, tasks, scenario_.run);
    if (result.ending != Ending::finished) return 0;
    return to_seconds(result.operators.front().longest);
  }
  [[nodiscard]] const GpuSpec& gpu() const { return cluster_.spec.gpu; }

 private:
  static ClusterSpec one_of(const GpuSpec& gpu) {
    ClusterSpec spec;
    spec.name = "one GPU";
    spec.nodes = 1;
    spec.gpus_per_node = 1;
    spec.gpu = gpu;
    return spec;
  }

  const Scenario& scenario_;
  Cluster cluster_;
};

class Mover {
 public:
  Mover(const Scenario& scenario, const GpuSpec& there)
      : there_(scenario, there), here_(scenario, scenario.cluster.gpu) {}

  void move(ModelOp& op) {
    auto* kernel = std::get_if<RecordedShape>(&op.shape);
    if (kernel == nullptr || kernel->host) return;
    const Modelled* modelled = nullptr;
    if (kernel->work && !is_to_or_from_host(op.name)) modelled = &modelled_as(*kernel->work);
    const bool known = modelled != nullptr && modelled->there > 0 && modelled->here > 0;
    const double ratio = known ? modelled->here / modelled->there : 1;
    MovedKernels& sum = moved_[known ? modelled->by : MovedBy::nothing];
    ++sum.kernels;
    sum.recorded_s += to_seconds(kernel->time);
    if (known) sum.model_there_s += modelled->there;
    kernel->time = fraction_of(kernel->time, ratio);
    for (RecordedOfRank& each : kernel->by_rank) each.time = fraction_of(each.time, ratio);
    sum.here_s += to_seconds(kernel->time);
  }
  [[nodiscard]] const MovedTimes& moved() const { return moved_; }

 private:
  struct Modelled {
    MovedBy by = MovedBy::model;
    double there = 0;  // seconds
    double here = 0;
  };
  // Kernels that the models cannot tell apart.
  using Key = std::array<std::int64_t, 18>;

  const Modelled& modelled_as(const RecordedWork& work) {
    const RecordedGemm gemm = work.gemm.value_or(RecordedGemm{});
    const RecordedAttention of = work.attention.value_or(RecordedAttention{});
    const Key key{static_cast<std::int64_t>(work.kind),
                  work.element_bytes,
                  work.flops.count(),
                  work.read.count(),
                  work.written.count(),
                  gemm.m,
                  gemm.n,
                  gemm.k,
                  gemm.batch,
                  of.batch,
                  of.heads,
                  of.kv_heads,
                  of.head_dim,
                  of.value_head_dim,
                  of.queries,
                  of.keys,
                  of.causal ? 1 : 0,
                  of.backward ? 1 : 0};
    const auto [found, added] = known_.try_emplace(key);
    if (added) found->second = model(work);
    return found->second;
  }

  [[nodiscard]] Modelled model(const RecordedWork& work) const {
    if (const std::optional<OpShape> shape = model_of(work)) {
      return {.by = MovedBy::model, .there = there_.seconds(*shape), .here = here_.seconds(*shape)};
    }
    return {.by = MovedBy::roofline,
            .there = roofline_seconds(work, there_.gpu()),
            .here = roofline_seconds(work, here_.gpu())};
  }

  AloneOn there_;
  AloneOn here_;
  std::map<Key, Modelled> known_;
  MovedTimes moved_;
};

const char* says(MovedBy by) {
  switch (by) {
    case MovedBy::model:
      return "by a model of what they compute";
    case MovedBy::roofline:
      return "by their roofline";
    case MovedBy::nothing:
      return "as recorded, as it is not known what they compute, or they copy from or to the host";
  }
  return "";
}

}  // namespace

MovedTimes move_recorded(ModelGraph& graph, const Scenario& scenario, const GpuSpec& there) {
  Mover mover(scenario, there);
  for (ModelOp& op : graph.ops) mover.move(op);
  return mover.moved();
}

double moved_share(const MovedTimes& moved, MovedBy by) {
  double all = 0;
  for (const auto& [other, kernels] : moved) all += kernels.recorded_s;
  const auto found = moved.find(by);
  return found == moved.end() || all == 0 ? 0 : found->second.recorded_s / all;
}

std::string moved_text(const MovedTimes& moved, const std::string& there, const std::string& here) {
  if (moved.empty()) return {};
  std::string text = fmt::format("  note: kernels recorded on {}, moved to {}:\n", there, here);
  for (const auto& [by, kernels] : moved) {
    text += fmt::format("    {:.0f} % of their time {}: {} kernels", 100 * moved_share(moved, by),
                        says(by), kernels.kernels);
    if (by != MovedBy::nothing) {
      text += fmt::format(", {:.2f} times the recorded time; recorded / modelled on {}: {:.2f}",
                          kernels.here_s / kernels.recorded_s, there,
                          kernels.recorded_s / kernels.model_there_s);
    }
    text += "\n";
  }
  return text;
}

}  // namespace weft
