// What a run's key has of it, and how much is kept.
#include "sim/engine/known_runs.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"

namespace weft::known_runs_test {
namespace {

Scenario scenario(const std::vector<std::string>& sets = {}) {
  const std::string root = WEFT_SOURCE_DIR;
  Loaded loaded = load_scenario(root + "/configs/scenarios/gemm_rs_4_gpus.yaml",
                                {.sets = sets, .config_dirs = {root + "/configs"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  return *loaded.scenario;
}

struct Prepared {
  Cluster cluster;
  TaskGraph graph;
  RunOptions options;
};
Prepared run_of(const Scenario& scenario) {
  Prepared run{.cluster = build_cluster(scenario.cluster), .graph = {}, .options = scenario.run};
  run.graph = lower(scenario, run.cluster, Mode::fused);
  return run;
}
RunKey key_of(const Prepared& run) { return weft::key_of(run.cluster, run.graph, run.options); }

TEST(RunKey, is_that_of_the_same_run_made_again) {
  EXPECT_EQ(key_of(run_of(scenario())), key_of(run_of(scenario())));
}

TEST(RunKey, leaves_out_what_no_result_depends_on) {
  Prepared run = run_of(scenario());
  const RunKey key = key_of(run);
  run.options.cores = 7;
  run.options.seed = 99;
  run.options.max_memory = bytes(1);
  run.options.queues = Queues::one;
  EXPECT_EQ(key_of(run), key);
}

// Runs of 5 and 7 items, or 6 and 6: alike but for where they end.
TEST(RunKey, has_where_runs_of_items_end) {
  const auto of = [](std::uint32_t first) {
    Prepared run = run_of(scenario());
    for (const auto& [scale, count] : {std::pair{1U, first}, std::pair{2U, 12 - first}}) {
      run.graph.items.add({.counts_down = LatchId::none(),
                           .waits_for = LatchId::none(),
                           .work = 0,
                           .scale = scale & 0xFFFFFFU},
                          count);
    }
    Kernel kernel = *run.graph.kernels.begin();
    kernel.ended = LatchId::none();
    run.graph.add_kernel(kernel, {});
    return key_of(run);
  };
  EXPECT_EQ(of(5), of(5));
  EXPECT_NE(of(5), of(6));
}

Latches more_for_the_first(const Latches& latches, std::uint32_t more) {
  Latches changed;
  for (const Latch& latch : latches) {
    changed.push_back(
        {.target = latch.target + (changed.empty() ? more : 0), .first_send = latch.first_send});
  }
  return changed;
}

// As if they had been added so: no other kind of send is left from before.
template <class Change>
void change_all(Sends& sends, Change change) {
  Sends changed;
  for (Send send : sends) {
    change(send);
    changed.push_back(send);
  }
  sends = std::move(changed);
}

// One member of each part at a time.
TEST(RunKey, has_members_of_each_part) {
  using Change = std::function<void(Prepared&)>;
  const std::vector<Change> changes = {
      [](Prepared& run) { run.cluster.spec.gpu.memory.latency += picoseconds(1); },
      [](Prepared& run) { run.cluster.spec.scale_up->link.latency += picoseconds(1); },
      [](Prepared& run) { run.cluster.spec.gpu.memory.bend += 1e-9; },
      [](Prepared& run) { run.options.max_events = 5; },
      [](Prepared& run) { run.options.tie_shuffle = 5; },
      [](Prepared& run) { run.graph.works[0].traffic += bytes(1); },
      [](Prepared& run) { run.graph.works[0].fixed += picoseconds(1); },
      [](Prepared& run) { run.graph.works[0].shares += 1; },
      [](Prepared& run) { run.graph.operators.begin()->name += "x"; },
      [](Prepared& run) { run.graph.operators.begin()->law = Law::launch; },
      [](Prepared& run) { run.graph.kernels.begin()->launch += picoseconds(1); },
      [](Prepared& run) { run.graph.kernels.begin()->priority += 1; },
      [](Prepared& run) { run.graph.kernels.begin()->wg.slots += 1; },
      [](Prepared& run) { run.graph.kernels.begin()->cus.count -= 1; },
      [](Prepared& run) { run.graph.items.runs().back().scale ^= 1U; },
      [](Prepared& run) { run.graph.latches = more_for_the_first(run.graph.latches, 1); },
      [](Prepared& run) { run.graph.latches = more_for_the_first(run.graph.latches, 1000); },
      [](Prepared& run) { run.graph.latches = more_for_the_first(run.graph.latches, 1001); },
      [](Prepared& run) { change_all(run.graph.sends, [](Send& send) { send.size += 1; }); },
      [](Prepared& run) { change_all(run.graph.sends, [](Send& send) { send.ordered ^= 1U; }); },
      [](Prepared& run) {
        run.graph.groups.push_back({0, 1});
      },
      [](Prepared& run) { run.graph.exits.push_back({KernelId(0)}); },
      [](Prepared& run) { run.graph.dependencies.push_back(KernelId(0)); },
  };
  const Prepared plain = run_of(scenario());
  std::set<RunKey> keys{key_of(plain)};
  for (const Change& change : changes) {
    Prepared run = plain;
    change(run);
    EXPECT_TRUE(keys.insert(key_of(run)).second) << keys.size();
  }
}

TEST(KnownRuns, gives_back_what_was_put_and_nothing_else) {
  const Prepared run = run_of(scenario());
  KnownRuns known(mebibytes(64));
  EXPECT_FALSE(known.find(key_of(run)));
  const RunResult result = simulate(run.cluster, run.graph, run.options);
  known.put(key_of(run), result);
  EXPECT_EQ(known.find(key_of(run))->fingerprint, result.fingerprint);
  EXPECT_FALSE(known.find(key_of(run_of(scenario({"fused.slice_wgs=2"})))));
}

TEST(KnownRuns, forgets_the_oldest_where_there_is_no_room) {
  const Prepared run = run_of(scenario());
  const RunResult result = simulate(run.cluster, run.graph, run.options);
  KnownRuns all(mebibytes(64));
  KnownRuns none(bytes(10));
  for (std::uint64_t i = 0; i < 100; ++i) {
    all.put({.low = i, .high = 0}, result);
    none.put({.low = i, .high = 0}, result);
  }
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(none.size(), 0U);
  KnownRuns few(kibibytes(64));
  for (std::uint64_t i = 0; i < 100; ++i) few.put({.low = i, .high = 0}, result);
  EXPECT_GT(few.size(), 1U);
  EXPECT_LT(few.size(), 100U);
  EXPECT_FALSE(few.find({.low = 0, .high = 0}));
  EXPECT_TRUE(few.find({.low = 99, .high = 0}));
}

// A scenario's second run is not simulated, and its results are the same.
TEST(KnownRuns, are_asked_by_runs_of_scenarios) {
  const std::string root = WEFT_SOURCE_DIR;
  Loaded loaded = load_scenario(root + "/configs/scenarios/models/llama3_70b_decode.yaml",
                                {.sets = {}, .config_dirs = {root + "/configs"}});
  KnownRuns known(mebibytes(64));
  loaded.scenario->run.known = &known;
  const auto times = [&] {
    ScenarioRun run(loaded);
    std::vector<std::pair<std::int64_t, std::uint64_t>> all;
    const auto outcome = run.run("");
    for (const ModeRun& mode : std::get<RunReport>(outcome).runs) {
      all.emplace_back(mode.result.time.count(), mode.result.fingerprint);
    }
    return all;
  };
  const auto first = times();
  const std::size_t simulated = known.size();
  EXPECT_GT(simulated, 0U);
  EXPECT_EQ(times(), first);
  EXPECT_EQ(known.size(), simulated);
  loaded.scenario->run.known = nullptr;
  EXPECT_EQ(times(), first);
}

}  // namespace
}  // namespace weft::known_runs_test
