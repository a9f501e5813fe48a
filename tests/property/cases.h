// Runs a law on many seeds. A seed that breaks it prints the scenario and a command that runs it
// alone; it then belongs into regressions.txt, which every law runs first.
//
//   WEFT_PROPERTY_CASES   seeds a law is tried on, instead of its own number
//   WEFT_PROPERTY_SEED    this seed only
//
// Under sanitizers, which take a multiple of the time, each law is tried on a quarter of its seeds.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"
#include "tests/sanitized.h"

namespace weft {

// What an abort prints before the program ends: an assertion of the simulator is a broken law too.
inline std::string& replay_command() {
  static std::string command;
  return command;
}
inline void print_replay(int) { std::cerr << replay_command() << std::flush; }

inline std::vector<std::uint64_t> seeds(std::uint64_t cases) {
  if (const char* one = std::getenv("WEFT_PROPERTY_SEED")) return {std::stoull(one)};
  if (kSanitized) cases = (cases + 3) / 4;
  if (const char* number = std::getenv("WEFT_PROPERTY_CASES")) cases = std::stoull(number);
  std::vector<std::uint64_t> all;
  std::ifstream regressions(WEFT_SOURCE_DIR "/tests/property/regressions.txt");
  for (std::string line; std::getline(regressions, line);) {
    if (!line.empty() && line[0] != '#') all.push_back(std::stoull(line));
  }
  for (std::uint64_t seed = 1; seed <= cases; ++seed) all.push_back(seed);
  return all;
}

// Calls law(seed) until one seed breaks it. `text_of` makes the seed's scenario.
template <class TextOf, class Law>
void for_each_seed(std::uint64_t cases, TextOf text_of, Law law) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::signal(SIGABRT, print_replay);
  for (const std::uint64_t seed : seeds(cases)) {
    const std::string text = text_of(seed);
    replay_command() = "broken by the scenario\n" + text +
                       "replay: WEFT_PROPERTY_SEED=" + std::to_string(seed) + " " +
                       std::filesystem::read_symlink("/proc/self/exe").string() +
                       " --gtest_filter=" + info->test_suite_name() + "." + info->name() + "\n";
    law(seed, text);
    if (testing::Test::HasFailure()) {
      std::cerr << replay_command();
      return;
    }
  }
}

// One mode of a scenario, ready to run.
struct Prepared {
  Scenario scenario;
  Cluster cluster;
  TaskGraph graph;
  Mode mode;
};

inline Scenario scenario_of(const std::string& text) {
  Loaded loaded = load_scenario_text(text, "random.yaml",
                                     {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  if (!loaded.scenario) throw std::runtime_error(text + loaded.problems.to_text());
  return *loaded.scenario;
}

inline std::vector<Prepared> prepare(const std::string& text) {
  std::vector<Prepared> all;
  const Scenario scenario = scenario_of(text);
  for (const Mode mode : scenario.modes) {
    const Cluster cluster = build_cluster(scenario.cluster);
    all.push_back({scenario, cluster, lower(scenario, cluster, mode), mode});
  }
  return all;
}

inline RunResult run(const Prepared& prepared) {
  return simulate(prepared.cluster, prepared.graph, prepared.scenario.run);
}

}  // namespace weft
