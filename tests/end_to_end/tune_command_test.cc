// `weft tune` as a user meets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::tune_command_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Two nodes of one GPU, some milliseconds a point; 5 x 3 x 2 of them.
constexpr const char* kSpace =
    "name: small\n"
    "scenario: scenarios/embedding_a2a_2_nodes.yaml\n"
    "set: {modes: [fused], workload.tables_per_gpu: 4, workload.batch: 256}\n"
    "axes:\n"
    "  - {key: fused.slice_wgs, values: [1, 2, 4, 8, 16]}\n"
    "  - {key: fused.order, values: [remote_first, local_first, staggered]}\n"
    "  - {key: workload.rows_per_wg, values: [8, 16]}\n";

class TuneCommand : public InOwnFolder {
 protected:
  void SetUp() override { std::ofstream(folder_ / "small.yaml") << kSpace; }

  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] fs::path in(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] Json json_in(const std::string& name) const {
    return Json::parse(text_of(in(name)));
  }
  // Layouts of a small model with and without a pipeline, by two schedules.
  void write_pipelines(const std::string& more = "") const {
    std::ofstream(in("small.yaml"))
        << "name: small\nscenario: tiny.yaml\n"
        << more
        << "axes:\n  - zip:\n"
           "      - {key: workload.parallel.pipeline, values: [1, 2, 4, 8]}\n"
           "      - {key: workload.parallel.data, values: [8, 4, 2, 1]}\n"
           "  - {key: workload.parallel.schedule, values: [~, gpipe]}\n"
           "filter: pipeline > 1 or schedule == 'default'\n";
    std::ofstream(in("tiny.yaml"))
        << "name: tiny\ncluster: {base: clusters/nodes_16x_8x_h100, nodes: 1}\n"
           "workload: {kind: transformer, phase: training, model: {layers: 8, hidden: 2048, "
           "heads: 16, inner: 8192, vocabulary: 32000}, sequence_length: 8192, sequences: 8, "
           "microbatch: 1, parallel: {data: 8}}\nmodes: [bulk]\n";
  }
};

// As many points as there are: the best of a sweep of the same file.
TEST_F(TuneCommand, finds_what_a_sweep_of_all_points_finds) {
  ASSERT_EQ(weft("sweep small.yaml -q -o swept").status, 0);
  double least = 1e300;
  std::ifstream rows(in("swept/results.jsonl"));
  for (std::string line; std::getline(rows, line);) {
    least =
        std::min(least, Json::parse(line)["summary"]["modes"]["fused"]["time_us"].get<double>());
  }
  const Ended ended = weft("tune small.yaml -o tuned");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("best: fused "), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("30 points: 30 simulated; so the best of all"), std::string::npos)
      << ended.out;
  EXPECT_EQ(json_in("tuned/tune.json")["best"]["value"], least);
}

TEST_F(TuneCommand, writes_the_best_as_a_scenario_that_gives_the_same) {
  ASSERT_EQ(weft("tune small.yaml -q -o tuned --points 12").status, 0);
  const Ended run = weft("run tuned/best.yaml --json -q");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["modes"]["fused"]["time_us"],
            json_in("tuned/tune.json")["best"]["value"]);
}

TEST_F(TuneCommand, simulates_no_more_points_than_it_may) {
  ASSERT_EQ(weft("tune small.yaml -q -o tuned --points 12").status, 0);
  const Json points = json_in("tuned/tune.json")["points"];
  EXPECT_EQ(points["all"], 30);
  EXPECT_EQ(points["simulated"], 12);
}

TEST_F(TuneCommand, finds_the_same_on_any_number_of_cores_and_after_it_was_killed) {
  ASSERT_EQ(weft("tune small.yaml -q -o one -j 1 --points 20").status, 0);
  ASSERT_EQ(weft("tune small.yaml -q -o three -j 3 --points 20").status, 0);
  shell_in(folder_, "timeout -s KILL 0.2 '" WEFT_BINARY
                    "' tune small.yaml -q -o killed -j 1 --points 20 >out.txt 2>err.txt");
  ASSERT_EQ(weft("tune small.yaml -q -o killed -j 1 --points 20").status, 0);
  EXPECT_EQ(text_of(in("one/tune.json")), text_of(in("three/tune.json")));
  EXPECT_EQ(text_of(in("one/tune.json")), text_of(in("killed/tune.json")));
  EXPECT_EQ(text_of(in("one/results.csv")), text_of(in("killed/results.csv")));
}

// The other objective is that of the front's points in their own files.
TEST_F(TuneCommand, of_several_objectives_has_the_front) {
  const Ended ended =
      weft("tune small.yaml -o tuned --minimize time_us --maximize links_busy_max --json -q");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json told = Json::parse(ended.out);
  EXPECT_EQ(told["objective"]["column"], "time_us");
  EXPECT_EQ(told["besides"][0]["better"], "larger");
  ASSERT_GE(told["front"].size(), 1U);
  EXPECT_EQ(told["front"][0]["value"], told["best"]["value"]);
  for (std::size_t i = 1; i < told["front"].size(); ++i) {
    EXPECT_GT(told["front"][i]["value"], told["front"][i - 1]["value"]);
    EXPECT_GT(told["front"][i]["besides"]["links_busy_max"],
              told["front"][i - 1]["besides"]["links_busy_max"]);
  }
  const Ended run = weft("run tuned/best.yaml --json -q");
  EXPECT_EQ(Json::parse(run.out)["modes"]["fused"]["links_busy_max"],
            told["best"]["besides"]["links_busy_max"]);
}

TEST_F(TuneCommand, takes_the_first_on_the_command_line_as_what_is_best) {
  const Ended ended = weft(
      "tune small.yaml -o tuned --points 6 --maximize links_busy_max --minimize time_us --json -q");
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["objective"]["column"], "links_busy_max");
}

// Of a scenario that says another slice than weft's own.
TEST_F(TuneCommand, compares_with_the_defaults) {
  std::ofstream(in("mine.yaml")) << "name: mine\nbase: scenarios/embedding_a2a_2_nodes\n"
                                    "fused: {slice_wgs: 16}\n";
  std::string space = kSpace;
  const std::string scenario = "scenarios/embedding_a2a_2_nodes.yaml";
  std::ofstream(in("small.yaml")) << space.replace(space.find(scenario), scenario.size(),
                                                   "mine.yaml");
  ASSERT_EQ(weft("tune small.yaml -q -o tuned --points 6").status, 0);
  const Json told = json_in("tuned/tune.json");
  ASSERT_TRUE(told.contains("defaults")) << told.dump(2);
  const Json row = Json::parse(text_of(in("tuned/defaults/results.jsonl")));
  EXPECT_NE(told["defaults"]["value"], told["as_it_is"]["value"]);
  EXPECT_EQ(told["defaults"]["value"], row["summary"]["modes"]["fused"]["time_us"]);
  EXPECT_EQ(told["defaults"]["gain"].get<double>(),
            told["defaults"]["value"].get<double>() / told["best"]["value"].get<double>());
}

// How far it comes depends on the machine; what it finds when it goes on does not.
TEST_F(TuneCommand, stops_after_its_time_and_goes_on) {
  const Ended stopped = weft("tune small.yaml -q -o tuned -j 1 --points 20 --minutes 0.002");
  EXPECT_TRUE(stopped.status == 0 ||
              stopped.says("no point was simulated in this time; the same command continues"))
      << stopped.err;
  ASSERT_EQ(weft("tune small.yaml -q -o tuned -j 1 --points 20").status, 0);
  ASSERT_EQ(weft("tune small.yaml -q -o whole -j 1 --points 20").status, 0);
  EXPECT_EQ(text_of(in("tuned/tune.json")), text_of(in("whole/tune.json")));
}

TEST_F(TuneCommand, refuses_a_column_given_twice) {
  for (const char* columns : {"--minimize mfu --maximize mfu", "--minimize mfu --minimize mfu"}) {
    const Ended ended = weft(std::string("tune small.yaml -q -o tuned ") + columns);
    EXPECT_EQ(ended.status, 1) << columns;
    EXPECT_TRUE(ended.says("'mfu' is given twice")) << ended.err;
  }
}

TEST_F(TuneCommand, of_a_scenario_compares_modes_each_at_its_best) {
  const std::string scenario = WEFT_SOURCE_DIR "/configs/scenarios/embedding_a2a_2_nodes.yaml";
  const Ended ended = weft("tune " + scenario +
                           " --points 8 -o tuned --set modes=[bulk,fused] --set "
                           "workload.tables_per_gpu=4 --set workload.batch=256 --json -q");
  EXPECT_EQ(ended.status, 0) << ended.err;
  const Json told = Json::parse(ended.out);
  const std::string best = told["best_mode"];
  for (const auto& [mode, found] : told["modes"].items()) {
    EXPECT_LE(told["modes"][best]["best"]["value"], found["best"]["value"]) << mode;
  }
  EXPECT_EQ(told["modes"].size(), 2U);
  for (const char* mode : {"bulk", "fused"}) {
    EXPECT_TRUE(fs::exists(in("tuned") / mode / "best.yaml")) << mode;
    EXPECT_GE(told["modes"][mode]["as_it_is"]["gain"], 1) << mode;
  }
  EXPECT_NE(text_of(in("tuned/fused/space.yaml")).find("fused.slice_wgs"), std::string::npos);
  EXPECT_EQ(text_of(in("tuned/bulk/space.yaml")).find("fused."), std::string::npos);
}

TEST_F(TuneCommand, does_not_vary_what_is_set) {
  const std::string scenario = WEFT_SOURCE_DIR "/configs/scenarios/embedding_a2a_2_nodes.yaml";
  ASSERT_EQ(weft("tune " + scenario +
                 " --points 2 -q -o tuned --set fused.slice_wgs=2 --set workload.batch=256")
                .status,
            0);
  EXPECT_EQ(text_of(in("tuned/fused/space.yaml")).find("key: fused.slice_wgs"), std::string::npos);
}

TEST_F(TuneCommand, refuses_a_column_that_there_is_not_and_names_the_nearest) {
  const Ended ended = weft("tune small.yaml -q -o tuned --points 3 --minimize fused_time");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("there is no column 'fused_time'")) << ended.err;
  EXPECT_TRUE(ended.says("did you mean 'fused_time_us'?")) << ended.err;
  EXPECT_FALSE(fs::exists(in("tuned/tune.json")));
  EXPECT_EQ(text_of(in("tuned/results.jsonl")), "");  // known before any point is simulated
}

// Two GPUs at 3.6 an hour cost 0.002 of it a second.
TEST_F(TuneCommand, finds_the_cheapest_where_there_is_a_price) {
  const std::string cheapest = "tune small.yaml -q -o tuned --points 8 --minimize cost";
  const Ended without = weft(cheapest);
  EXPECT_EQ(without.status, 1);
  EXPECT_TRUE(without.says("'cost' needs the price of a GPU's hour")) << without.err;
  const std::string priced = " --set run.gpu_hour_price=3.6";
  const Ended misspelt = weft(cheapest.substr(0, cheapest.size() - 4) + "fusd_cost" + priced);
  EXPECT_TRUE(misspelt.says("did you mean 'fused_cost'?")) << misspelt.err;
  ASSERT_EQ(weft(cheapest + priced).status, 0);
  const Ended run = weft("run tuned/best.yaml --json -q");
  const Json fused = Json::parse(run.out)["modes"]["fused"];
  EXPECT_EQ(fused["cost"], json_in("tuned/tune.json")["best"]["value"]);
  EXPECT_NEAR(fused["cost"].get<double>(), fused["time_us"].get<double>() * 2e-9, 1e-12);
}

// The end of the range of the time, which is asked for without a word.
TEST_F(TuneCommand, finds_the_shortest_tail) {
  const Ended ended = weft("tune small.yaml -q -o tuned --points 8 --minimize time_high_us --json");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Ended run = weft("run tuned/best.yaml --json -q");
  EXPECT_EQ(Json::parse(run.out)["modes"]["fused"]["time_high_us"],
            Json::parse(ended.out)["best"]["value"]);
}

TEST_F(TuneCommand, of_a_modes_column_tunes_that_mode) {
  const std::string scenario = WEFT_SOURCE_DIR "/configs/scenarios/embedding_a2a_2_nodes.yaml";
  const Ended ended = weft("tune " + scenario +
                           " --points 3 -q -o tuned --set workload.batch=256 --minimize "
                           "fused_time_us");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(in("tuned/fused/tune.json")));
  EXPECT_FALSE(fs::exists(in("tuned/bulk")));
}

TEST_F(TuneCommand, says_a_command_that_gives_the_same_again) {
  ASSERT_EQ(weft("tune small.yaml -q -o one --points 6 --set workload.dim=128 --tie 5").status, 0);
  const std::string command = json_in("one/tune.json")["command"];
  EXPECT_EQ(command.find("weft tune --points 6 --minimize time_us --tie 5 small.yaml"), 0U)
      << command;
  EXPECT_NE(command.find("workload.dim=128"), std::string::npos) << command;
}

// The scenario as it is runs, none of the points does.
TEST_F(TuneCommand, says_why_no_point_can_be_run_where_the_scenario_can) {
  std::ofstream(in("small.yaml"))
      << "name: small\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
         "set: {modes: [fused], workload.tables_per_gpu: 4, workload.batch: 256}\n"
         "axes: [{key: workload.rows_per_wg, values: [3, 5]}]\n";
  const Ended ended = weft("tune small.yaml -q -o tuned");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("no point can be run")) << ended.err;
  EXPECT_TRUE(ended.says("rows_per_wg")) << ended.err;
}

TEST_F(TuneCommand, says_why_where_no_point_can_be_run) {
  std::ofstream(in("small.yaml"))
      << "name: small\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
         "axes: [{key: workload.batch, values: [3, 5]}]\nset: {workload.tables_per_gpu: 0}\n";
  const Ended ended = weft("tune small.yaml -q -o tuned");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("tables_per_gpu")) << ended.err;
}

// Three rows do not divide the batch; in a search that is no mistake.
TEST_F(TuneCommand, passes_over_points_that_cannot_be_run) {
  std::ofstream(in("small.yaml"))
      << "name: small\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
         "set: {modes: [fused], workload.tables_per_gpu: 4, workload.batch: 256}\n"
         "axes:\n  - {key: workload.rows_per_wg, values: [3, 8, 16]}\n"
         "  - {key: fused.slice_wgs, values: [1, 2]}\n";
  const Ended ended = weft("tune small.yaml -q -o tuned");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(json_in("tuned/tune.json")["points"]["cannot_be_run"], 2);
}

// Of eight microbatches, p = 8 stages take at least (8 + 7) / 8 = 1.9 times what all products take
// at the peak, longer than the layout without a pipeline, which is simulated first.
TEST_F(TuneCommand, does_not_simulate_what_cannot_be_the_best) {
  write_pipelines();
  const Ended ended = weft("tune small.yaml -q -o tuned");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_GE(json_in("tuned/tune.json")["points"]["beyond_bound"], 2) << ended.out;
}

// The same where cost is wanted: the bound is of time x GPUs x price. Of both together, what is
// beaten in time is so in cost, as the GPUs are the same.
TEST_F(TuneCommand, does_not_simulate_what_cannot_be_the_cheapest) {
  write_pipelines("set: {run.gpu_hour_price: 2.5}\n");
  for (const char* wanted : {"--minimize cost", "--maximize tokens_per_s_per_gpu",
                             "--minimize time_us --minimize cost"}) {
    const Ended ended = weft(std::string("tune small.yaml -q -o tuned ") + wanted);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_GE(json_in("tuned/tune.json")["points"]["beyond_bound"], 2) << wanted << ended.out;
  }
}

// Two layers on a node of eight H100, some milliseconds a point.
constexpr const char* kModel =
    "name: layers\ncluster: {base: clusters/node_8x_h100}\n"
    "workload: {kind: transformer, phase: prefill, model: {layers: 2, hidden: 2048, heads: 16, "
    "kv_heads: 8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, "
    "microbatch: 1, parallel: {tensor: 8, sequence: true}}\nmodes: [bulk, fused]\n";

class TunePairs : public TuneCommand {
 protected:
  void SetUp() override {
    TuneCommand::SetUp();
    std::ofstream(folder_ / "layers.yaml") << kModel;
  }
};

// Each of four pairs has its axis, and the best scenario its rules, whichever layers they are in.
TEST_F(TunePairs, writes_rules_of_single_pairs_that_are_no_worse_than_none) {
  const Ended ended = weft("tune layers.yaml --pairs --points 40 -q -o tuned");
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string space = text_of(in("tuned/space.yaml"));
  for (const char* name : {"name: qkv", "name: attn_out", "name: mlp_up", "name: mlp_down"}) {
    EXPECT_NE(space.find(name), std::string::npos) << name << space;
  }
  const Json told = json_in("tuned/tune.json");
  EXPECT_EQ(told["points"]["simulated"], 40);
  EXPECT_GE(told["as_it_is"]["gain"], 1);
  const Ended run = weft("run tuned/best.yaml --json -q");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["modes"]["mixed"]["time_us"], told["best"]["value"]);
  EXPECT_NE(text_of(in("tuned/best.yaml")).find("- {pair: "), std::string::npos);
}

// Where the ways of a collective bring nothing, those of the product do.
TEST_F(TunePairs, vary_tiles_and_own_input) {
  // As of the same command that was stopped.
  ASSERT_EQ(weft("run layers.yaml -q --known tuned/known").status, 0);
  ASSERT_TRUE(fs::exists(in("tuned/known")));
  // Collectives that are in no pair would leave fewer ways to the pairs.
  ASSERT_EQ(
      weft("tune layers.yaml --pairs --points 2 -q -o tuned --set workload.collectives=~").status,
      0);
  const std::string space = text_of(in("tuned/space.yaml"));
  EXPECT_EQ(space.find("key: workload.collectives"), std::string::npos) << space;
  for (const char* knob : {"tile_m: ", "own_first: "}) {
    EXPECT_NE(space.find(knob), std::string::npos) << knob << space;
  }
  EXPECT_FALSE(fs::exists(in("tuned/known"))) << "what was kept until the end";
}

TEST_F(TunePairs, writes_a_sweep_file_that_gives_the_same) {
  ASSERT_EQ(weft("tune layers.yaml --pairs --points 20 -q -o tuned").status, 0);
  const Ended again = weft("tune tuned/space.yaml --points 20 -q -o again");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(text_of(in("tuned/best.yaml")), text_of(in("again/best.yaml")));
}

TEST_F(TunePairs, finds_the_same_on_any_number_of_cores_and_after_it_was_killed) {
  ASSERT_EQ(weft("tune layers.yaml --pairs --points 20 -q -o one -j 1").status, 0);
  ASSERT_EQ(weft("tune layers.yaml --pairs --points 20 -q -o three -j 3").status, 0);
  for (const char* seconds : {"0.1", "0.4"}) {
    shell_in(folder_, std::string("timeout -s KILL ") + seconds +
                          " '" WEFT_BINARY
                          "' tune layers.yaml --pairs --points 20 -q -o killed -j 1 >out.txt "
                          "2>err.txt");
  }
  ASSERT_EQ(weft("tune layers.yaml --pairs --points 20 -q -o killed -j 1").status, 0);
  for (const char* file : {"space.yaml", "results.csv", "best.yaml"}) {
    EXPECT_EQ(text_of(in("one") / file), text_of(in("three") / file)) << file;
    EXPECT_EQ(text_of(in("one") / file), text_of(in("killed") / file)) << file;
  }
}

// Its rule counts for mlp_down where the axis leaves it as it is; elsewhere it is idle, which is no
// reason not to try the point.
TEST_F(TunePairs, go_on_from_rules_that_there_are) {
  const Ended ended = weft(
      "tune layers.yaml --pairs --points 30 -q -o tuned --set 'workload.pairs=[{pair: mlp_down, "
      "mode: kernel, chunks: 8}]'");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(text_of(in("tuned/space.yaml")).find("key: workload.pairs.1\n"), std::string::npos);
  const Json told = json_in("tuned/tune.json");
  EXPECT_EQ(told["points"]["cannot_be_run"], 0);
  EXPECT_GT(told["as_it_is"]["gain"], 1.001);  // eight chunks are slow
}

TEST_F(TunePairs, vary_by_hand_as_any_key_does) {
  std::ofstream(in("slices.yaml")) << "name: slices\nscenario: layers.yaml\n"
                                      "set: {modes: [mixed], workload.pairs: [{pair: mlp_down, "
                                      "mode: fused}]}\n"
                                      "axes: [{key: workload.pairs.0.slice_wgs, values: [1, 4]}]\n";
  const Ended ended = weft("tune slices.yaml -q -o tuned");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("slice_wgs="), std::string::npos) << ended.out;
}

TEST_F(TunePairs, come_after_the_layout_where_both_are_asked_for) {
  const Ended ended = weft("tune layers.yaml --then-pairs --points 4 -q --json -o tuned");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json told = Json::parse(ended.out);
  const std::string mode = told["best_mode"];
  const Json pairs = json_in("tuned/pairs/tune.json");
  EXPECT_EQ(told["then_pairs"], pairs);
  const bool better = pairs["best"]["value"] < told["modes"][mode]["best"]["value"];
  EXPECT_EQ(told["better"], better ? "then_pairs" : "first");
  // It begins with what the layout's search has found.
  EXPECT_NE(text_of(in("tuned/pairs/space.yaml")).find(mode + "/best.yaml"), std::string::npos);
  const Ended run = weft("run tuned/pairs/best.yaml --json -q");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["modes"]["mixed"]["time_us"], pairs["best"]["value"]);
}

// As it is stopped by time.
TEST_F(TunePairs, that_were_not_tried_are_said_to_be_so) {
  ASSERT_EQ(weft("tune layers.yaml --points 4 -q -o tuned").status, 0);
  const std::string again = "tune layers.yaml --then-pairs --points 4 -q -o tuned --minutes 0.001";
  const Ended ended = weft(again);
  if (ended.status == 0) {
    EXPECT_NE(ended.out.find("pairs: none tried: stopped"), std::string::npos) << ended.out;
    const Json told = Json::parse(weft(again + " --json").out);
    EXPECT_EQ(told["then_pairs"]["none_tried"], "stopped");
  } else {  // a busy machine
    EXPECT_TRUE(ended.says("no point was simulated in this time")) << ended.err;
  }
}

TEST_F(TunePairs, are_refused_with_a_column_of_another_mode) {
  for (const char* option : {"--pairs", "--then-pairs"}) {
    const Ended ended = weft(
        "tune layers.yaml -q -o tuned --minimize time_us --minimize "
        "fused_time_us " +
        std::string(option));
    EXPECT_EQ(ended.status, 1);
    EXPECT_TRUE(ended.says("no column 'fused_time_us'")) << ended.err;
    EXPECT_FALSE(fs::exists(in("tuned"))) << option;
  }
}

TEST_F(TunePairs, are_refused_where_there_are_none) {
  const std::string operation = WEFT_SOURCE_DIR "/configs/scenarios/embedding_a2a_2_nodes.yaml";
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Ended ended = weft("tune " + arguments + " --pairs -q -o tuned");
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_TRUE(ended.says(words)) << ended.err;
    EXPECT_FALSE(fs::exists(in("tuned/space.yaml"))) << arguments;
  };
  refused(operation, "embedding_all_to_all is no whole model");
  refused("small.yaml", "small.yaml is a sweep file, which says what varies");
  refused("layers.yaml --set modes=[fused]", "leave out --set modes");
  refused(
      "layers.yaml --set workload.parallel='{tensor: 1, sequence: ~, data: 8}' --set "
      "workload.sequences=8",
      "has no pair that could be overlapped in another way");
}

}  // namespace
}  // namespace weft::tune_command_test
