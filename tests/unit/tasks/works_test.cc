// Works of operators, which neighbours share.
#include <gtest/gtest.h>

#include "sim/tasks/task_graph.h"

namespace weft::works_test {
namespace {

// An operator with a kernel that has an item of each of these works.
KernelId add_operator(TaskGraph& graph, const std::vector<std::int64_t>& flops_of_works) {
  graph.begin_works();
  for (const std::int64_t each : flops_of_works) {
    Work work;
    work.flops = flops(each);
    graph.items.add({.work = graph.add_work(work) & 0xFFU, .scale = Item::kUnit});
  }
  return graph.add_kernel({}, {});
}

std::vector<std::int64_t> flops_of_items(const TaskGraph& graph, KernelId id) {
  const Kernel& kernel = graph.kernels[id];
  std::vector<std::int64_t> all;
  graph.for_each_run(kernel, [&](const Item& item, std::uint32_t) {
    all.push_back(graph.work_of(kernel, item).flops.count());
  });
  return all;
}

TEST(Works, of_operators_that_follow_one_another_are_stored_once_if_they_are_the_same) {
  TaskGraph graph;
  std::vector<KernelId> kernels;
  kernels.reserve(100);
  for (int i = 0; i < 100; ++i) kernels.push_back(add_operator(graph, {5, 6}));
  graph.begin_works();
  EXPECT_EQ(graph.works.size(), 2U);
  for (const KernelId id : kernels) {
    EXPECT_EQ(flops_of_items(graph, id), (std::vector<std::int64_t>{5, 6}));
  }
}

TEST(Works, of_operators_that_differ_are_their_own) {
  TaskGraph graph;
  const std::vector<std::vector<std::int64_t>> all = {{5, 6}, {5}, {6, 5}, {6, 5}, {}, {6, 5}, {5}};
  std::vector<KernelId> kernels;
  for (const std::vector<std::int64_t>& works : all) {
    if (works.empty()) {
      graph.begin_works();  // of an operator that does nothing
    } else {
      kernels.push_back(add_operator(graph, works));
    }
  }
  EXPECT_EQ(graph.works.size(), 2U + 1 + 2 + 1);  // the fourth and the sixth are as the third
  std::size_t i = 0;
  for (const std::vector<std::int64_t>& works : all) {
    if (works.empty()) continue;
    EXPECT_EQ(flops_of_items(graph, kernels[i++]), works);
  }
}

}  // namespace
}  // namespace weft::works_test
