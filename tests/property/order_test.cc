// What a run must not depend on: earlier runs, the order in which GPUs are written down, the order
// of events of the same time, the numbers of GPUs that cannot be told apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/property/cases.h"
#include "tests/property/describe.h"
#include "tests/property/random_scenario.h"

namespace weft {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

double ratio(Duration a, Duration b) {
  return static_cast<double>(std::max(a, b).count()) / static_cast<double>(std::min(a, b).count());
}

TEST(Order, two_runs_are_the_same_to_the_last_byte) {
  for_each_seed(150, any, [](std::uint64_t seed, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const std::string first = text_of(run(prepared));
      // Another run in between leaves nothing behind.
      run(prepare(any(seed + 1))[0]);
      EXPECT_EQ(first, text_of(run(prepared)));
    }
  });
}

TEST(Order, loading_and_lowering_again_changes_nothing) {
  for_each_seed(100, any, [](std::uint64_t, const std::string& text) {
    const std::vector<Prepared> once = prepare(text);
    const std::vector<Prepared> again = prepare(to_text(scenario_of(text)));
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(text_of(run(once[i])), text_of(run(again[i])));
    }
  });
}

// The kernels of each operator in the opposite order of GPUs; nothing else moves.
TaskGraph backwards(const TaskGraph& graph) {
  TaskGraph result = graph;
  result.kernels = {};
  result.items.clear();
  result.dependencies.clear();
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < graph.kernels.size();) {
    std::uint32_t end = k;
    const OperatorId op = graph.kernels[KernelId(k)].op;
    while (end < graph.kernels.size() && graph.kernels[KernelId(end)].op == op) ++end;
    for (std::uint32_t i = end; i > k; --i) order.push_back(i - 1);
    k = end;
  }
  std::vector<KernelId> now(graph.kernels.size());
  for (const std::uint32_t k : order) {
    Kernel kernel = graph.kernels[KernelId(k)];
    std::vector<KernelId> after;
    for (std::uint32_t d = 0; d < kernel.dependencies; ++d) {
      after.push_back(now[graph.dependencies[kernel.first_dependency + d].value]);
    }
    const auto from = graph.items.begin() + kernel.first_item;
    kernel.first_item = static_cast<std::uint32_t>(result.items.size());
    result.items.insert(result.items.end(), from, from + kernel.items);
    now[k] = result.add_kernel(kernel, after);
  }
  result.verify();
  return result;
}

TEST(Order, of_gpus_in_the_task_graph_does_not_matter) {
  for_each_seed(200, any, [](std::uint64_t, const std::string& text) {
    for (Prepared& prepared : prepare(text)) {
      const RunResult forwards = run(prepared);
      prepared.graph = backwards(prepared.graph);
      const RunResult result = run(prepared);
      EXPECT_EQ(result.time, forwards.time);
      EXPECT_EQ(totals_of(result), totals_of(forwards));
    }
  });
}

TEST(Order, of_ties_moves_no_totals_and_hardly_the_time) {
  double worst = 1;
  int moved = 0;
  int runs = 0;
  for_each_seed(200, any, [&](std::uint64_t seed, const std::string& text) {
    for (Prepared& prepared : prepare(text)) {
      const RunResult written = run(prepared);
      for (std::uint64_t shuffle = 1; shuffle <= 3; ++shuffle) {
        prepared.scenario.run.tie_shuffle = mix64(seed * 16 + shuffle) >> 8U;
        const RunResult result = run(prepared);
        EXPECT_EQ(totals_of(result), totals_of(written));
        const double r = ratio(result.time, written.time);
        if (r > worst) {
          worst = r;
          std::cout << "seed " << seed << " " << name_of(prepared.mode) << " " << r << "\n";
        }
        runs += 1;
        moved += r > 1 ? 1 : 0;
      }
    }
  });
  std::cout << moved << " of " << runs << " moved; worst " << worst << "\n";
}

// GPU g becomes the GPU that lies `shift` further along the first dimension.
TaskGraph renumbered(const TaskGraph& graph, std::uint32_t gpus, std::uint32_t size,
                     std::uint32_t shift) {
  const auto moved = [&](std::uint32_t g) { return g - g % size + (g % size + shift) % size; };
  TaskGraph result = graph;
  for (Kernel& kernel : result.kernels) kernel.gpu = GpuId(moved(kernel.gpu.value));
  for (Send& send : result.sends) send.to = moved(send.to);
  EXPECT_EQ(gpus % size, 0U);
  return result;
}

TEST(Order, of_equal_gpus_moves_no_totals_and_hardly_the_time) {
  const auto symmetric = [](std::uint64_t seed) { return RandomScenario(seed).symmetric(); };
  double worst = 1;
  int moved = 0;
  int runs = 0;
  for_each_seed(200, symmetric, [&](std::uint64_t seed, const std::string& text) {
    for (Prepared& prepared : prepare(text)) {
      const RunResult before = run(prepared);
      for (const GpuUse& gpu : before.gpus) {
        EXPECT_EQ(gpu.sent, before.gpus[0].sent);
        EXPECT_EQ(gpu.received, before.gpus[0].received);
        EXPECT_EQ(gpu.hbm, before.gpus[0].hbm);
      }
      const std::uint32_t gpus = prepared.cluster.gpus();
      const FabricSpec& fabric = *prepared.cluster.spec.scale_out;
      const std::uint32_t size =
          fabric.dims.empty() ? gpus : static_cast<std::uint32_t>(fabric.dims[0]);
      prepared.graph = renumbered(prepared.graph, gpus, size,
                                  1 + static_cast<std::uint32_t>(seed) % (size - 1 + (size == 1)));
      const RunResult after = run(prepared);
      EXPECT_EQ(text_of(after.ledger), text_of(before.ledger));
      const double r = ratio(after.time, before.time);
      if (r > worst) {
        worst = r;
        std::cout << "seed " << seed << " " << name_of(prepared.mode) << " " << r << "\n";
      }
      runs += 1;
      moved += r > 1 ? 1 : 0;
    }
  });
  std::cout << moved << " of " << runs << " moved; worst " << worst << "\n";
}

}  // namespace
}  // namespace weft
