// Every numeric key at the ends of its range, one at a time: a scenario is refused with a reason,
// or runs to some ending. An assertion on the way ends this program, and prints the key before.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "sim/core/rng.h"
#include "sim/models/needs.h"
#include "tests/property/cases.h"
#include "tests/sanitized.h"

namespace weft::range_limits_test {
namespace {

struct Base {
  const char* name;
  const char* text;
};

constexpr Base kBases[] = {
    {"a node", R"(
name: a node of four
cluster:
  name: a node of four
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/mi210, cus: 4, l2: {capacity: 256 KiB}}
  scale_up: {shape: fat_tree, endpoints_per_leaf: 2, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload: {kind: embedding_all_to_all, batch: 64, tables_per_gpu: 4, rows_per_table: 100, dim: 64,
           pooling: 10, rows_per_wg: 4}
)"},
    {"copy engines", R"(
name: copy engines
cluster:
  name: a node of four
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/mi210, cus: 4, l2: {capacity: 256 KiB}}
  scale_up: {shape: ring, link: {bandwidth: 50 GB/s, latency: 500 ns}, segment: 1 kB}
workload: {kind: embedding_all_to_all, batch: 64, tables_per_gpu: 4, rows_per_table: 100, dim: 64,
           pooling: 10, rows_per_wg: 4, jitter: 0.9}
collective: {executor: dma}
fused: {flag_per: peer, work_list: static, order: staggered}
)"},
    {"two nodes", R"(
name: two nodes
cluster:
  name: two nodes of two
  nodes: 2
  gpus_per_node: 2
  gpu: {base: gpus/mi210, cus: 4, l2: {capacity: 256 KiB}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
  scale_out: {shape: fat_tree, endpoints_per_leaf: 2, link: {bandwidth: 200 Gb/s, latency: 700 ns}}
  nic: {base: nics/connectx6, per_node: 2}
workload: {kind: embedding_all_to_all, batch: 64, tables_per_gpu: 4, rows_per_table: 100, dim: 64,
           pooling: 10, rows_per_wg: 4, jitter: 0.9}
)"},
    {"a proxy", R"(
name: a proxy
cluster:
  name: two nodes of two
  nodes: 2
  gpus_per_node: 2
  gpu: {base: gpus/mi210, cus: 4, l2: {capacity: 256 KiB}}
  scale_up: {shape: switch, link: {bandwidth: 50 GB/s, latency: 500 ns}}
  scale_out: {shape: torus, dims: [2, 2], link: {bandwidth: 200 Gb/s, latency: 700 ns}}
  nic: {base: nics/connectx6, per_node: 2, initiated_by: proxy}
workload: {kind: embedding_all_to_all, batch: 64, tables_per_gpu: 4, rows_per_table: 100, dim: 64,
           pooling: 10, rows_per_wg: 4}
fused: {flag_per: peer}
)"},
    {"all-to-all", R"(
name: all-to-all
cluster:
  name: two nodes of two
  nodes: 2
  gpus_per_node: 2
  gpu: {base: gpus/mi210, cus: 4, l2: {capacity: 256 KiB}}
  scale_up: {shape: switch, link: {bandwidth: 50 GB/s, latency: 500 ns}}
  scale_out: {shape: ring, link: {bandwidth: 200 Gb/s, latency: 700 ns}}
  nic: {base: nics/connectx6, per_node: 1}
workload: {kind: collective, op: all_to_all, bytes: 400 kB}
)"},
};

LoadOptions options(std::vector<std::string> sets) {
  return {.sets = std::move(sets), .config_dirs = {WEFT_SOURCE_DIR "/configs"}};
}

// Looked-up rows take most of the time, tens of times as much under sanitizers: those run at the
// bases with most in them.
std::span<const Base> bases() { return std::span(kBases).subspan(kSanitized ? 2 : 0); }

enum class Outcome { refused, too_large, ran };

Outcome outcome_of(const Base& base, std::vector<std::string> sets) {
  std::string command = std::string(base.name) + " with";
  for (const std::string& set : sets) command += " --set '" + set + "'";
  replay_command() = command + "\n";
  if (std::getenv("WEFT_PROPERTY_TRACE") != nullptr) std::cerr << replay_command();
  // Some runs go on for as long as they may: under sanitizers that takes seconds each.
  sets.insert(sets.begin(), kSanitized ? "run.max_events=20000" : "run.max_events=200000");
  const Loaded loaded = load_scenario_text(base.text, "base.yaml", options(sets));
  if (!loaded.scenario) {
    EXPECT_TRUE(loaded.problems.has_errors()) << command;
    return Outcome::refused;
  }
  const Scenario& scenario = *loaded.scenario;
  const Cluster cluster = build_cluster(scenario.cluster);
  for (const Mode mode : scenario.modes) {
    if (estimated_needs(scenario, cluster, mode).memory > bytes(200'000'000))
      return Outcome::too_large;
  }
  for (const Mode mode : scenario.modes) {
    const RunResult result = simulate(cluster, lower(scenario, cluster, mode), scenario.run);
    EXPECT_EQ(result.ending == Ending::finished, result.stopped_because.empty()) << command;
    EXPECT_GE(result.time, Duration{}) << command;
    if (result.ending == Ending::finished) {
      EXPECT_TRUE(result.ledger.balanced()) << command;
    }
  }
  return Outcome::ran;
}

TEST(RangeLimits, of_every_key_are_refused_or_run) {
  std::signal(SIGABRT, print_replay);
  int count[3] = {};
  for (const Base& base : bases()) {
    ASSERT_EQ(outcome_of(base, {}), Outcome::ran) << base.name;
    for (const KeyDoc& key : describe_scenario()) {
      for (const std::string& bound : {key.low, key.high}) {
        if (bound.empty() || key.path == "run.max_events") continue;
        const Outcome outcome = outcome_of(base, {key.path + "=" + bound});
        count[static_cast<int>(outcome)] += 1;
        if (HasFailure()) return;
      }
    }
  }
  // Refused are keys of other shapes, and sizes that do not go together.
  EXPECT_GT(count[static_cast<int>(Outcome::ran)], 350);
  EXPECT_GT(count[static_cast<int>(Outcome::refused)], 50);
}

TEST(RangeLimits, of_a_few_keys_at_once_are_refused_or_run) {
  std::signal(SIGABRT, print_replay);
  std::vector<KeyDoc> keys;
  for (const KeyDoc& key : describe_scenario()) {
    if (!key.low.empty() && key.path != "run.max_events") keys.push_back(key);
  }
  int ran = 0;
  for (const std::uint64_t seed : seeds(2000)) {
    Rng rng(seed, "property/range_limits");
    const auto below = [&](std::size_t n) {
      return static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(n) - 1));
    };
    std::vector<std::string> sets;
    const std::size_t some = 2 + below(3);
    for (std::size_t i = 0; i < some; ++i) {
      const KeyDoc& key = keys[below(keys.size())];
      sets.push_back(key.path + "=" + (below(2) == 0 ? key.low : key.high));
    }
    if (outcome_of(kBases[below(std::size(kBases))], sets) == Outcome::ran) ++ran;
    if (HasFailure()) return;
  }
  EXPECT_GT(ran, 0);  // few: most keys at an end do not go together with others
}

// What goes wrong only with several keys at an end together.
TEST(RangeLimits, together_are_refused_or_run) {
  std::signal(SIGABRT, print_replay);
  const std::vector<std::vector<std::string>> together = {
      {"cluster.gpu.cu.waves=1", "workload.wg.threads=64", "modes=[bulk]"},
      {"cluster.gpu.cu.registers=4096", "workload.wg={threads: 64, registers_per_thread: 32}"},
      {"cluster.gpu.fp32_vector=1 MFLOP/s", "cluster.gpu.cus=1024"},
      {"cluster.gpu.fp32_vector=1 MFLOP/s", "workload.pooling=1000000"},
      {"cluster.gpu.memory.latency=1 s", "workload.pooling=1000000"},
      {"cluster.gpu.memory.bandwidth=1 MB/s", "workload.pooling=1000000", "workload.dim=100000"},
      {"cluster.gpu.memory.bandwidth=100000 TB/s", "cluster.gpu.memory.latency=1 ps"},
      {"cluster.gpu.memory.bandwidth=100000 TB/s", "cluster.gpu.memory.bend=1",
       "cluster.gpu.memory.latency=1 ps"},
      {"cluster.gpu.memory.bandwidth=1 MB/s", "cluster.gpu.memory.latency=1 ps"},
      {"cluster.gpu.memory.bandwidth=1 MB/s", "workload.dim=1000000"},
      {"workload.dim=1000000", "workload.batch=4000000", "workload.rows_per_wg=1000000"},
      {"workload.dim=1000000", "workload.batch=4000", "workload.rows_per_wg=1000"},
      {"workload.dim=1000000", "workload.batch=4000", "workload.rows_per_wg=1000",
       "cluster.scale_up.link.bandwidth=1 MB/s", "run.max_time=200 s"},
      {"workload.dim=1000000", "workload.batch=4000", "workload.rows_per_wg=1000",
       "cluster.gpu.peer_store.wg_rate=1 MB/s", "run.max_time=200 s"},
      {"workload.dim=1000000", "workload.batch=4000", "workload.rows_per_wg=1000",
       "cluster.scale_out.link.bandwidth=1 MB/s", "run.max_time=200 s"},
      {"workload.dim=1000000", "workload.batch=4000", "workload.rows_per_wg=1000",
       "cluster.nic.bandwidth=1 MB/s", "cluster.nic.queue_depth=1", "run.max_time=200 s"},
      {"workload.tables_per_gpu=1"},
      {"workload.tables_per_gpu=2000", "kernel.chunks=2000"},
      {"cluster.gpu.collective.chunk=1 B", "workload.dim=100000"},
      {"cluster.gpu.collective.channels=65536", "cluster.gpu.cus=65536"},
      {"workload.bytes=1 TB", "cluster.gpu.collective.chunk=1000 TB"},
      {"workload.bytes=1 TB", "cluster.gpu.collective.chunk=1000 TB",
       "cluster.gpu.collective.channel_rate=1 MB/s", "run.max_time=200 s"},
      {"workload.bytes=1 TB", "cluster.gpu.collective.chunk=1000 TB",
       "cluster.nic.bandwidth=1 MB/s", "run.max_time=200 s"},
      {"workload.bytes=1 TB", "cluster.gpu.collective.chunk=1000 TB",
       "cluster.scale_out.segment=1 B", "run.max_time=200 s"},
      {"cluster.gpu.memory.latency=1 s", "run.max_time=200 s"},
      {"cluster.nic.latency=1 s", "cluster.nic.receive=1 s", "cluster.nic.flush=1 s",
       "cluster.nic.post=1 s", "cluster.nic.proxy_operation=1 s", "run.max_time=200 s"},
  };
  for (const Base& base : bases()) {
    for (const std::vector<std::string>& sets : together) {
      outcome_of(base, sets);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace weft::range_limits_test
