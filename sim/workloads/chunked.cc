// Bulk and kernel-granular lowerings: kernels and collectives, one after another on two streams.

#include <algorithm>
#include <optional>
#include <string>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/core/assert.h"
#include "sim/workloads/plain_kernel.h"

namespace weft {
namespace {

using ByGpu = std::vector<std::vector<KernelId>>;

class Chunked {
 public:
  Chunked(TaskGraph& graph, const Overlap& overlap)
      : graph_(graph),
        overlap_(overlap),
        grid_(overlap.grid),
        launch_(launch_gap(overlap.cluster.spec.gpu.launch, overlap.options.launch)) {
    graph_.add_work(grid_.written);  // the first of its operator
    if (graph_.items.empty()) {
      graph_.items.reserve_runs(overlap.teams.size() * grid_.gpus * grid_.gpus * grid_.per_peer);
    }
    std::vector<std::vector<std::uint32_t>> groups;
    for (const Team& team : overlap.teams) {
      SIM_ASSERT(team.gpus.size() == grid_.gpus);
      kernels_.insert(kernels_.end(), team.after.begin(), team.after.end());
      groups.push_back(team.gpus);
    }
    at_once_.emplace(overlap.cluster, groups);
    collectives_.resize(kernels_.size());
  }

  LastKernels lower(std::uint32_t chunks) {
    SIM_ASSERT(chunks >= 1);
    SIM_ASSERT(chunks <= grid_.units());
    const std::uint64_t units = grid_.units();
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      const WgRange range{
          .first_peer = 0,
          .last_peer = grid_.gpus,
          .first = static_cast<std::uint32_t>(chunk * units / chunks) * grid_.unit,
          .last = static_cast<std::uint32_t>((chunk + 1) * units / chunks) * grid_.unit};
      const std::string suffix = chunks == 1 ? "" : "." + std::to_string(chunk);
      if (overlap_.travels == Travels::result) {
        add_kernels(range, suffix, kernels_);
        add_collectives(range, suffix, both());
      } else {
        add_collectives(range, suffix, chunk == 0 ? kernels_ : collectives_);
        add_kernels(range, suffix, both());
      }
    }
    return {.computing = last(kernels_), .communicating = last(collectives_)};
  }

 private:
  static std::vector<KernelId> last(const ByGpu& kernels) {
    std::vector<KernelId> ids;
    ids.reserve(kernels.size());
    for (const std::vector<KernelId>& of_gpu : kernels) ids.push_back(of_gpu.back());
    return ids;
  }

  // The last kernels on both streams of each GPU.
  [[nodiscard]] ByGpu both() const {
    ByGpu after = kernels_;
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i].insert(after[i].end(), collectives_[i].begin(), collectives_[i].end());
    }
    return after;
  }

  void add_kernels(WgRange range, const std::string& suffix, const ByGpu& after) {
    const OperatorId op = graph_.operators.push_back(
        {.name = grid_.name + suffix, .role = KernelRole::compute, .part = overlap_.part});
    Kernel kernel{.op = op, .role = KernelRole::compute};
    kernel.launch = compute_gap(overlap_.cluster.spec.gpu.launch, overlap_.options.launch);
    std::size_t at = 0;
    for (const Team& team : overlap_.teams) {
      for (const std::uint32_t gpu : team.gpus) {
        kernel.gpu = GpuId(gpu);
        kernels_[at] = {add_plain_kernels(graph_, overlap_, kernel, range, after[at])};
        ++at;
      }
    }
  }

  // Bytes that travel between each pair, or size of each block that is gathered or reduced.
  [[nodiscard]] std::int64_t block_bytes(WgRange range) const {
    if (overlap_.travels == Travels::input) return range.count() / grid_.unit * grid_.input_bytes;
    return grid_.bytes_of(range.count());
  }

  void add_collectives(WgRange range, const std::string& suffix, const ByGpu& after) {
    const OperatorId op = graph_.operators.push_back({.name = overlap_.collective + suffix,
                                                      .role = KernelRole::collective,
                                                      .part = overlap_.collective_part});
    CollectiveCall call;
    call.op = overlap_.op;
    call.buffer = bytes(block_bytes(range) * grid_.gpus);
    call.options = overlap_.options.collective;
    call.operator_id = op;
    call.launch = launch_;
    call.at_once = &*at_once_;
    std::size_t at = 0;
    for (const Team& team : overlap_.teams) {
      const auto first = after.begin() + static_cast<std::ptrdiff_t>(at);
      call.ranks = team.gpus;
      call.after.assign(first, first + grid_.gpus);
      for (const KernelId made : add_collective(graph_, overlap_.cluster, call)) {
        collectives_[at++] = {made};
      }
    }
  }

  TaskGraph& graph_;
  const Overlap& overlap_;
  const Grid& grid_;
  Duration launch_;
  std::optional<GroupsAtOnce> at_once_;  // all teams
  ByGpu kernels_;  // the last ones on each GPU's compute stream, team after team
  ByGpu collectives_;
};

}  // namespace

LastKernels lower_chunked(TaskGraph& graph, const Overlap& overlap, std::uint32_t chunks) {
  return Chunked(graph, overlap).lower(chunks);
}

}  // namespace weft
