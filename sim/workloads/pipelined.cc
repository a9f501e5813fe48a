// Pipelined by peer, as PyTorch's async tensor parallelism does it (torch.distributed.
// _symmetric_memory, _pipelined_multi_all_gather_and_consume and _pipelined_produce_and_all2all):
// a kernel for each peer's part, on two streams in turn, and copies that a GPU's copy engines fetch
// from its peers' memory.
//
//   input travels    barrier; own input copied to where peers can fetch it; barrier; kernel of the
//                    own part; then, step by step, stream 1, 0, 1 ...: copy from rank + step, and
//                    its kernel; barrier
//   results travel   barrier; step by step, stream 1, 0, 1 ...: kernel of the part of rank + step,
//                    barrier, copy from rank - step, barrier; on stream 0 last the own part's
//                    kernel; barrier; sums in a kernel of their own
//
// The barriers of a stream are between that stream of all ranks. A copy is started by the GPU that
// fetches; here it is an engine of the other GPU that carries it, as equally many do either way.
// While stream 1's copy is in progress, stream 0's waits for the engine.

#include <algorithm>
#include <array>
#include <string>

#include "sim/collectives/collective.h"
#include "sim/collectives/copy.h"
#include "sim/core/assert.h"
#include "sim/workloads/barrier.h"
#include "sim/workloads/plain_kernel.h"

namespace weft {
namespace {

using ByRank = std::vector<KernelId>;
using After = std::vector<std::vector<KernelId>>;  // by rank

class Pipelined {
 public:
  Pipelined(TaskGraph& graph, const Overlap& overlap)
      : graph_(graph),
        overlap_(overlap),
        grid_(overlap.grid),
        gpu_(overlap.cluster.spec.gpu),
        kernels_(*overlap.peer_kernels),
        launch_(launch_gap(gpu_.launch, overlap.options.launch)) {
    graph_.add_work(grid_.written);
    barrier_ = add_operator("barrier", KernelRole::collective);
    const bool results = overlap.travels == Travels::result;
    if (!results) staging_ = add_operator("staging", KernelRole::collective);
    for (std::uint32_t step = 0; step < grid_.gpus; ++step) {
      const std::string suffix = "." + std::to_string(step);
      parts_.push_back(add_operator(grid_.name + suffix, KernelRole::compute));
      copies_.push_back(step == 0 ? OperatorId::none()
                                  : add_operator(overlap.collective + suffix + " (copy engines)",
                                                 KernelRole::collective));
    }
    if (sums()) sum_ = add_operator("sum", KernelRole::collective);
  }

  LastKernels lower() {
    LastKernels last;
    for (const Team& team : overlap_.teams) {
      SIM_ASSERT(team.gpus.size() == grid_.gpus);
      team_ = &team;
      const ByRank ends = overlap_.travels == Travels::result ? produce() : consume();
      last.computing.insert(last.computing.end(), ends.begin(), ends.end());
    }
    last.communicating = last.computing;
    return last;
  }

 private:
  [[nodiscard]] bool sums() const { return reduces(overlap_.op); }
  [[nodiscard]] std::uint32_t ranks() const { return grid_.gpus; }

  OperatorId add_operator(const std::string& name, KernelRole role) {
    const bool computes = role == KernelRole::compute;
    return graph_.operators.push_back(
        {.name = name, .role = role, .part = computes ? overlap_.part : overlap_.collective_part});
  }

  ByRank consume() {
    ByRank ready = add_barrier(team_->after);
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      ready[r] = add_plan(graph_, overlap_, team_->gpus[r], staging_, kernels_.staging, {ready[r]});
    }
    begin_streams(add_barrier(each(ready)));
    for (std::uint32_t r = 0; r < ranks(); ++r) add_part(r, r, 0, 0);
    for (std::uint32_t step = 1; step < ranks(); ++step) {
      for (std::uint32_t r = 0; r < ranks(); ++r) {
        const std::uint32_t from = (r + step) % ranks();
        add_copy_to(r, from, step);
        add_part(r, from, step, step % 2);
      }
    }
    return add_barrier(both());
  }

  ByRank produce() {
    begin_streams(add_barrier(team_->after));
    for (std::uint32_t step = 1; step < ranks(); ++step) {
      const std::uint32_t stream = step % 2;
      for (std::uint32_t r = 0; r < ranks(); ++r) add_part(r, (r + step) % ranks(), step, stream);
      last_[stream] = add_barrier(each(last_[stream]));
      for (std::uint32_t r = 0; r < ranks(); ++r) {
        add_copy_to(r, (r + ranks() - step) % ranks(), step);
      }
      // Only then may the next result overwrite what a peer has fetched.
      last_[stream] = add_barrier(each(last_[stream]));
    }
    for (std::uint32_t r = 0; r < ranks(); ++r) add_part(r, r, 0, 0);
    ByRank ends = add_barrier(both());
    for (std::uint32_t r = 0; sums() && r < ranks(); ++r) {
      ends[r] = add_plan(graph_, overlap_, team_->gpus[r], sum_, kernels_.sum, {ends[r]});
    }
    return ends;
  }

  // --- what a kernel waits for

  void begin_streams(const ByRank& ready) {
    last_ = {ready, ready};
    // On stream 0 a wait precedes the first result, so that stream 1's kernel is placed first on
    // every GPU.
    waits_ = overlap_.travels == Travels::result ? ranks() : 0;
  }
  [[nodiscard]] static After each(const ByRank& kernels) {
    After after;
    for (const KernelId kernel : kernels) after.push_back({kernel});
    return after;
  }
  [[nodiscard]] After both() const {
    After after = each(last_[0]);
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      if (last_[1][r] != last_[0][r]) after[r].push_back(last_[1][r]);
    }
    return after;
  }

  // --- kernels

  ByRank add_barrier(const After& after) {
    return weft::add_barrier(graph_, overlap_, *team_, barrier_, after);
  }

  // The kernel of a rank's WGs that belong to `peer`.
  void add_part(std::uint32_t rank, std::uint32_t peer, std::uint32_t step, std::uint32_t stream) {
    KernelId& last = last_[stream][rank];
    Kernel kernel{.gpu = GpuId(team_->gpus[rank]), .op = parts_[step], .role = KernelRole::compute};
    kernel.launch = compute_gap(gpu_.launch, overlap_.options.launch);
    if (stream == 0 && waits_ > 0) {
      kernel.launch += launch_;
      --waits_;
    }
    if (kernels_.part) {
      add_items(graph_, kernel, *kernels_.part, gpu_);
      last = graph_.add_kernel(kernel, {last});
      return;
    }
    const WgRange range{
        .first_peer = peer, .last_peer = peer + 1, .first = 0, .last = grid_.per_peer};
    last = add_plain_kernels(graph_, overlap_, kernel, range, {last});
  }

  // The receiver's stream gives the command, and waits for the last byte; what is to be copied has
  // been ready since a barrier.
  void add_copy_to(std::uint32_t rank, std::uint32_t from, std::uint32_t step) {
    KernelId& last = last_[step % 2][rank];
    last = add_copy(graph_, overlap_.cluster,
                    {.from = team_->gpus[from],
                     .to = team_->gpus[rank],
                     .size = overlap_.from_each,
                     .operator_id = copies_[step],
                     .launch = launch_,
                     .after = {last},
                     .turn = {.index = rank + step, .of = ranks()},
                     .crowded = step % 2 == 1 && step + 1 < ranks()});
  }

  TaskGraph& graph_;
  const Overlap& overlap_;
  const Grid& grid_;
  const GpuSpec& gpu_;
  const PeerKernels& kernels_;
  Duration launch_;
  OperatorId barrier_;
  OperatorId staging_ = OperatorId::none();
  OperatorId sum_ = OperatorId::none();
  std::vector<OperatorId> parts_;   // by step
  std::vector<OperatorId> copies_;  // by step
  const Team* team_ = nullptr;
  std::array<ByRank, 2> last_;  // the last kernels of each stream
  std::uint32_t waits_ = 0;     // ranks whose stream 0 is still to wait
};

}  // namespace

LastKernels lower_pipelined(TaskGraph& graph, const Overlap& overlap) {
  return Pipelined(graph, overlap).lower();
}

}  // namespace weft
