// Whole runs: a folder each with a scenario, whose head says by hand why the times are about right,
// and with what the run gave. WEFT_UPDATE_GOLDENS=1 in the environment rewrites the latter; a
// commit that does so says why the new numbers are right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"
#include "sim/scenario/modes.h"

namespace weft::runs_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRuns = fs::path(WEFT_SOURCE_DIR) / "tests/golden/runs";

std::string text_of_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> runs() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kRuns)) {
    if (fs::exists(entry.path() / "scenario.yaml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string told(const char* what, const Ledger::Entry& entry) {
  return fmt::format("  {}: {} of {}\n", what, entry.done, entry.asked);
}

std::string outcome(const Scenario& scenario) {
  const Cluster cluster = build_cluster(scenario.cluster);
  std::string text = one_line(cluster) + "\n";
  std::optional<ModelGraph> graph;
  std::optional<ModelRun> model;
  if (is_model(scenario.workload.kind)) {
    graph = build_model(scenario);
    model.emplace(scenario, cluster, *graph);
  }
  for (const Mode mode : scenario.modes) {
    const RunResult result = model
                                 ? model->run(mode, {})
                                 : simulate(cluster, lower(scenario, cluster, mode), scenario.run);
    text += fmt::format("{}: {:.6f} us, exposed {:.6f} us, fingerprint {:016x}\n", name_of(mode),
                        to_microseconds(result.time), to_microseconds(result.exposed_mean()),
                        result.fingerprint);
    text += told("WGs", result.ledger.wgs) + told("FLOP", result.ledger.flops) +
            told("bytes of memory", result.ledger.hbm_bytes) +
            told("messages", result.ledger.messages) +
            told("bytes of messages", result.ledger.message_bytes);
    EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
    EXPECT_TRUE(result.ledger.balanced());
  }
  return text;
}

TEST(GoldenRuns, give_what_they_gave_before) {
  const bool update = std::getenv("WEFT_UPDATE_GOLDENS") != nullptr;
  ASSERT_GE(runs().size(), 14U);
  // What is not in the library of these runs: models, and the hardware under them.
  const fs::path configs = fs::path(WEFT_SOURCE_DIR) / "configs";
  for (const fs::path& folder : runs()) {
    const Loaded loaded = load_scenario(folder / "scenario.yaml",
                                        {.sets = {}, .config_dirs = {kRuns / "library", configs}});
    ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
    const std::string text = outcome(*loaded.scenario);
    if (update) std::ofstream(folder / "expected.txt", std::ios::binary) << text;
    EXPECT_EQ(text_of_file(folder / "expected.txt"), text) << folder;
  }
}

}  // namespace
}  // namespace weft::runs_test
