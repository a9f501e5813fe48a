// Runs that are known from other scenarios give what simulating them gives, to the last byte: so
// whatever a result depends on is in its key.
#include "sim/engine/known_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/property/cases.h"
#include "tests/property/describe.h"
#include "tests/property/random_scenario.h"

namespace weft::known_runs_test {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

TEST(KnownRuns, give_what_simulating_gives) {
  KnownRuns known(mebibytes(64));
  for_each_seed(600, any, [&](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunKey key = key_of(prepared.cluster, prepared.graph, prepared.scenario.run);
      const RunResult now = simulate(prepared.cluster, prepared.graph, prepared.scenario.run);
      if (const std::optional<RunResult> before = known.find(key)) {
        EXPECT_EQ(text_of(*before), text_of(now));
      }
      if (now.ending == Ending::finished) known.put(key, now);
    }
    for (const Prepared& again : prepare(text)) {
      const auto before = known.find(key_of(again.cluster, again.graph, again.scenario.run));
      EXPECT_TRUE(before.has_value());
    }
  });
}

}  // namespace
}  // namespace weft::known_runs_test
