#include "sim/workloads/stragglers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace weft {
namespace {

Work slowed(Work work, double clock) {
  const auto longer_by_clock = [clock](Duration time) {
    return picoseconds(std::llround(static_cast<double>(time.count()) / clock));
  };
  work.memory_alone = longer_by_clock(work.memory_alone);
  work.arithmetic_alone = longer_by_clock(work.arithmetic_alone);
  work.fixed = longer_by_clock(work.fixed);
  return work;
}

std::uint32_t works_of(const TaskGraph& graph, const Kernel& kernel) {
  std::uint32_t works = 0;
  graph.for_each_run(kernel, [&](const Item& item, std::uint32_t) {
    const std::uint32_t work = item.work;
    works = std::max(works, work + 1);
  });
  return works;
}

}  // namespace

void slow_stragglers(TaskGraph& graph, const Cluster& cluster) {
  std::map<std::uint32_t, double> clocks;
  for (const Straggler& slow : cluster.spec.stragglers) {
    if (slow.clock < 1) clocks.emplace(static_cast<std::uint32_t>(slow.gpu), slow.clock);
  }
  if (clocks.empty()) return;
  struct Copy {
    std::uint32_t first = 0;
    std::uint32_t works = 0;
  };
  std::map<std::pair<std::uint32_t, double>, Copy> copies;  // by first work and clock
  for (Kernel& kernel : graph.kernels) {
    const auto slow = clocks.find(kernel.gpu.value);
    if (slow == clocks.end() || kernel.executor == Executor::dma) continue;
    const std::uint32_t works = works_of(graph, kernel);
    Copy& copy = copies[{kernel.first_work, slow->second}];
    if (copy.works < works) {
      copy = {.first = static_cast<std::uint32_t>(graph.works.size()), .works = works};
      for (std::uint32_t i = 0; i < works; ++i) {
        graph.works.push_back(slowed(Work(graph.works[kernel.first_work + i]), slow->second));
      }
    }
    kernel.first_work = copy.first;
  }
}

}  // namespace weft
