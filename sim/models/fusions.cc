#include "sim/models/fusions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/core/assert.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

const CommunicationShape& call_of(const ModelOp& op) {
  return std::get<CommunicationShape>(op.shape);
}

std::vector<std::uint32_t> gpus_of(const Groups& place) {
  std::vector<std::uint32_t> gpus;
  for (const std::vector<std::uint32_t>& group : place.groups) {
    gpus.insert(gpus.end(), group.begin(), group.end());
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

// What find_fusions needs to know of an operator that computes.
struct Partner {
  const OperatorKind* computes = nullptr;
  bool gives = true;   // its results may travel ...
  bool takes = false;  // ... and its input may
};

Partner product(std::int64_t rows) {
  return {.computes = rows == 1 ? &operators::gemv : &operators::gemm, .takes = true};
}

Partner partner_of(const ModelOp& op) {
  if (is_described(op)) return {.computes = op.described->kind, .takes = true};
  const OpShape& shape = op.shape;
  if (const auto* bag = std::get_if<EmbeddingShape>(&shape)) {
    return {.computes = &operators::embedding, .gives = !bag->backward, .takes = bag->backward};
  }
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) return product(gemm->m);
  const auto* recorded = std::get_if<RecordedShape>(&shape);
  if (recorded == nullptr || recorded->wgs == 1) return {};  // one WG: no grid was recorded
  const auto& work = recorded->work;
  if (work && work->kind == RecordedKind::embedding) return {.computes = &operators::embedding};
  if (work && work->gemm) return product(work->gemm->m);
  return {.computes = &operators::gemm};  // it is unknown what it computes, but in several WGs
}

// The pattern that the two form, if any. Where there is none for a GEMV, that of a GEMM of one row.
std::optional<WorkloadKind> pattern_of(const ModelOp& op, CollectiveOp call, Travels travels) {
  const Partner partner = partner_of(op);
  if (travels == Travels::result ? !partner.gives : !partner.takes) return std::nullopt;
  const auto found = [&](const OperatorKind* computes) -> std::optional<WorkloadKind> {
    for (const KindRow& row : kKindRows) {
      if (row.family == Family::pair && row.computes == computes && row.collective == call &&
          row.travels == travels) {
        return row.kind;
      }
    }
    return std::nullopt;
  };
  const std::optional<WorkloadKind> pattern = found(partner.computes);
  return pattern || partner.computes != &operators::gemv ? pattern : found(&operators::gemm);
}

// The obstacle if grid and collective disagree on how much travels.
std::string sizes_differ(const Grid& grid, const CommunicationShape& call, Travels travels) {
  const std::int64_t each = bytes_per_pair(grid, travels);
  if (each * grid.gpus == call.buffer.count()) return {};
  if (travels == Travels::input) {
    return fmt::format(
        "{} B are gathered, but the rows that it multiplies have {} B: a GEMM can start only on "
        "rows of its first matrix",
        call.buffer.count(), each * grid.gpus);
  }
  return fmt::format("the collective moves {} B and the kernel has {} B for it",
                     call.buffer.count(), each * grid.gpus);
}

class Finder {
 public:
  Finder(const ModelGraph& graph, const GpuSpec& gpu)
      : graph_(graph), gpu_(gpu), consumers_(graph.ops.size()), taken_(graph.ops.size(), false) {
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
      for (const OpId before : graph.ops[OpId(i)].after) consumers_[before.value].push_back(i);
    }
    find_previous();
    find_beside_copies();
  }

  std::vector<Fusion> find() {
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) try_producer(i);
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) try_collective(i);
    std::sort(found_.begin(), found_.end(),
              [](const Fusion& a, const Fusion& b) { return a.first < b.first; });
    return found_;
  }

 private:
  // A producer that only one collective waits for, if that waits for nothing else.
  void try_producer(std::uint32_t i) {
    const ModelOp& op = graph_.ops[OpId(i)];
    if (communicates(op) || consumers_[i].size() != 1) return;
    const std::uint32_t next = consumers_[i].front();
    const ModelOp& call = graph_.ops[OpId(next)];
    if (!communicates(call) || inputs_of(call) != 1) return;
    const OpId before = previous_[i];
    const bool passed = !before.is_none() && consumers_[before.value].empty() &&
                        graph_.ops[before].place == op.place && passes_on(graph_.ops[before], op);
    if (passed) add(before.value, next, Travels::result, OpId(i));
    add(i, next, Travels::result);
  }

  // Without the host, which launches a fused kernel once.
  [[nodiscard]] std::ptrdiff_t inputs_of(const ModelOp& op) const {
    return std::count_if(op.after.begin(), op.after.end(),
                         [this](OpId id) { return !is_host_time(graph_.ops[id]); });
  }

  // Of each copy, the operators before and after it on its stream and GPUs; of recorded kernels,
  // after find_previous(), what follows.
  void find_beside_copies() {
    following_.assign(graph_.ops.size(), OpId::none());
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const OpId before = previous_[i];
      if (!before.is_none() && graph_.ops[before].place == graph_.ops[OpId(i)].place) {
        following_[before.value] = OpId(i);
      }
    }
    std::map<std::pair<std::uint32_t, PlaceId>, OpId> last;  // by stream and place
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const ModelOp& op = graph_.ops[OpId(i)];
      if (communicates(op)) continue;
      const auto [before, first] = last.try_emplace({op.stream, op.place}, OpId(i));
      if (first) continue;
      if (only_reorders(op)) previous_[i] = before->second;
      if (only_reorders(graph_.ops[before->second])) following_[before->second.value] = OpId(i);
      before->second = OpId(i);
    }
  }

  // By operator, the one before it on its stream on each of its GPUs.
  void find_previous() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, OpId> last;  // by GPU and stream
    previous_.assign(graph_.ops.size(), OpId::none());
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const ModelOp& op = graph_.ops[OpId(i)];
      if (!std::holds_alternative<RecordedShape>(op.shape)) continue;
      std::set<OpId> before;
      for (const std::vector<std::uint32_t>& group : graph_.places[op.place].groups) {
        for (const std::uint32_t gpu : group) {
          const auto [known, first] = last.try_emplace({gpu, op.stream}, OpId(i));
          before.insert(first ? OpId::none() : std::exchange(known->second, OpId(i)));
        }
      }
      if (before.size() == 1) previous_[i] = *before.begin();
    }
  }

  void try_collective(std::uint32_t i) {
    if (!communicates(graph_.ops[OpId(i)]) || consumers_[i].size() != 1) return;
    const std::uint32_t next = consumers_[i].front();
    const ModelOp& consumer = graph_.ops[OpId(next)];
    if (communicates(consumer)) return;
    const OpId after = following_[next];
    if (consumers_[next].empty() && !after.is_none() && inputs_of(graph_.ops[after]) == 0 &&
        brings(consumer, graph_.ops[after])) {
      add(i, after.value, Travels::input, OpId(next));
    }
    add(i, next, Travels::input);
  }

  void add(std::uint32_t first, std::uint32_t second, Travels travels,
           OpId through = OpId::none()) {
    if (taken_[first] || taken_[second]) return;
    Fusion fusion;
    fusion.first = OpId(first);
    fusion.second = OpId(second);
    fusion.through = through;
    fusion.travels = travels;
    const std::uint32_t call = travels == Travels::result ? second : first;
    const ModelOp op = fused_operator(graph_, fusion);
    const ModelOp& collective = graph_.ops[OpId(call)];
    const auto pattern = pattern_of(op, call_of(collective).op, travels);
    if (!pattern || !same_gpus(op, collective)) return;
    fusion.pattern = *pattern;
    const auto peers =
        static_cast<std::uint32_t>(graph_.places[collective.place].groups.front().size());
    const PeerGrid made = peer_shape(op, {call_of(collective), travels, peers}, gpu_);
    fusion.obstacle = made.obstacle;
    if (made.grid && !made.grid->scattered) {
      fusion.obstacle = sizes_differ(*made.grid, call_of(collective), travels);
    }
    // What only a fused kernel does without the copy is not cut into chunks or parts, either.
    fusion.scatters = (made.grid && made.grid->scattered) ||
                      (!through.is_none() && only_reorders(graph_.ops[through]));
    if (fusion.obstacle.empty()) {
      taken_[first] = taken_[second] = true;
      if (!through.is_none()) taken_[through.value] = true;
    }
    found_.push_back(fusion);
  }

  // Whether both run on the same GPUs, in groups of one size: a grid is made for one size.
  [[nodiscard]] bool same_gpus(const ModelOp& op, const ModelOp& collective) const {
    const Groups& teams = graph_.places[collective.place];
    const std::size_t size = teams.groups.front().size();
    return std::all_of(teams.groups.begin(), teams.groups.end(),
                       [size](const auto& group) { return group.size() == size; }) &&
           gpus_of(graph_.places[op.place]) == gpus_of(teams);
  }

  const ModelGraph& graph_;
  const GpuSpec& gpu_;
  std::vector<std::vector<std::uint32_t>> consumers_;
  std::vector<OpId> previous_;
  std::vector<OpId> following_;  // of copies and recorded kernels
  std::vector<bool> taken_;
  std::vector<Fusion> found_;
};

}  // namespace

std::vector<Fusion> find_fusions(const ModelGraph& graph, const GpuSpec& gpu) {
  return Finder(graph, gpu).find();
}

ModelOp fused_operator(const ModelGraph& graph, const Fusion& fusion) {
  ModelOp op = graph.ops[computing(fusion)];
  if (fusion.through.is_none() || is_product(op)) return op;
  auto& kernel = std::get<RecordedShape>(op.shape);
  const auto& next = std::get<RecordedShape>(graph.ops[fusion.through].shape);
  kernel.time += next.time;
  kernel.beside = kernel.beside || next.beside;
  for (std::size_t r = 0; r < kernel.by_rank.size(); ++r) {
    kernel.by_rank[r].time += next.by_rank.empty() ? next.time : next.by_rank[r].time;
  }
  return op;
}

bool is_host_time(const ModelOp& op) {
  const auto* recorded = std::get_if<RecordedShape>(&op.shape);
  return recorded != nullptr && recorded->host;
}

bool only_reorders(const ModelOp& op) {
  const auto* stream = std::get_if<StreamShape>(&op.shape);
  return stream != nullptr && stream->reorders;
}

bool is_product(const ModelOp& op) { return std::holds_alternative<GemmShape>(op.shape); }

namespace {

// Whether it makes so many numbers, element by element or as a copy.
bool passes(const RecordedWork& work, std::int64_t numbers) {
  return (work.kind == RecordedKind::elementwise || work.kind == RecordedKind::copy) &&
         work.written.count() / work.element_bytes == numbers;
}

}  // namespace

bool brings(const ModelOp& before, const ModelOp& gemm) {
  if (is_product(gemm)) return only_reorders(before);
  const auto* kernel = std::get_if<RecordedShape>(&before.shape);
  const auto* product = std::get_if<RecordedShape>(&gemm.shape);
  if (kernel == nullptr || product == nullptr || before.stream != gemm.stream) return false;
  if (!kernel->work || !product->work || !product->work->gemm) return false;
  const RecordedGemm& sizes = *product->work->gemm;
  return passes(*kernel->work, sizes.m * sizes.k * sizes.batch);
}

bool passes_on(const ModelOp& gemm, const ModelOp& next) {
  if (is_product(gemm)) return only_reorders(next);
  const auto* before = std::get_if<RecordedShape>(&gemm.shape);
  const auto* behind = std::get_if<RecordedShape>(&next.shape);
  if (before == nullptr || behind == nullptr || gemm.stream != next.stream) return false;
  if (!before->work || !before->work->gemm) return false;
  constexpr const char* kSumOfParts = "splitKreduce";  // cuBLAS
  if (!behind->work) return next.name.find(kSumOfParts) != std::string::npos;
  const RecordedGemm& product = *before->work->gemm;
  return passes(*behind->work, product.m * product.n * product.batch);
}

std::string_view why_not(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster,
                         Mode mode) {
  const ModelOp& call = graph.ops[communicating(fusion)];
  const auto in_a_node = [&](const std::vector<std::uint32_t>& group) {
    return std::all_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
      return cluster.node_of(GpuId(gpu)) == cluster.node_of(GpuId(group.front()));
    });
  };
  const Groups& place = graph.places[call.place];
  const PairTraits pair{
      .op = call_of(call).op,
      .travels = fusion.travels,
      .in_a_node = std::all_of(place.groups.begin(), place.groups.end(), in_a_node),
      .scatters = fusion.scatters};
  return why_not(pair, mode);
}

bool suits(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster, Mode mode) {
  return why_not(graph, fusion, cluster, mode).empty();
}

OpId computing(const Fusion& fusion) {
  return fusion.travels == Travels::result ? fusion.first : fusion.second;
}

PeerCall peer_call(const ModelGraph& graph, const Fusion& fusion) {
  const ModelOp& collective = graph.ops[communicating(fusion)];
  const auto peers =
      static_cast<std::uint32_t>(graph.places[collective.place].groups.front().size());
  return {call_of(collective), fusion.travels, peers};
}

OpId communicating(const Fusion& fusion) {
  return fusion.travels == Travels::result ? fusion.second : fusion.first;
}

}  // namespace weft
