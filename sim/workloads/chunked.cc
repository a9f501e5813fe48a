// Bulk and kernel-granular lowerings: kernels and collectives, one after another on two streams.

#include <algorithm>
#include <string>

#include "sim/core/assert.h"
#include "sim/workloads/collective.h"
#include "sim/workloads/grid.h"

namespace weft {
namespace {

using ByGpu = std::vector<std::vector<KernelId>>;

struct Range {  // of the WGs of each peer
  std::uint32_t first;
  std::uint32_t last;
  [[nodiscard]] std::uint32_t count() const { return last - first; }
};

class Chunked {
 public:
  Chunked(const Scenario& scenario, const Cluster& cluster, const Grid& grid, CollectiveOp op,
          Travels travels)
      : scenario_(scenario),
        cluster_(cluster),
        grid_(grid),
        op_(op),
        travels_(travels),
        launch_(launch_gap(cluster.spec.gpu.launch, scenario.run.launch)),
        kernels_(grid.gpus),
        collectives_(grid.gpus) {
    graph_.add_work(grid.written);
    graph_.items.reserve(std::size_t{grid.gpus} * grid.gpus * grid.per_peer);
  }

  TaskGraph lower(std::uint32_t chunks) {
    SIM_ASSERT(chunks >= 1);
    SIM_ASSERT(chunks <= grid_.units());
    const std::uint64_t units = grid_.units();
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      const Range range{static_cast<std::uint32_t>(chunk * units / chunks) * grid_.unit,
                        static_cast<std::uint32_t>((chunk + 1) * units / chunks) * grid_.unit};
      const std::string suffix = chunks == 1 ? "" : "." + std::to_string(chunk);
      if (travels_ == Travels::result) {
        add_kernels(range, suffix, kernels_);
        add_collective_of(range, suffix, both());
      } else {
        add_collective_of(range, suffix, collectives_);
        add_kernels(range, suffix, both());
      }
    }
    return std::move(graph_);
  }

 private:
  // What came last on both streams of each GPU.
  [[nodiscard]] ByGpu both() const {
    ByGpu after = kernels_;
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      after[g].insert(after[g].end(), collectives_[g].begin(), collectives_[g].end());
    }
    return after;
  }

  void add_kernels(Range range, const std::string& suffix, const ByGpu& after) {
    const OperatorId op =
        graph_.operators.push_back({.name = grid_.name + suffix, .role = KernelRole::compute});
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      kernels_[g] = {add_kernel(GpuId(g), op, range, after[g])};
    }
  }

  // A plain kernel that leaves its results in its own memory.
  KernelId add_kernel(GpuId gpu, OperatorId op, Range range, const std::vector<KernelId>& after) {
    const GpuSpec& spec = cluster_.spec.gpu;
    const WgShape& wg = grid_.wg;
    Kernel kernel{.gpu = gpu, .op = op, .role = KernelRole::compute};
    kernel.wg = footprint(wg.threads, wg.registers_per_thread, wg.lds, spec.wave_size);
    kernel.launch = compute_gap(spec.launch, scenario_.run.launch);
    kernel.persistent = grid_.persistent;
    kernel.work_list = WorkList::static_list;
    kernel.max_grid = static_cast<std::uint32_t>(resident(spec, wg, {}) * spec.cus);
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    for (std::uint32_t row = range.first; row < range.last; row += grid_.in_a_row) {
      const std::uint32_t end = std::min(row + grid_.in_a_row, range.last);
      for (std::uint32_t peer = 0; peer < grid_.gpus; ++peer) {
        for (std::uint32_t i = row; i < end; ++i) {
          const std::uint32_t scale =
              scale_of(grid_, scenario_.run.seed, gpu.value, Logical{peer, i});
          graph_.items.push_back({.counts_down = LatchId::none(),
                                  .waits_for = LatchId::none(),
                                  .work = 0,
                                  .scale = scale & 0xFFFFFFU});
        }
      }
    }
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    return graph_.add_kernel(kernel, after);
  }

  // Bytes that travel between each pair, or of each block that is gathered or reduced.
  [[nodiscard]] std::int64_t block_bytes(Range range) const {
    if (travels_ == Travels::input) return range.count() / grid_.unit * grid_.input_bytes;
    return grid_.bytes_of(range.count());
  }

  void add_collective_of(Range range, const std::string& suffix, const ByGpu& after) {
    const OperatorId op =
        graph_.operators.push_back({.name = name_of(op_) + suffix, .role = KernelRole::collective});
    CollectiveCall call;
    call.op = op_;
    call.buffer = bytes(block_bytes(range) * grid_.gpus);
    call.options = scenario_.collective;
    call.operator_id = op;
    call.launch = launch_;
    call.after = after;
    const std::vector<KernelId> made = add_collective(graph_, cluster_, call);
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) collectives_[g] = {made[g]};
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  const Grid& grid_;
  CollectiveOp op_;
  Travels travels_;
  Duration launch_;
  TaskGraph graph_;
  ByGpu kernels_;  // the last of each GPU's stream of kernels
  ByGpu collectives_;
};

}  // namespace

TaskGraph lower_chunked(const Scenario& scenario, const Cluster& cluster, const Grid& grid,
                        CollectiveOp op, Travels travels, std::uint32_t chunks) {
  return Chunked(scenario, cluster, grid, op, travels).lower(chunks);
}

}  // namespace weft
