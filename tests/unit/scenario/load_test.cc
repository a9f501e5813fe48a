#include "sim/scenario/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace weft::load_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

LoadOptions options(std::vector<std::string> sets = {}) {
  return {.sets = std::move(sets), .config_dirs = {kConfigs}};
}

// Steps that were run with ways to keep fewer activations that are not modelled are warned of.
std::string without_memory(const Diagnostics& problems) {
  Diagnostics others;
  for (const Diagnostic& problem : problems.all()) {
    const bool of_memory = problem.severity == Severity::warning &&
                           problem.message.find("activations") != std::string::npos;
    if (!of_memory) others.add(problem);
  }
  return others.to_text();
}

Scenario loaded(const std::string& name, std::vector<std::string> sets = {}) {
  Loaded result =
      load_scenario(kConfigs / "scenarios" / (name + ".yaml"), options(std::move(sets)));
  EXPECT_EQ(without_memory(result.problems), "") << name;
  return result.scenario.value_or(Scenario{});
}

std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(kConfigs / "scenarios")) {
    if (!entry.is_regular_file()) continue;
    names.push_back(
        entry.path().lexically_relative(kConfigs / "scenarios").replace_extension().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(LoadScenario, every_shipped_scenario_loads) {
  ASSERT_GE(shipped_scenarios().size(), 11U);
  for (const std::string& name : shipped_scenarios()) loaded(name);
}

TEST(LoadScenario, every_shipped_cluster_loads_with_some_workload) {
  for (const auto& entry : fs::directory_iterator(kConfigs / "clusters")) {
    const std::string text = "{name: a, cluster: {base: clusters/" + entry.path().stem().string() +
                             "}, workload: {kind: collective, op: all_to_all, bytes: 1 MB}}";
    EXPECT_EQ(load_scenario_text(text, "a.yaml", options()).problems.to_text(), "");
  }
}

TEST(LoadScenario, the_text_of_a_scenario_loads_as_the_same_scenario) {
  for (const std::string& name : shipped_scenarios()) {
    const Scenario first = loaded(name);
    const Loaded second = load_scenario_text(to_text(first), "again.yaml", {});
    ASSERT_EQ(without_memory(second.problems), "") << name;
    EXPECT_EQ(to_text(*second.scenario), to_text(first)) << name;
    EXPECT_EQ(second.scenario->hash, first.hash) << name;
  }
}

TEST(LoadScenario, reads_the_values_of_the_files) {
  const Scenario scenario = loaded("embedding_a2a_128_nodes");
  EXPECT_EQ(scenario.cluster.gpus(), 128);
  EXPECT_EQ(scenario.cluster.scale_out->topology->grid(), (std::vector<int>{16, 8}));
  EXPECT_EQ(scenario.cluster.scale_out->link.bandwidth, gigabits_per_second(200));
  EXPECT_EQ(scenario.cluster.nic->message_interval, picoseconds(4'651));
  EXPECT_FALSE(scenario.cluster.scale_up);
  EXPECT_EQ(scenario.workload.embedding.jitter, 0.1);
  EXPECT_EQ(scenario.modes, (std::vector<Mode>{Mode::bulk, Mode::kernel, Mode::fused}));
}

TEST(LoadScenario, a_set_changes_the_value_and_the_hash) {
  const Scenario before = loaded("embedding_a2a_4_gpus");
  const Scenario after = loaded("embedding_a2a_4_gpus", {"run.seed=2"});
  EXPECT_EQ(after.run.seed, 2U);
  EXPECT_NE(after.hash, before.hash);
  EXPECT_EQ(loaded("embedding_a2a_4_gpus", {"run.seed=1"}).hash, before.hash);
}

TEST(LoadScenario, a_set_can_take_another_gpu) {
  const Scenario scenario = loaded("embedding_a2a_4_gpus", {"cluster.gpu.base=gpus/mi300x"});
  EXPECT_EQ(scenario.cluster.gpu.cus, 304);
}

TEST(LoadScenario, a_ring_gets_its_size_from_the_endpoints) {
  const Scenario scenario = loaded("peers_ring_128");
  EXPECT_EQ(scenario.cluster.scale_out->topology.word(), "torus");
  EXPECT_EQ(scenario.cluster.scale_out->topology->grid(), std::vector<int>{128});
}

TEST(LoadScenario, a_collective_alone_runs_in_bulk_only) {
  EXPECT_EQ(loaded("peers_torus_128").modes, std::vector<Mode>{Mode::bulk});
}

TEST(LoadScenario, by_default_there_are_no_more_chunks_than_tables) {
  EXPECT_EQ(loaded("embedding_a2a_4_gpus", {"kernel=~"}).kernel.chunks, 4);
  const Loaded one_table = load_scenario(kConfigs / "scenarios/embedding_a2a_4_gpus.yaml",
                                         options({"kernel=~", "workload.tables_per_gpu=1"}));
  EXPECT_EQ(one_table.scenario.value().kernel.chunks, 1);
  EXPECT_EQ(loaded("peers_torus_128").kernel.chunks, 4);
  const Loaded written =
      load_scenario(kConfigs / "scenarios/embedding_a2a_4_gpus.yaml",
                    options({"kernel.chunks=2", "workload.tables_per_gpu=1", "fused.slice_wgs=1"}));
  ASSERT_EQ(written.problems.all().size(), 1U);
  EXPECT_EQ(written.problems.all()[0].path, "kernel.chunks");
}

TEST(LoadScenario, what_a_small_cluster_cannot_use_is_left_out) {
  const Scenario scenario = loaded("embedding_a2a_16x8_mi300x", {"cluster.nodes=1"});
  EXPECT_TRUE(scenario.cluster.scale_up);
  EXPECT_FALSE(scenario.cluster.scale_out);
  EXPECT_FALSE(scenario.cluster.nic);
}

TEST(LoadScenario, lists_every_file_it_read) {
  const Loaded result =
      load_scenario(kConfigs / "scenarios/embedding_a2a_128_nodes.yaml", options());
  std::set<std::string> names;
  for (const InputFile& input : result.inputs) {
    names.insert(fs::path(input.path).filename().string());
    EXPECT_EQ(input.hash.size(), 16U);
  }
  EXPECT_EQ(names, (std::set<std::string>{"embedding_a2a_128_nodes.yaml", "torus_128_mi210.yaml",
                                          "mi210.yaml", "connectx6.yaml"}));
}

// The file is right by itself; who named it on the command line has to know.
TEST(LoadScenario, what_does_not_suit_a_base_is_told_where_it_was_named) {
  const Loaded set = load_scenario(kConfigs / "scenarios/embedding_a2a_4_gpus.yaml",
                                   options({"workload.base=models/llama3_8b"}));
  ASSERT_FALSE(set.problems.all().empty());
  for (const Diagnostic& problem : set.problems.all()) {
    EXPECT_EQ(problem.at.file, "--set workload.base=models/llama3_8b");
    EXPECT_NE(problem.message.find("configs/models/llama3_8b.yaml:"), std::string::npos)
        << problem.message;
  }
  // Where the scenario's own file names it, the base's line is shown as ever.
  const Loaded own = load_scenario_text(
      "{name: a, cluster: {base: clusters/node_4x_mi210},"
      " workload: {base: models/llama3_8b, kind: collective, op: all_reduce, bytes: 1 MB}}",
      "a.yaml", options());
  ASSERT_FALSE(own.problems.all().empty());
  EXPECT_TRUE(own.problems.all()[0].at.file.ends_with("llama3_8b.yaml"));
}

TEST(LoadScenario, a_path_starts_from_the_file_that_says_it) {
  const std::string text =
      "{name: a, cluster: {base: clusters/node_4x_mi210}, workload: {kind: chakra, path: ../t}}";
  const auto path = [&](std::vector<std::string> sets) {
    const Loaded result = load_scenario_text(text, "some/folder/a.yaml", options(std::move(sets)));
    EXPECT_EQ(result.problems.to_text(), "");
    return result.scenario.value_or(Scenario{}).workload.trace.path;
  };
  EXPECT_EQ(path({}), "some/t");
  EXPECT_EQ(path({"workload.path=t"}), "t") << "a --set from the working folder";
  EXPECT_EQ(path({"workload.path=/abs/t"}), "/abs/t");
}

// Which kinds a trace or a model has, its keys do not say.
TEST(LoadScenario, of_a_model_an_algorithm_is_for_those_that_have_it) {
  for (const std::string workload :
       {"workload={kind: chakra, path: t}", "workload={base: models/llama3_8b, phase: training}"}) {
    for (const std::string algorithm : {"ring", "tree", "halving_doubling", "direct"}) {
      const Loaded result = load_scenario(kConfigs / "scenarios/models/llama3_70b_decode.yaml",
                                          options({workload, "collective.algorithm=" + algorithm}));
      for (const Diagnostic& problem : result.problems.all()) {
        EXPECT_NE(problem.path, "collective.algorithm") << problem.message;
      }
    }
  }
}

TEST(LoadScenario, a_librarys_rows_between_nodes_are_in_order) {
  const Loaded wrong = load_scenario_text(
      "name: a\n"
      "cluster:\n"
      "  base: clusters/nodes_16x_8x_mi355x\n"
      "  gpu:\n"
      "    collective:\n"
      "      between_nodes:\n"
      "        - {nodes: 4, tree_up_to: 1 MiB, ll_up_to: 8 KiB, ll128_up_to: 4 KiB}\n"
      "        - {nodes: 2, tree_up_to: 1 MiB, ll_up_to: 1 KiB, ll128_up_to: 4 KiB}\n"
      "workload: {kind: collective, op: all_reduce, bytes: 1 MiB}\n",
      "a.yaml", options());
  const std::string text = wrong.problems.to_text();
  EXPECT_NE(text.find("a.yaml:7:"), std::string::npos) << text;
  EXPECT_NE(text.find("between_nodes[0].ll128_up_to: ll128 follows ll, which goes up to 8 KiB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("a.yaml:8:"), std::string::npos) << text;
  EXPECT_NE(text.find("between_nodes[1].nodes: rows follow one another by nodes; the one before is "
                      "of 4"),
            std::string::npos)
      << text;
}

TEST(LoadScenario, an_engines_kernels_must_fit_rise_by_size_and_have_no_protocol) {
  const std::string scenario =
      "cluster: {base: clusters/node_8x_h200}\nworkload: {kind: collective, op: all_reduce, bytes: "
      "1 "
      "MiB}\n";
  const std::string engine = "cluster.gpu.collective.engine.";
  const auto problems = [&](std::vector<std::string> sets) {
    sets.emplace_back("collective.algorithm=engine");
    return load_scenario_text("name: engine\n" + scenario, "engine.yaml", options(std::move(sets)))
        .problems.to_text();
  };
  const std::string rows = problems({engine + "threads=1024", "collective.protocol=ll",
                                     engine + "rows=[{gpus: 8, one_shot_below: 1 MiB, "
                                              "two_shot_below: 64 KiB}]"});
  EXPECT_NE(rows.find("rows[0].two_shot_below: 64 KiB is not above the size before it, 1 MiB"),
            std::string::npos)
      << rows;
  EXPECT_NE(rows.find("engine.threads: 1024 threads with the"), std::string::npos) << rows;
  EXPECT_NE(rows.find("collective.protocol: an engine's kernels have none"), std::string::npos)
      << rows;
  const std::string none = problems({engine + "rows=~"});
  EXPECT_NE(none.find("collective.algorithm: cluster.gpu.collective.engine.rows"),
            std::string::npos)
      << none;
}

TEST(LoadScenario, a_file_that_is_not_there_is_a_problem) {
  const Loaded result = load_scenario("nowhere/none.yaml", {});
  EXPECT_FALSE(result.scenario);
  EXPECT_EQ(result.problems.to_text(),
            "nowhere/none.yaml: error: cannot read nowhere/none.yaml: no such file\n");
}

// What is found out later is told where its key stands, or the map around it, or where it was set;
// what nobody wrote, and what is of another file, stays where it is.
TEST(KeyPlaces, put_problems_where_keys_stand) {
  const Loaded loaded = load_scenario_text(
      "name: mine\nbase: scenarios/models/llama3_70b_pairs\n"
      "workload:\n  pairs:\n    - {pair: mlp_down, mode: fused}\n",
      "mine.yaml", options({"run.max_memory=1 GiB"}));
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const auto told = [&](const std::string& file, const std::string& path) {
    Diagnostics problems;
    problems.add({.at = {.file = file}, .path = path, .message = "wrong", .source_line = ""});
    return loaded.places.placed(problems, "mine.yaml").to_text();
  };
  EXPECT_TRUE(told("mine.yaml", "workload.pairs[0].pair")
                  .starts_with("mine.yaml:5:8: error: workload.pairs[0].pair: wrong\n"))
      << told("mine.yaml", "workload.pairs[0].pair");
  EXPECT_TRUE(told("mine.yaml", "workload.pairs[0].slice_wgs").starts_with("mine.yaml:5:"));
  EXPECT_TRUE(told("mine.yaml", "run.max_memory").starts_with("--set run.max_memory=1 GiB"));
  EXPECT_TRUE(told("mine.yaml", "cluster.nodes").starts_with("mine.yaml: error: "));
  EXPECT_TRUE(told("mine.yaml", "c3.lookup").starts_with("mine.yaml: error: "));
  EXPECT_TRUE(told("trace.json", "workload.pairs[0].pair").starts_with("trace.json: error: "));
}

TEST(DescribeScenario, knows_a_kind_and_a_help_for_every_key_once) {
  std::set<std::string> paths;
  for (const KeyDoc& doc : describe_scenario()) {
    EXPECT_TRUE(paths.insert(doc.path).second) << doc.path;
    EXPECT_NE(doc.type, "") << doc.path;
    EXPECT_NE(doc.help, "") << doc.path;
    EXPECT_NE(doc.fallback, "") << doc.path;
  }
  EXPECT_TRUE(paths.contains("cluster.scale_out.link.latency"));
  EXPECT_TRUE(paths.contains("workload.wg.loads_in_flight"));
}

// The paths of all keys of a YAML text as to_text writes it: two spaces a level.
std::set<std::string> paths_in(const std::string& text) {
  std::set<std::string> paths;
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t indent = text.find_first_not_of(' ', at) - at;
    open.resize(indent / 2);
    const std::string line = text.substr(at + indent, text.find('\n', at) - at - indent);
    if (line.starts_with("- {")) {  // a map of a list, on one line
      for (std::size_t key = 3; key < line.size(); key = line.find(", ", key) + 2) {
        paths.insert(open.back() + "[]." + line.substr(key, line.find(':', key) - key));
        if (line.find(", ", key) == std::string::npos) break;
      }
      continue;
    }
    open.push_back((open.empty() ? "" : open.back() + '.') +
                   text.substr(at + indent, text.find(':', at) - at - indent));
    paths.insert(open.back());
  }
  return paths;
}

TEST(ToText, of_caches_loads_to_the_same) {
  for (const char* machine : {"h200", "mi300x"}) {
    const std::string cluster = std::string("cluster={base: clusters/node_8x_") + machine + "}";
    const Scenario first =
        loaded("embedding_a2a_8x_h100",
               {cluster, std::string("cluster.gpu.caches.base=cache/machines/") + machine});
    ASSERT_TRUE(first.cluster.gpu.caches.has_value());
    const Loaded second = load_scenario_text(to_text(first), "again.yaml", {});
    ASSERT_EQ(without_memory(second.problems), "");
    EXPECT_TRUE(second.scenario->cluster.gpu.caches == first.cluster.gpu.caches);
  }
}

TEST(ToText, writes_every_key_that_is_read) {
  std::set<std::string> written;
  for (const std::string& name : shipped_scenarios())
    written.merge(paths_in(to_text(loaded(name))));
  written.merge(paths_in(
      to_text(loaded("embedding_a2a_4_gpus",
                     {"fused.max_wgs_per_cu=2", "fused.chain=2", "modes=[role_split]",
                      "fused.sending_cus=4", "collective.channels=8", "run.range=true"}))));
  written.merge(paths_in(
      to_text(loaded("gemm_rs_8x_h100", {"fused.unsent=2", "fused.sending_waves=32",
                                         "fused.rate_while_sending=0.25", "fused.add=with_own"}))));
  written.merge(paths_in(to_text(loaded("gemv_ar_4x_h200", {"fused.fence_of=all"}))));
  written.merge(paths_in(to_text(loaded(
      "models/llama3_8b_fsdp", {"run.steps_between_pauses=2", "workload.model.dropout=true"}))));
  written.merge(paths_in(to_text(loaded("embedding_a2a_4_gpus", {"collective.executor=dma"}))));
  written.merge(paths_in(
      to_text(loaded("gemm_rs_8x_h100",
                     {"workload.kind=all_gather_gemm",
                      "fused={own_first: 46, sending_wgs: 16, sent_by: wg, piece: 128 KiB}"}))));
  written.merge(paths_in(
      to_text(loaded("gemm_rs_8x_h100",
                     {"cluster.gpu.library_attention={base: kernels/attention_flash_2_h200}"}))));
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {"workload.op=point_to_point", "workload.groups={size: 4, stride: 2}"},
           {"workload.bytes=~", "workload.groups={gpus: [[0, 1], [2, 3]]}",
            "workload.matrix=[[0 B, 1 MB], [64 KiB, 0 B]]"}}) {
    written.merge(paths_in(to_text(loaded("peers_torus_128", sets))));
  }
  written.merge(paths_in(to_text(loaded(
      "c3/mi300x", {"c3.partition_cus=8", "cluster.gpu.caches.base=cache/machines/mi300x"}))));
  written.merge(paths_in(
      to_text(loaded("gemm_rs_8x_h100", {"fused.in_switch=true", "workload.gemm.fixed=1 us"}))));
  written.merge(paths_in(to_text(
      loaded("models/mixtral_decode", {"workload.moe.router=histogram", "workload.moe.exponent=~",
                                       "workload.moe.histogram=[1, 2, 3, 4, 5, 6, 7, 8]"}))));
  written.merge(paths_in(to_text(loaded(
      "models/mixtral_decode", {"workload.moe.exchange=put", "workload.moe.exchange_cus=8"}))));
  written.merge(paths_in(
      to_text(loaded("models/llama3_70b_training",
                     {"workload.parallel.first_layers=19", "workload.parallel.last_layers=19"}))));
  written.merge(paths_in(to_text(loaded("models/llama3_70b_training",
                                        {"workload.parallel.layers_of_parts=[20, 20, 21, 19]"}))));
  written.merge(paths_in(to_text(loaded(
      "models/llama3_70b_training", {"workload.parallel.data=2", "workload.parallel.context=2"}))));
  written.merge(paths_in(to_text(loaded(
      "models/llama3_70b_training",
      {"workload.pairs=[{mode: fused, add: with_own}, {pair: mlp_down, mode: role_split, "
       "from_layer: 1, to_layer: 9, order: "
       "given, slice_wgs: 2, max_wgs_per_cu: 1, own_first: 4, sending_cus: 8}, {mode: kernel, "
       "chunks: 2, tile_m: 128, tile_n: 64, algorithm: ring, protocol: ll, channels: 4}]",
       "workload.collectives=[{collective: gradient_sum, from_layer: 1, to_layer: 2, algorithm: "
       "ring, protocol: ll, channels: 4}]",
       "run.gpu_hour_price=2"}))));
  written.merge(paths_in(to_text(
      loaded("models/llama3_8b_fsdp",
             {"workload.parallel.reshard_after_forward=false", "workload.parallel.shard_copies=4",
              "workload.parallel.gradient_sums=last", "workload.gradient_dtype=bf16"}))));
  written.merge(
      paths_in(to_text(loaded("models/mixtral_training", {"workload.parallel.expert_tensor=2"}))));
  written.merge(paths_in(to_text(
      loaded("models/mixtral_training", {"workload.fp8=tensor", "workload.fp8_scaling=delayed",
                                         "modes=[copy_fed]", "fused.brought=pushed"}))));
  written.merge(paths_in(
      to_text(loaded("models/gpt3_175b_interleaved", {"workload.parallel.sends=in_turns"}))));
  written.merge(paths_in(to_text(
      loaded("embedding_a2a_128_nodes",
             {"cluster.scale_out={shape: dragonfly, endpoints_per_router: 2, routers_per_group: 4, "
              "links_between_groups: 1, global_routing: ecmp, dims: ~, ring_ties: ~}"}))));
  for (const std::string trace :
       {"kind: chakra, path: a, process_groups: b, comm_size_unit: elements",
        "kind: pytorch, path: a, execution_traces: b, recorded_on: {base: gpus/a100}",
        "kind: nsys, path: a, collective_sizes: b",
        "kind: graph, path: a, copies: 4, recorded_copies: 2"}) {
    written.merge(paths_in(
        to_text(loaded("embedding_a2a_128_nodes", {"workload=~", "workload={" + trace + "}"}))));
  }
  // The same struct as scale_out, which the shipped scenarios use with every shape.
  const auto is_scale_up = [](const std::string& path) {
    return path.starts_with("cluster.scale_up.");
  };
  for (const KeyDoc& doc : describe_scenario()) {
    EXPECT_TRUE(is_scale_up(doc.path) || written.contains(doc.path)) << doc.path;
  }
}

}  // namespace
}  // namespace weft::load_test
