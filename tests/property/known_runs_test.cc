// Runs that are known from elsewhere give what simulating them gives: where a change of one number
// of a run changes its result, its key is another.
#include "sim/engine/known_runs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "sim/core/rng.h"
#include "tests/property/cases.h"
#include "tests/property/describe.h"
#include "tests/property/random_scenario.h"

namespace weft::known_runs_test {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

RunKey key_of(const Prepared& run) {
  return weft::key_of(run.cluster, run.graph, run.scenario.run);
}

// One that leaves the graph sound.
void change_one_number(Prepared& run, std::uint64_t seed) {
  Rng rng(seed, "change");
  TaskGraph& graph = run.graph;
  const auto any_of = [&rng](auto& all) -> auto& {
    return *(all.begin() + rng.between(0, static_cast<std::int64_t>(all.size()) - 1));
  };
  Kernel& kernel = any_of(graph.kernels);
  switch (rng.between(0, 7)) {
    case 0:
      any_of(graph.works).traffic += bytes(4096);
      break;
    case 1:
      any_of(graph.works).fixed += nanoseconds(100);
      break;
    case 2:
      any_of(graph.works).memory_alone += microseconds(1);
      break;
    case 3:
      kernel.launch += nanoseconds(500);
      break;
    case 4:
      kernel.startup += nanoseconds(50);
      break;
    case 5:
      kernel.priority += 1;
      break;
    case 6:
      kernel.flag += nanoseconds(50);
      break;
    default:
      run.cluster.spec.gpu.launch.queue += nanoseconds(1);
      run.cluster.spec.gpu.memory.latency += nanoseconds(10);
  }
}

TEST(KnownRuns, have_another_key_where_the_result_is_another) {
  int differ = 0;
  for_each_seed(300, any, [&](std::uint64_t seed, const std::string& text) {
    for (const Prepared& plain : prepare(text)) {
      Prepared changed = plain;
      change_one_number(changed, seed);
      if (text_of(run(plain)) == text_of(run(changed))) continue;
      EXPECT_NE(key_of(plain), key_of(changed));
      ++differ;
    }
  });
  if (std::getenv("WEFT_PROPERTY_SEED") == nullptr) {
    EXPECT_GT(differ, 20);
  }
}

}  // namespace
}  // namespace weft::known_runs_test
