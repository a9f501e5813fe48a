#include "sim/models/lower_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/core/assert.h"
#include "sim/core/once_each.h"
#include "sim/models/begins.h"
#include "sim/models/chosen_ways.h"
#include "sim/models/law_of.h"
#include "sim/models/op_kernel.h"
#include "sim/models/pair_knobs.h"
#include "sim/models/peer_kernels.h"
#include "sim/models/waiting_kernel.h"
#include "sim/workloads/embedding.h"
#include "sim/workloads/fused_kernel.h"
#include "sim/workloads/plain_kernel.h"
#include "sim/workloads/row_forwards.h"
#include "sim/workloads/row_puts.h"
#include "sim/workloads/stragglers.h"

namespace weft {
namespace {

class ModelToTasks {
 public:
  ModelToTasks(const ModelGraph& graph, const ModelLowering& how)
      : graph_(graph),
        how_(how),
        gpu_(how.cluster.spec.gpu),
        launch_(launch_gap(gpu_.launch, how.options.launch)),
        compute_launch_(compute_gap(gpu_.launch, how.options.launch)),
        made_(graph.ops.size()),
        chosen_(graph, how) {
    for (const ModelOp& op : graph.ops) streams_ = std::max(streams_, op.stream + 1);
    last_.assign(std::size_t{how.cluster.gpus()} * streams_, KernelId::none());
    for (const Groups& place : graph.places) index_place(place);
  }

  TaskGraph lower() {
    if (how_.strategy) {
      tasks_ = lower_c3(two_apart(), how_.cluster, *how_.strategy);
      add_laws(0, graph_.ops[OpId(0)], graph_.ops[OpId(1)].place);
      return std::move(tasks_);
    }
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) add_released(OpId(i));
    for (const OpId exit : how_.exits) add_exit(exit);
    return std::move(tasks_);
  }

 private:
  // The index of each GPU among those of a place.
  void index_place(const Groups& place) {
    std::vector<std::uint32_t>& index = index_.emplace_back(how_.cluster.gpus(), UINT32_MAX);
    std::uint32_t next = 0;
    for (const std::vector<std::uint32_t>& group : place.groups) {
      for (const std::uint32_t gpu : group) index[gpu] = next++;
    }
  }

  void add_exit(OpId id) {
    std::vector<KernelId>& kernels = tasks_.exits.emplace_back();
    std::copy_if(made_[id.value].begin(), made_[id.value].end(), std::back_inserter(kernels),
                 [](KernelId kernel) { return !kernel.is_none(); });
  }

  void add_released(OpId id) {
    const std::uint32_t first = tasks_.kernels.next_id().value;
    const int fused = chosen_.fusion_of(id);
    add(id);
    const Duration release = fused < 0
                                 ? release_of(id, how_)
                                 : release_of(how_.fusions[static_cast<std::size_t>(fused)], how_);
    for (KernelId k(first); k < tasks_.kernels.next_id(); k = KernelId(k.value + 1)) {
      tasks_.kernels[k].release = release;
    }
  }

  void add(OpId id) {
    const ModelOp& op = graph_.ops[id];
    const int fused = chosen_.fusion_of(id);
    if (fused >= 0) {  // it is added where the operator that computes is
      const auto index = static_cast<std::size_t>(fused);
      if (id != computing(how_.fusions[index])) return;
      return add_fusion(how_.fusions[index], chosen_.way_of(index));
    }
    tasks_.begin_works();
    const std::size_t first = tasks_.operators.size();
    if (communicates(op)) {
      add_collective_of(id);
    } else {
      add_compute(id);
    }
    add_laws(first, op, op.place);
  }

  // --- which laws the times of new operators follow, from the `first` on

  void add_laws(std::size_t first, const ModelOp& computing, PlaceId communicating) {
    const Law of_collective = law_of_collective(graph_.places[communicating], how_.cluster);
    for (std::size_t i = first; i < tasks_.operators.size(); ++i) {
      Operator& op = tasks_.operators[OperatorId(static_cast<std::uint32_t>(i))];
      if (op.role == KernelRole::fused) op.law = Law::fused;
      if (op.role == KernelRole::compute) op.law = law_of(computing);
      if (op.role == KernelRole::collective) op.law = of_collective;
    }
  }

  // --- what an operator waits for on a GPU: the last kernel of its stream, and its inputs.

  void append_inputs(OpId id, std::uint32_t gpu, std::vector<KernelId>& after) const {
    const ModelOp& op = graph_.ops[id];
    const KernelId last = last_[gpu * streams_ + op.stream];
    if (!last.is_none()) after.push_back(last);
    for (const OpId before : op.after) {
      const std::uint32_t at = index_[graph_.ops[before].place.value][gpu];
      // It may be the other half of a fusion whose kernel is not made yet.
      if (at == UINT32_MAX || made_[before.value].empty()) continue;
      after.push_back(made_[before.value][at]);
    }
  }
  [[nodiscard]] std::vector<KernelId> inputs(OpId id, std::uint32_t gpu) const {
    std::vector<KernelId> after;
    append_inputs(id, gpu, after);
    return once_each(std::move(after));
  }

  void done(OpId id, std::uint32_t gpu, KernelId kernel) {
    const ModelOp& op = graph_.ops[id];
    std::vector<KernelId>& made = made_[id.value];
    const std::uint32_t at = index_[op.place.value][gpu];
    if (made.size() <= at) made.resize(at + 1, KernelId::none());
    made[at] = kernel;
    last_[gpu * streams_ + op.stream] = kernel;
  }

  // --- one operator by itself

  OperatorId operator_of(const ModelOp& op, KernelRole role, const std::string& variant) {
    const auto [known, added] = operators_.try_emplace(op.name + "/" + variant);
    if (added) {
      known->second = tasks_.operators.push_back({.name = op.name, .role = role, .part = op.part});
    }
    return known->second;
  }

  void add_compute(OpId id) {
    const ModelOp& op = graph_.ops[id];
    const OperatorId name = operator_of(op, KernelRole::compute, "");
    const Groups& place = graph_.places[op.place];
    const auto* bag = std::get_if<EmbeddingShape>(&op.shape);
    for (const std::vector<std::uint32_t>& group : place.groups) {
      const auto ranks = static_cast<std::uint32_t>(group.size());
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const GpuId gpu(group[rank]);
        if (bag != nullptr) {
          done(id, gpu.value, add_bag(gpu, name, *bag, ranks, inputs(id, gpu.value)));
          continue;
        }
        const std::vector<KernelId> after = inputs(id, gpu.value);
        Kernel kernel{.gpu = gpu, .op = name, .role = KernelRole::compute};
        kernel.launch = launch_of(op.shape);
        kernel.ended = add_waiting(op, gpu, after);
        add_items(tasks_, kernel, plan_of(chosen_.shape_of(id), rank), gpu_);
        if (is_host_time(op)) kernel.wg = kNoRoom;
        done(id, gpu.value, tasks_.add_kernel(kernel, after));
      }
    }
  }

  // The latch that the operator's kernel has to count down where a receive waits beside it.
  LatchId add_waiting(const ModelOp& op, GpuId gpu, const std::vector<KernelId>& after) {
    if (!op.beside) return LatchId::none();
    const LatchId latch = tasks_.add_latch(1);
    ModelOp receive;
    receive.name = "receive_waits";
    receive.part = "send";
    waiting_.add(gpu, operator_of(receive, KernelRole::collective, ""), *op.beside, compute_launch_,
                 latch, after);
    return latch;
  }

  // The host's time occupies nothing of the GPU: it is a launch that takes long.
  [[nodiscard]] Duration launch_of(const OpShape& shape) const {
    const auto* recorded = std::get_if<RecordedShape>(&shape);
    return recorded != nullptr && recorded->host ? recorded->time : compute_launch_;
  }

  // Ranks that do the same share a plan; it is made again only if ranks differ.
  const OpKernel& plan_of(const OpShape& shape, std::uint32_t rank) {
    const auto* gemm = std::get_if<GemmShape>(&shape);
    const auto* recorded = std::get_if<RecordedShape>(&shape);
    const bool differs = (gemm != nullptr && !gemm->m_by_rank.empty()) ||
                         (recorded != nullptr && !recorded->by_rank.empty());
    if (planned_for_ != &shape || differs) {
      plan_ = op_kernel(shape, gpu_, rank);
      planned_for_ = &shape;
    }
    return plan_;
  }

  void set_grid(Kernel& kernel, const WgShape& wg, bool persistent) const {
    kernel.wg = footprint(wg.threads, wg.registers_per_thread, wg.lds, gpu_.wave_size);
    kernel.persistent = persistent;
    kernel.work_list = WorkList::static_list;
    kernel.max_grid = static_cast<std::uint32_t>(resident_on_gpu(gpu_, wg, {}));
  }

  // Returns the last of its kernels: there is one for all tables, or one for each.
  KernelId add_bag(GpuId gpu, OperatorId name, const EmbeddingShape& bag, std::uint32_t ranks,
                   std::vector<KernelId> after) {
    const Grid grid = bag.backward ? embedding_backward_grid(bag.work, gpu_, ranks, {})
                                   : embedding_grid(bag.work, gpu_, ranks, {});
    const std::uint32_t step = grid.kernel_a_row ? grid.in_a_row : grid.per_peer;
    for (std::uint32_t first = 0; first < grid.per_peer; first += step) {
      Kernel kernel{.gpu = gpu, .op = name, .role = KernelRole::compute};
      kernel.launch = compute_launch_;
      set_grid(kernel, grid.wg, grid.persistent);
      const std::uint32_t work = tasks_.add_work(grid.written);
      for (std::uint32_t peer = 0; peer < ranks; ++peer) {
        for (std::uint32_t i = first; i < std::min(first + step, grid.per_peer); ++i) {
          const std::uint32_t scale =
              scale_of(grid, how_.options.seed, gpu.value, {.peer = peer, .index = i});
          tasks_.items.add({.work = work & 0xFFU, .scale = scale & 0xFFFFFFU});
        }
      }
      after = {tasks_.add_kernel(kernel, after)};
    }
    return after.front();
  }

  void add_collective_of(OpId id) {
    const ModelOp& op = graph_.ops[id];
    const auto& shape = std::get<CommunicationShape>(op.shape);
    CollectiveCall call;
    call.op = shape.op;
    call.buffer = shape.buffer;
    call.options = options_for(chosen_.collective_of(id), shape.op);
    call.launch = launch_;
    call.root = shape.root;
    call.target = shape.target;
    call.turns = shape.turns;
    call.pair_bytes = shape.pair_bytes;
    const GroupsAtOnce at_once(how_.cluster, graph_.places[op.place].groups, shape.turns);
    call.at_once = &at_once;
    for (const std::vector<std::uint32_t>& group : graph_.places[op.place].groups) {
      call.operator_id =
          operator_of(op, KernelRole::collective,
                      std::to_string(shape.buffer.count()) + "/" + std::to_string(group.size()));
      call.ranks = group;
      call.after.clear();
      for (const std::uint32_t gpu : group) call.after.push_back(inputs(id, gpu));
      if (shape.op == CollectiveOp::point_to_point) starts_with_its_source(call, shape.meets);
      const std::vector<KernelId> made =
          shape.puts ? add_rows(shape, call) : add_collective(tasks_, how_.cluster, call);
      for (std::size_t rank = 0; rank < group.size(); ++rank) done(id, group[rank], made[rank]);
    }
  }

  std::vector<KernelId> add_rows(const CommunicationShape& shape, const CollectiveCall& call) {
    const PutRows& puts = *shape.puts;
    const RowExchange exchange{.options = how_.options,
                               .cluster = how_.cluster,
                               .op = call.operator_id,
                               .gpus = call.ranks,
                               .after = call.after,
                               .row = shape.row,
                               .made_from = puts.made_from,
                               .cus = puts.cus};
    if (puts.reached) {
      return add_row_forwards(tasks_,
                              {.exchange = exchange, .reached = *puts.reached, .home = puts.home});
    }
    return add_row_puts(tasks_, {.exchange = exchange,
                                 .rows = rows_put(shape, call.ranks.size()),
                                 .experts = puts.experts,
                                 .at_once = puts.at_once,
                                 .packs = puts.packs});
  }

  // --- an operator and a collective that do not depend on each other

  [[nodiscard]] C3Pair two_apart() const {
    const ModelOp& gemm = graph_.ops[OpId(0)];
    const auto& call = std::get<CommunicationShape>(graph_.ops[OpId(1)].shape);
    return {.gemm = std::get<GemmWork>(gemm.described->work),
            .op = call.op,
            .bytes = call.buffer,
            .options = {},
            .collective = how_.options.collective,
            .launch = how_.options.launch,
            .seed = how_.options.seed};
  }

  // --- an operator and its collective together

  void add_fusion(const Fusion& fusion, const PairWay& way) {
    const PeerCall with = peer_call(graph_, fusion);
    const ModelOp op = with_tile(fused_operator(graph_, fusion), with, gpu_, way);
    const ModelOp& collective = graph_.ops[communicating(fusion)];
    const CommunicationShape& call = with.call;
    const Groups& place = graph_.places[collective.place];
    const std::uint32_t peers = with.peers;
    const KernelVersion version = version_of_pair(way.mode, way.options, call.op, fusion.travels,
                                                  how_.cluster, place.groups.front());
    PeerGrid made = peer_grid(op, with, gpu_, version);
    SIM_ASSERT(made.grid.has_value());
    Grid& grid = *made.grid;
    std::vector<Team> teams;
    tasks_.begin_works();
    const std::size_t first = tasks_.operators.size();
    std::vector<LatchId> ended;
    for (const std::vector<std::uint32_t>& group : place.groups) {
      Team& team = teams.emplace_back(Team{.gpus = group, .after = {}});
      for (const std::uint32_t gpu : group) {
        std::vector<KernelId> after;
        for (const OpId id : {fusion.first, fusion.second}) append_inputs(id, gpu, after);
        if (!fusion.through.is_none()) append_inputs(fusion.through, gpu, after);
        team.after.push_back(once_each(std::move(after)));
        ended.push_back(add_waiting(op, GpuId(gpu), team.after.back()));
      }
    }
    OverlapOptions options = with_whole_slices(way.options, grid, fusion.travels);
    options.collective = options_for(way.options.collective, call.op);
    const Overlap overlap{.options = options,
                          .cluster = how_.cluster,
                          .grid = grid,
                          .op = call.op,
                          .travels = fusion.travels,
                          .teams = std::move(teams),
                          .collective = collective.name,
                          .from_each = bytes(call.buffer.count() / peers),
                          .peer_kernels = kernels_of_peers(way.mode, op, call, peers),
                          .part = op.part,
                          .collective_part = collective.part};
    tasks_.begin_works();
    const LastKernels last = lower_overlap(tasks_, overlap, way.mode);
    add_laws(first, op, collective.place);
    std::size_t at = 0;
    for (const std::vector<std::uint32_t>& group : place.groups) {
      for (const std::uint32_t gpu : group) {
        done(computing(fusion), gpu, last.computing[at]);
        tasks_.kernels[last.computing[at]].ended = ended[at];
        if (!fusion.through.is_none()) done(fusion.through, gpu, last.computing[at]);
        done(communicating(fusion), gpu, last.communicating[at]);
        ++at;
      }
    }
  }

  [[nodiscard]] std::optional<PeerKernels> kernels_of_peers(Mode mode, const ModelOp& op,
                                                            const CommunicationShape& call,
                                                            std::uint32_t peers) const {
    if (mode != Mode::pipelined && mode != Mode::copy_fed) return std::nullopt;
    return peer_kernels(op, call, gpu_, peers);
  }

  // Copy engines cannot add: where they do the rest, channels do what reduces.
  [[nodiscard]] static CollectiveOptions options_for(CollectiveOptions options, CollectiveOp op) {
    if (reduces(op)) options.executor = CollectiveExecutor::cu;
    return options;
  }

  const ModelGraph& graph_;
  const ModelLowering& how_;
  const GpuSpec& gpu_;
  Duration launch_;
  Duration compute_launch_;
  TaskGraph tasks_;
  std::uint32_t streams_ = 1;
  std::vector<std::vector<KernelId>> made_;  // by operator: kernels by GPU of its place
  ChosenWays chosen_;
  std::vector<std::vector<std::uint32_t>> index_;  // by place and GPU
  std::vector<KernelId> last_;                     // by GPU and stream
  std::map<std::string, OperatorId> operators_;
  WaitingKernels waiting_{tasks_, how_};
  OpKernel plan_;
  const OpShape* planned_for_ = nullptr;
};

}  // namespace

TaskGraph lower_model(const ModelGraph& graph, const ModelLowering& how) {
  graph.verify();
  TaskGraph tasks = ModelToTasks(graph, how).lower();
  slow_stragglers(tasks, how.cluster);
  tasks.verify();
  return tasks;
}

}  // namespace weft
