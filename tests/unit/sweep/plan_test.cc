// From a sweep file to its points: axes, columns, order, mistakes.
#include "sim/sweep/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/report/csv_line.h"

namespace weft::plan_test {
namespace {

namespace fs = std::filesystem;

class SweepPlans : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // A sweep of the smallest scenario there is, with these lines.
  LoadedPlan load(const std::string& lines, const std::vector<std::string>& sets = {}) const {
    std::ofstream(folder_ / "sweep.yaml")
        << "name: test\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
        << lines;
    const auto dirs = [](const fs::path&) {
      return std::vector<fs::path>{fs::path(WEFT_SOURCE_DIR) / "configs"};
    };
    return load_plan(folder_ / "sweep.yaml", {.sets = sets, .config_dirs = dirs});
  }

  SweepPlan plan(const std::string& lines, const std::vector<std::string>& sets = {}) const {
    LoadedPlan loaded = load(lines, sets);
    EXPECT_EQ(loaded.problems.to_text(), "");
    return loaded.plan.value_or(SweepPlan{});
  }

  // "nodes=2 batch=512" of every point.
  std::vector<std::string> points(const std::string& lines) const {
    const SweepPlan made = plan(lines);
    std::vector<std::string> texts;
    for (const Point& point : made.points) {
      const std::vector<AxisColumn> columns = columns_of(made);
      const std::vector<Cell> cells = cells_of(made, point);
      std::string text;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto* number = std::get_if<double>(&cells[i]);
        text += (i == 0 ? "" : " ") + columns[i].column + '=' +
                (number == nullptr ? std::get<std::string>(cells[i]) : csv_text(*number));
      }
      texts.push_back(text);
    }
    return texts;
  }

  void expect_wrong(const std::string& lines, const std::string& place, const std::string& words,
                    const std::vector<std::string>& sets = {}) const {
    const LoadedPlan loaded = load(lines, sets);
    EXPECT_FALSE(loaded.plan.has_value()) << lines;
    const std::string text = loaded.problems.to_text();
    EXPECT_NE(text.find(words), std::string::npos) << lines << "\n" << text;
    EXPECT_NE(text.find(place), std::string::npos) << lines << "\n" << text;
  }

  fs::path folder_ =
      fs::temp_directory_path() / ("weft_plan_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

using Texts = std::vector<std::string>;

TEST_F(SweepPlans, the_last_axis_changes_fastest) {
  EXPECT_EQ(points("axes:\n"
                   "  - {key: cluster.nodes, values: [2, 4]}\n"
                   "  - {key: workload.batch, values: [512, 1024]}\n"),
            (Texts{"nodes=2 batch=512", "nodes=2 batch=1024", "nodes=4 batch=512",
                   "nodes=4 batch=1024"}));
}

TEST_F(SweepPlans, ranges_go_by_steps_by_their_number_or_double) {
  const auto of = [this](const std::string& key, const std::string& range) {
    return points("axes: [{key: " + key + ", " + range + "}]\n");
  };
  EXPECT_EQ(of("workload.batch", "from: 256, to: 1024, powers_of_two: true"),
            (Texts{"batch=256", "batch=512", "batch=1024"}));
  EXPECT_EQ(of("workload.batch", "from: 256, to: 1024, step: 256"),
            (Texts{"batch=256", "batch=512", "batch=768", "batch=1024"}));
  EXPECT_EQ(of("workload.batch", "from: 256, to: 1024, steps: 3"),
            (Texts{"batch=256", "batch=640", "batch=1024"}));
  EXPECT_EQ(of("workload.jitter", "from: 0, to: 0.3, step: 0.1"),
            (Texts{"jitter=0", "jitter=0.1", "jitter=0.2", "jitter=0.3"}));
  EXPECT_EQ(of("cluster.scale_out.link.latency", "from: 700 ns, to: 1.4 us, powers_of_two: true"),
            (Texts{"latency_us=0.7", "latency_us=1.4"}));
  EXPECT_EQ(of("cluster.scale_out.link.bandwidth", "from: 100 Gb/s, to: 50 GB/s, steps: 4"),
            (Texts{"bandwidth_gbps=100", "bandwidth_gbps=200", "bandwidth_gbps=300",
                   "bandwidth_gbps=400"}));
  EXPECT_EQ(of("cluster.gpu.memory.side_cache", "from: 64 KiB, to: 128 KiB, step: 64 KiB"),
            (Texts{"side_cache_bytes=65536", "side_cache_bytes=131072"}));
}

TEST_F(SweepPlans, a_range_that_misses_its_end_is_a_mistake) {
  const auto wrong = [this](const std::string& range, const std::string& words) {
    expect_wrong("axes:\n  - {key: workload.batch, " + range + "}\n", "sweep.yaml:4:", words);
  };
  wrong("from: 256, to: 1000, powers_of_two: true", "it reaches 512 or 1024, not to 1000");
  wrong("from: 256, to: 1000, step: 512", "it reaches 768 or 1280, not to 1000");
  wrong("from: 1, to: 4, steps: 3", "not evenly spaced");
  wrong("from: 4, to: 1, step: 1", "'to' is below 'from'");
  wrong("from: 0, to: 8, powers_of_two: true", "must start above 0");
  wrong("from: 1, to: 8", "one of step, steps and powers_of_two");
  wrong("from: 1, to: 8, step: 1, steps: 8", "one of step, steps and powers_of_two");
  wrong("from: 1, to: 1000000000, step: 1", "more than 100000 values");
  wrong("to: 8, step: 1", "axes[0].from: required");
}

TEST_F(SweepPlans, zipped_keys_change_together) {
  EXPECT_EQ(points("axes:\n"
                   "  - zip:\n"
                   "      - {key: cluster.nodes, values: [2, 4]}\n"
                   "      - {key: workload.batch, from: 1024, to: 2048, powers_of_two: true}\n"),
            (Texts{"nodes=2 batch=1024", "nodes=4 batch=2048"}));
  expect_wrong(
      "axes:\n"
      "  - zip:\n"
      "      - {key: cluster.nodes, values: [2, 4]}\n"
      "      - {key: workload.batch, values: [1024]}\n",
      "sweep.yaml:6:15", "the same number of values: here 1, the first has 2");
}

TEST_F(SweepPlans, columns_are_the_last_part_or_more_where_two_are_alike) {
  const SweepPlan made = plan(
      "axes:\n"
      "  - {key: cluster.scale_out.link.bandwidth, values: [100 Gb/s]}\n"
      "  - {key: cluster.gpu.memory.bandwidth, values: [1 TB/s]}\n"
      "  - {key: cluster.gpu.base, values: [gpus/mi210]}\n"
      "  - {key: cluster.nic.message_rate, values: [100 M/s]}\n"
      "  - {key: cluster.gpu.fp32_vector, values: [22.6 TFLOP/s], name: peak}\n");
  Texts names;
  for (const AxisColumn& column : columns_of(made)) names.push_back(column.column);
  EXPECT_EQ(names, (Texts{"link_bandwidth_gbps", "memory_bandwidth_gbps", "gpu",
                          "message_rate_m_per_s", "peak"}));
  EXPECT_EQ(cells_of(made, made.points[0]),
            (std::vector<Cell>{100.0, 8000.0, std::string("mi210"), 100.0, 22.6}));
}

TEST_F(SweepPlans, whole_bases_are_swapped_and_keys_inside_them_stay) {
  const SweepPlan made = plan(
      "axes:\n"
      "  - {key: cluster.nodes, values: [2, 4]}\n"
      "  - key: cluster\n"
      "    values: [{base: clusters/nodes_2x_mi210}, {base: clusters/nodes_2x_mi210}]\n"
      "    labels: [one, other]\n",
      {"run.seed=7"});
  EXPECT_EQ(sets_of(made, made.points[3]),
            (Texts{"cluster={base: clusters/nodes_2x_mi210}", "run.seed=7", "cluster.nodes=4"}));
  PointLoader loader(made);
  const Loaded loaded = loader.load(made.points[3]);
  ASSERT_EQ(loaded.problems.to_text(), "");
  EXPECT_EQ(loaded.scenario->cluster.nodes, 4);
  EXPECT_EQ(loaded.scenario->run.seed, 7U);
  EXPECT_EQ(cells_of(made, made.points[3]), (std::vector<Cell>{4.0, std::string("other")}));
}

TEST_F(SweepPlans, the_filter_keeps_points_by_their_columns) {
  EXPECT_EQ(points("axes:\n"
                   "  - {key: cluster.nodes, values: [2, 4]}\n"
                   "  - {key: cluster.gpu.base, values: [gpus/mi210, gpus/h100]}\n"
                   "filter: nodes < 4 or gpu == 'h100'\n"),
            (Texts{"nodes=2 gpu=mi210", "nodes=2 gpu=h100", "nodes=4 gpu=h100"}));
  expect_wrong("axes: [{key: cluster.nodes, values: [2, 4]}]\nfilter: nodes > 4\n", "filter",
               "keeps none of 2 points");
  expect_wrong("axes: [{key: cluster.nodes, values: [2, 4]}]\nfilter: nodes > 2 and node < 4\n",
               "sweep.yaml:4:23", "no column 'node'");
  expect_wrong("axes: [{key: cluster.nodes, values: [2, 4]}]\nfilter: 'node < 4'\n",
               "sweep.yaml:4:10", "no column 'node'");
  expect_wrong("axes: [{key: cluster.nodes, values: [2, 4]}]\nfiltre: nodes < 4\n", "filtre",
               "did you mean 'filter'?");
}

TEST_F(SweepPlans, set_is_for_all_points_and_the_command_line_wins) {
  const SweepPlan made =
      plan("set: {modes: [bulk], run.seed: 3}\naxes: [{key: cluster.nodes, values: [2]}]\n",
           {"run.seed=4"});
  PointLoader loader(made);
  const Loaded loaded = loader.load(made.points[0]);
  ASSERT_EQ(loaded.problems.to_text(), "");
  EXPECT_EQ(loaded.scenario->modes, std::vector<Mode>{Mode::bulk});
  EXPECT_EQ(loaded.scenario->run.seed, 4U);
}

TEST_F(SweepPlans, one_value_has_one_master) {
  const std::string axis = "axes:\n  - {key: cluster.nodes, values: [2]}\n";
  expect_wrong(axis + "  - {key: cluster.nodes, values: [4]}\n", "sweep.yaml:5:11",
               "another axis already changes cluster.nodes");
  expect_wrong(axis + "set: {cluster.nodes: 4}\n", "sweep.yaml:5:7",
               "an axis changes cluster.nodes");
  expect_wrong(axis, "--set cluster.nodes=8", "an axis changes cluster.nodes", {"cluster.nodes=8"});
}

TEST_F(SweepPlans, all_mistakes_are_said_at_once_with_their_place) {
  const LoadedPlan loaded = load(
      "axis: 4\n"
      "axes:\n"
      "  - {key: cluster.node, values: [2]}\n"
      "  - {key: workload.batch, values: [512, many]}\n"
      "  - {key: cluster.scale_out.link.latency, values: [700]}\n"
      "  - {key: workload.dim, values: []}\n"
      "  - {key: workload.pooling, values: [1], labels: [a, b]}\n"
      "filter: batch <\n");
  EXPECT_FALSE(loaded.plan.has_value());
  const std::string text = loaded.problems.to_text();
  for (const char* words :
       {"sweep.yaml:3:1: error: axis: unknown key; did you mean 'axes'?",
        "sweep.yaml:5:11: error: axes[0].key: 'cluster.node': unknown key; did you mean "
        "'cluster.nodes'?",
        "sweep.yaml:6:41: error: axes[1].values: 'many' does not start with a number",
        "sweep.yaml:7:52: error: axes[2].values: missing unit",
        "sweep.yaml:8:33: error: axes[3].values: must be a list with at least one value",
        "sweep.yaml:9:50: error: axes[4].labels: must be a list of 1 words",
        "sweep.yaml:10:16: error: filter: an operand is missing at the end"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST_F(SweepPlans, a_mistake_of_an_axis_hides_none_of_the_filter_and_the_other_way_round) {
  const auto text_of = [this](const std::string& lines) { return load(lines).problems.to_text(); };
  const auto has = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const std::string values = text_of(
      "axes:\n"
      "  - {key: cluster.nodes, values: [2]}\n"
      "  - {key: workload.dim, values: []}\n"
      "filter: dim > 4 and batch < 8\n");
  EXPECT_TRUE(has(values, "axes[1].values: must be a list")) << values;
  EXPECT_TRUE(has(values, "filter: no column 'batch'; columns: nodes dim\n")) << values;
  const std::string key = text_of(
      "axes:\n"
      "  - {key: cluster.nodes, values: [2]}\n"
      "  - {key: workload.dimm, values: [64]}\n"
      "filter: dim > 4\n");
  EXPECT_TRUE(has(key, "axes[1].key: 'workload.dimm'")) << key;
  EXPECT_TRUE(
      has(key, "filter: no column 'dim'; columns: nodes (among the axes that could be read)"))
      << key;
  const std::string number = text_of(
      "axes:\n"
      "  - {key: cluster.nodes, from: 1, to: 2000, step: 1}\n"
      "  - {key: workload.batch, from: 1, to: 2000, step: 1}\n"
      "filter: nodes <\n");
  EXPECT_TRUE(has(number, "axes: more than 1000000 points")) << number;
  EXPECT_TRUE(has(number, "filter: an operand is missing at the end")) << number;
}

TEST_F(SweepPlans, a_scenario_that_is_not_there_is_answered_with_those_that_are) {
  std::ofstream(folder_ / "sweep.yaml") << "name: test\nscenario: scenarios/embedding_a2a_2_node\n"
                                           "axes: [{key: cluster.nodes, values: [2]}]\n";
  const auto dirs = [](const fs::path&) {
    return std::vector<fs::path>{fs::path(WEFT_SOURCE_DIR) / "configs"};
  };
  const LoadedPlan loaded = load_plan(folder_ / "sweep.yaml", {.sets = {}, .config_dirs = dirs});
  EXPECT_NE(loaded.problems.to_text().find("did you mean 'scenarios/embedding_a2a_2_nodes'?"),
            std::string::npos)
      << loaded.problems.to_text();
}

TEST_F(SweepPlans, columns_that_results_have_are_not_free) {
  for (const char* name : {"point", "status", "error", "fused_time_us", "bulk_wait_post_us"}) {
    expect_wrong(std::string("axes: [{key: cluster.nodes, values: [2], name: ") + name + "}]\n",
                 "sweep.yaml:3", "already exists");
  }
}

TEST_F(SweepPlans, a_wrong_value_of_a_point_is_said_at_its_place_in_the_sweep) {
  const SweepPlan made = plan("axes: [{key: workload.batch, values: [1024, 1001]}]\n");
  PointLoader loader(made);
  EXPECT_TRUE(loader.load(made.points[0]).scenario.has_value());
  const Loaded loaded = loader.load(made.points[1]);
  EXPECT_FALSE(loaded.scenario.has_value());
  EXPECT_NE(loaded.problems.to_text().find("sweep.yaml:3:45: error: workload.batch: 1001"),
            std::string::npos)
      << loaded.problems.to_text();
}

// A list's elements count from 0; columns begin with no digit.
TEST_F(SweepPlans, axes_change_elements_of_lists) {
  const SweepPlan made = plan(
      "axes:\n"
      "  - {key: cluster.stragglers.0, values: [~, {gpu: 1, clock: 0.5}, {gpu: 0, clock: 0.6}]}\n"
      "  - {key: cluster.stragglers.0.clock, values: [0.7, 0.75]}\n");
  EXPECT_EQ(columns_of(made)[0], (AxisColumn{"cluster.stragglers.0", "stragglers_0"}));
  EXPECT_EQ(columns_of(made)[1], (AxisColumn{"cluster.stragglers.0.clock", "clock"}));
  const Loaded loaded = PointLoader(made).load({.values = {1, 1}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  ASSERT_EQ(loaded.scenario->cluster.stragglers.size(), 1U);
  EXPECT_EQ(loaded.scenario->cluster.stragglers[0].gpu, 1);
  EXPECT_EQ(loaded.scenario->cluster.stragglers[0].clock, 0.75);
  EXPECT_EQ(sets_of(made, {.values = {1, 1}}),
            (std::vector<std::string>{"cluster.stragglers.0={gpu: 1, clock: 0.5}",
                                      "cluster.stragglers.0.clock=0.75"}));
}

TEST_F(SweepPlans, keys_of_elements_are_checked) {
  expect_wrong("axes: [{key: workload.pairs.2.slice_wg, values: [1, 2]}]\n", "sweep.yaml:3:14",
               "'workload.pairs.2.slice_wg': unknown key; did you mean "
               "'workload.pairs.2.slice_wgs'?");
  expect_wrong("axes: [{key: workload.pairs.0.slice_wgs, values: [1, 2 us]}]\n", "sweep.yaml:3:54",
               "2 us");
  expect_wrong("axes: [{key: workload.batch.0, values: [1, 2]}]\n", "sweep.yaml:3:14",
               "unknown key");
}

}  // namespace
}  // namespace weft::plan_test
