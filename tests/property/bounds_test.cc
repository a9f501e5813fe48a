// No run is faster than its memory, its links, its places or its critical path.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/accounts.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/modes.h"
#include "tests/property/cases.h"
#include "tests/property/random_scenario.h"

namespace weft::bounds_test {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

// Demands are kept in whole kB/s and the bend in a table: 10^-4 covers both.
constexpr double kRounding = 1e-4;

// The bound by which a search leaves points out. A point that it left out could otherwise be the
// best one.
TEST(Bounds, no_mode_is_faster_than_the_bound_of_the_scenario) {
  std::size_t with_a_bound = 0;
  for_each_seed(300, any, [&](std::uint64_t, const std::string& text) {
    const Loaded loaded = load_scenario_text(
        text, "random.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
    ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
    ScenarioRun run(loaded);
    ASSERT_TRUE(run.ready());
    const double bound = run.lower_bound_us();
    const auto outcome = run.run("");
    const auto* report = std::get_if<RunReport>(&outcome);
    if (report == nullptr) return;  // a limit was reached
    if (bound > 0) ++with_a_bound;
    for (std::size_t i = 0; i < report->runs.size(); ++i) {
      const Mode mode = report->scenario.modes[i];
      if (is_isolated(mode)) continue;  // half of it
      EXPECT_LE(bound, to_microseconds(report->runs[i].result.time) * (1 + kRounding))
          << name_of(mode);
    }
  });
  EXPECT_GT(with_a_bound, 0U);
}

TEST(Bounds, no_memory_moves_more_than_its_bandwidth) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      for (const GpuUse& gpu : result.gpus) {
        const Duration least = transfer_time(gpu.hbm, prepared.cluster.spec.gpu.memory.bandwidth);
        EXPECT_LE(to_seconds(least), to_seconds(result.time) * (1 + kRounding))
            << name_of(prepared.mode);
      }
    }
  });
}

TEST(Bounds, no_link_carries_more_than_its_bandwidth) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      for (const LinkRow& row : result.links) {
        EXPECT_LE(transfer_time(row.use.carried, row.bandwidth), result.time) << row.name;
        EXPECT_LE(transfer_time(row.use.carried, row.bandwidth), row.use.busy) << row.name;
        EXPECT_LE(row.use.busy, result.time) << row.name;
        EXPECT_LE(row.use.queued_max, row.use.queued) << row.name;
      }
    }
  });
}

// Sums of several GPUs' results are taken to be free beside their traffic.
bool adds_up(const Prepared& prepared) {
  const WorkloadKind kind = prepared.scenario.workload.kind;
  return kind == WorkloadKind::gemv_all_reduce || kind == WorkloadKind::gemm_reduce_scatter ||
         kind == WorkloadKind::gemm_all_reduce;
}

TEST(Bounds, no_gpu_does_more_operations_than_its_units_can) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      if (adds_up(prepared)) continue;
      const RunResult result = run(prepared);
      const GpuSpec& gpu = prepared.cluster.spec.gpu;
      const auto peak = static_cast<double>(std::max(gpu.bf16_matrix, gpu.fp32_vector).count());
      const auto all = static_cast<double>(result.ledger.flops.done);
      EXPECT_LE(all / prepared.cluster.gpus(), peak * to_seconds(result.time) * (1 + kRounding));
    }
  });
}

// What an item takes on an idle GPU.
Duration alone(const TaskGraph& graph, const Kernel& kernel, const Item& item) {
  const Work& work = graph.work_of(kernel, item);
  return work.fixed + longer(picoseconds(scaled(work.memory_alone.count(), item.scale)),
                             picoseconds(scaled(work.arithmetic_alone.count(), item.scale)));
}

TEST(Bounds, no_run_is_faster_than_its_critical_path) {
  // A kernel ends no earlier than those before it, its launch, and its longest item; all its items
  // in the places it can have.
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const TaskGraph& graph = prepared.graph;
      const GpuSpec& gpu = prepared.cluster.spec.gpu;
      std::vector<Duration> end(graph.kernels.size());
      Duration longest_path;
      for (std::uint32_t k = 0; k < graph.kernels.size(); ++k) {
        const Kernel& kernel = graph.kernels[KernelId(k)];
        Duration start;
        for (std::uint32_t d = 0; d < kernel.dependencies; ++d) {
          start = longer(start, end[graph.dependencies[kernel.first_dependency + d].value]);
        }
        Duration longest;
        Duration sum;
        for (std::uint32_t i = 0; i < kernel.items; ++i) {
          const Duration item = alone(graph, kernel, graph.item(kernel, i));
          longest = longer(longest, item);
          sum += item;
        }
        std::int64_t places = kernel.executor == Executor::dma
                                  ? gpu.dma.engines
                                  : std::int64_t{gpu.cus} * wgs_per_cu(gpu.cu, kernel.wg);
        if (kernel.persistent) places = std::min(places, std::int64_t{kernel.max_grid});
        const Duration shared = picoseconds(sum.count() / places);
        end[k] = start + kernel.launch + longer(longest, shared);
        longest_path = longer(longest_path, end[k]);
      }
      EXPECT_GE(run(prepared).time, longest_path) << name_of(prepared.mode);
    }
  });
}

TEST(Bounds, no_resource_is_busy_for_longer_than_there_is_time) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      for (const GpuUse& gpu : result.gpus) {
        EXPECT_LE(gpu.active, result.time);
        EXPECT_LE(gpu.computing, gpu.active);
        EXPECT_LE(gpu.cu_busy, result.time * prepared.cluster.spec.gpu.cus);
        EXPECT_LE(gpu.end - SimTime{}, result.time);
      }
    }
  });
}

TEST(Bounds, twice_the_bandwidth_without_latencies_is_half_the_time) {
  const auto text_of = [](std::uint64_t seed) { return RandomScenario(seed).only_bandwidth(1); };
  for_each_seed(600, text_of, [](std::uint64_t seed, const std::string& text) {
    const RunResult once = run(prepare(text)[0]);
    const RunResult twice = run(prepare(RandomScenario(seed).only_bandwidth(2))[0]);
    // A channel streams a piece in 4 parts at most, whose times are each rounded up to 1 ps.
    const std::int64_t rounded = 2 * 4 * once.ledger.wgs.done;
    EXPECT_NEAR(static_cast<double>(once.time.count()),
                2.0 * static_cast<double>(twice.time.count()), static_cast<double>(rounded));
  });
}

}  // namespace
}  // namespace weft::bounds_test
