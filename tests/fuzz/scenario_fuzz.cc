// Any bytes as a scenario. What is accepted reads back the same: its resolved text is a scenario
// with the same text. Small ones run, in all their modes, and keep their books.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/assert.h"
#include "sim/engine/partition.h"
#include "sim/engine/simulate.h"
#include "sim/models/needs.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace {

using weft::Mode;
using weft::Scenario;

weft::Loaded load(std::string_view text) {
  return weft::load_scenario_text(text, "fuzz.yaml",
                                  {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
}

void reads_back_the_same(const Scenario& scenario) {
  const std::string text = to_text(scenario);
  const weft::Loaded again = load(text);
  SIM_ASSERT(again.scenario.has_value());
  SIM_ASSERT(to_text(*again.scenario) == text);
  SIM_ASSERT(again.scenario->hash == scenario.hash);
}

// So small that a mode takes a fraction of a second under sanitizers.
bool is_small(const Scenario& scenario, const weft::Cluster& cluster) {
  constexpr double kMost = 3'000;  // items, and messages
  if (is_model(scenario.workload.kind) || cluster.gpus() > 16 || cluster.spec.gpu.cus > 512) {
    return false;
  }
  if (scenario.cluster.gpu.caches) return false;
  const weft::EmbeddingWork& work = scenario.workload.embedding;
  if (embeds(scenario.workload.kind) &&
      1.0 * static_cast<double>(work.batch) * work.tables_per_gpu * work.pooling > 30'000) {
    return false;  // which rows caches hold is found by walking
  }
  for (const Mode mode : scenario.modes) {
    const weft::Needs needs = estimated_needs(scenario, cluster, mode);
    if (needs.items > kMost || needs.sends > kMost || needs.memory > weft::bytes(30'000'000)) {
      return false;
    }
  }
  return true;
}

void run(Scenario scenario) {
  const weft::Cluster cluster = build_cluster(scenario.cluster);
  if (!is_small(scenario, cluster)) return;
  scenario.run.max_events = 200'000;
  for (const Mode mode : scenario.modes) {
    const weft::Partition partition = choose_partition(scenario, cluster, mode);
    const weft::TaskGraph graph = lower(scenario, cluster, mode, partition.cus);
    const weft::RunResult result = simulate(cluster, graph, scenario.run);
    SIM_ASSERT(result.ending != weft::Ending::deadlock);
    if (result.ending == weft::Ending::finished) SIM_ASSERT(result.ledger.balanced());
    for (const weft::GpuUse& gpu : result.gpus) {
      SIM_ASSERT(gpu.computing <= gpu.active);
      SIM_ASSERT(gpu.end.count() <= result.time.count());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const weft::Loaded loaded = load({reinterpret_cast<const char*>(data), size});
  if (!loaded.scenario) {
    SIM_ASSERT(loaded.problems.has_errors());
    return 0;
  }
  reads_back_the_same(*loaded.scenario);
  run(*loaded.scenario);
  return 0;
}
