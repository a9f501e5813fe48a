// The knobs that suit a scenario.
#include "sim/tune/suggested.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "sim/sweep/plan.h"

namespace weft::suggested_test {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios = fs::path(WEFT_SOURCE_DIR) / "configs/scenarios";

LoadOptions options(const std::vector<std::string>& sets = {}) {
  return {.sets = sets, .config_dirs = {fs::path(WEFT_SOURCE_DIR) / "configs"}};
}

std::string space(const std::string& scenario, std::optional<Mode> mode,
                  const std::vector<std::string>& sets = {}) {
  const fs::path file = kScenarios / scenario;
  return suggested_space(file, options(sets), file.string(), mode);
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

std::string values_in(const std::string& text, const std::string& key) {
  const auto at = text.find("workload.parallel." + key + ", values: [");
  return text.substr(at, text.find("]}\n", at) - at);
}

TEST(SuggestedSpace, of_a_mode_has_its_knobs_and_no_others) {
  const std::string fused = space("gemm_rs_4_gpus.yaml", Mode::fused);
  EXPECT_TRUE(has(fused, "set: {modes: [fused]}")) << fused;
  EXPECT_TRUE(has(fused, "fused.slice_wgs"));
  EXPECT_TRUE(has(fused, "workload.gemm.tile_m"));
  EXPECT_FALSE(has(fused, "collective."));
  EXPECT_FALSE(has(fused, "kernel.chunks"));
  const std::string kernel = space("gemm_rs_4_gpus.yaml", Mode::kernel);
  EXPECT_TRUE(has(kernel, "kernel.chunks"));
  EXPECT_TRUE(has(kernel, "collective.algorithm"));
  EXPECT_FALSE(has(kernel, "fused."));
}

TEST(SuggestedSpace, of_a_fused_gemm_splits_k_without_the_key_of_staging) {
  const std::string text = space("gemm_rs_4_gpus.yaml", Mode::fused);
  EXPECT_TRUE(has(text, "{key: workload.gemm.split_k, values: [1, 1, 2, 4]}")) << text;
  EXPECT_TRUE(has(text, "{key: fused.staging, values: [~, staged, ~, ~]}"));
  EXPECT_TRUE(has(text, "{key: fused.add, values: [at_end, with_own]}"));
  EXPECT_TRUE(has(text, "in_turn, rotating]"));
  EXPECT_TRUE(has(space("gemm_rs_4_gpus.yaml", Mode::bulk),
                  "{key: workload.gemm.split_k, values: [1, 2, 4]}"));
  EXPECT_TRUE(has(space("embedding_a2a_4_gpus.yaml", Mode::fused),
                  "{key: fused.staging, values: [zero_copy, staged]}"));
}

// A switch that adds up: MI210 have none, H100 do.
TEST(SuggestedSpace, leaves_out_values_that_do_not_load) {
  EXPECT_FALSE(has(space("gemm_rs_4_gpus.yaml", Mode::fused), "in_switch"));
  EXPECT_TRUE(has(space("gemm_rs_8x_h100.yaml", Mode::fused), "fused.in_switch"));
}

// 256 threads: 64 x 128 / 256 = 32 accumulators, and 64 registers more; two stages of (64 + 128) x
// 32 halves are 24 KiB.
TEST(SuggestedSpace, gives_tiles_the_registers_and_lds_that_they_need) {
  const std::string text = space("gemm_rs_4_gpus.yaml", Mode::bulk);
  EXPECT_TRUE(has(text, "{key: workload.gemm.wg.registers_per_thread, values: [96, 96, 128, 192"))
      << text;
  EXPECT_TRUE(has(text, "{key: workload.gemm.wg.lds, values: [24 KiB, 24 KiB, 32 KiB, 48 KiB"));
}

TEST(SuggestedSpace, does_not_vary_what_is_set) {
  const std::string text = space("gemm_rs_4_gpus.yaml", Mode::fused, {"fused.slice_wgs=4"});
  EXPECT_FALSE(has(text, "key: fused.slice_wgs"));
  EXPECT_TRUE(has(text, "fused.order"));
}

TEST(SuggestedSpace, does_not_vary_what_is_set_with_the_map_around_it_and_says_it) {
  const std::string text = space("gemm_rs_4_gpus.yaml", Mode::fused, {"fused={slice_wgs: 4}"});
  EXPECT_FALSE(has(text, "key: fused."));
  EXPECT_TRUE(has(text, "set: {modes: [fused], fused: {slice_wgs: 4}}")) << text;
}

// 384 GPUs, microbatch 4: knobs of several keys are too many for one space; all their lines are
// comments.
TEST(SuggestedSpace, that_is_too_large_is_a_sweep_file_too) {
  const fs::path file = fs::temp_directory_path() / fmt::format("weft_large_{}.yaml", ::getpid());
  std::ofstream(file) << "name: large\ncluster: {base: clusters/nodes_16x_8x_h100, nodes: 48}\n"
                         "workload: {base: models/deepseek_v3, phase: training, sequences: 1536, "
                         "sequence_length: 4096, microbatch: 4, recompute: layer, parallel: "
                         "{pipeline: 16, data: 24, expert: 8, shard: optimizer}}\n"
                         "modes: [bulk]\nrun: {beyond_memory: warn}\n";
  const std::string text = suggested_space(file, options(), file.string(), Mode::bulk);
  ASSERT_TRUE(has(text, "# Too many points with these:\n#  - ")) << text;
  const LoadedPlan plan = load_plan_text(
      text, "space.yaml",
      {.sets = {}, .config_dirs = [](const fs::path&) { return options().config_dirs; }});
  EXPECT_TRUE(plan.plan) << plan.problems.to_text() << text;
  fs::remove(file);
}

// 128 GPUs in nodes of 8: every layout is of 128, tensor parallelism within a node.
TEST(SuggestedSpace, of_a_model_has_layouts_of_all_gpus) {
  const std::string text = space("models/llama3_70b_training.yaml", Mode::bulk);
  const LoadedPlan plan = load_plan_text(
      text, "space.yaml",
      {.sets = {}, .config_dirs = [](const fs::path&) { return options().config_dirs; }});
  ASSERT_TRUE(plan.plan) << plan.problems.to_text() << text;
  const std::vector<AxisColumn> columns = columns_of(*plan.plan);
  ASSERT_EQ(columns[0].column, "tensor");
  ASSERT_EQ(columns[1].column, "pipeline");
  ASSERT_EQ(columns[2].column, "data");
  ASSERT_EQ(columns[3].column, "context");
  for (const Point& point : plan.plan->points) {
    const std::vector<Cell> cells = cells_of(*plan.plan, point);
    const auto number = [&](std::size_t i) { return std::get<double>(cells[i]); };
    EXPECT_EQ(number(0) * number(1) * number(2) * number(3), 128);
    EXPECT_LE(number(0), 8);
  }
}

// 80 layers: 41 and 39 in two stages; 21 in each of two of four, 19 at both ends; 16 stages leave
// 80 - 14 x 6 < 0 for the ends. Between them, where they differ: the longest stage as short as can
// be, by products at the peak and streams at the memory's bandwidth.
TEST(SuggestedSpace, of_a_pipeline_has_stages_with_fewer_layers_at_its_ends_and_by_their_times) {
  const std::string text = space("models/llama3_70b_training.yaml", Mode::bulk);
  const auto values_of = [&](const std::string& key) { return values_in(text, key); };
  // Of 128 GPUs without tensor and context parallelism: of 1 stage one split, of others up to 3,
  // and one each of two and of four parts on a stage.
  EXPECT_TRUE(has(values_of("first_layers"), "[~, ~, 41, ~, ~, ~, 19, ~")) << text;
  EXPECT_TRUE(has(values_of("last_layers"), "[~, ~, 39, ~, ~, ~, 19, ~")) << text;
  EXPECT_TRUE(has(values_of("context"), ", 1, ") && has(values_of("context"), ", 2, ")) << text;
  EXPECT_TRUE(has(values_of("layers_of_parts"), "[~, ~, ~, [20, 20, 21, 19], [")) << text;
}

// Of keys that change together those that are not set still do, and what only other layouts have is
// not varied.
TEST(SuggestedSpace, of_a_layout_that_is_set_splits_its_layers) {
  const std::string text = space("models/llama3_70b_training.yaml", Mode::bulk,
                                 {"workload.parallel.tensor=8", "workload.parallel.pipeline=4",
                                  "workload.parallel.data=4", "workload.parallel.context=1"});
  for (const char* key : {"tensor", "pipeline", "data", "context"}) {
    EXPECT_FALSE(has(text, std::string("key: workload.parallel.") + key)) << text;
  }
  // Of 80 layers the two stages between have 21 each.
  EXPECT_TRUE(has(values_in(text, "first_layers"), "values: [~, 19, ~")) << text;
  EXPECT_TRUE(has(values_in(text, "layers_of_parts"), "values: [~, ~, [")) << text;
  EXPECT_TRUE(has(text, "key: workload.parallel.schedule")) << text;
  EXPECT_FALSE(has(text, "pipeline > 1")) << text;
  EXPECT_FALSE(has(text, "context_exchange")) << text;
}

// Interleaved has two parts on a stage: of two stages the first and the last of four parts have 19
// of 80 layers less two parts of 21, and no layout has one stage.
TEST(SuggestedSpace, of_a_fixed_schedule_splits_layers_among_its_parts) {
  const std::string parts = space("models/llama3_70b_training.yaml", Mode::bulk,
                                  {"workload.parallel.schedule=interleaved"});
  EXPECT_FALSE(has(parts, "key: workload.parallel.schedule")) << parts;
  EXPECT_TRUE(has(values_in(parts, "pipeline"), ", 4, ")) << parts;
  EXPECT_TRUE(has(values_in(parts, "pipeline"), "[2,")) << parts;
  EXPECT_TRUE(has(values_in(parts, "first_layers"), "[~, 19, ~")) << parts;
  EXPECT_TRUE(has(values_in(parts, "layers_of_parts"), ", [")) << parts;
  const std::string stages =
      space("models/llama3_70b_training.yaml", Mode::bulk, {"workload.parallel.schedule=zb_h1"});
  EXPECT_TRUE(has(values_in(stages, "first_layers"), ", 41, ")) << stages;
  EXPECT_TRUE(has(values_in(stages, "layers_of_parts"), ", [")) << stages;
}

// Of each schedule the layers are split among as many parts as it has: 1F1B and ZB-H1 have one on a
// stage, ZB-V two, interleaved as many as the column says.
TEST(SuggestedSpace, of_schedules_splits_layers_among_the_parts_of_each) {
  const std::string text = space("models/llama3_70b_training.yaml", Mode::bulk,
                                 {"workload.parallel.tensor=8", "workload.parallel.pipeline=4",
                                  "workload.parallel.data=4", "workload.parallel.context=1"});
  EXPECT_TRUE(has(text, "labels: [default, default, by_times, by_times_2, by_times_4]")) << text;
  const LoadedPlan plan = load_plan_text(
      text, "space.yaml",
      {.sets = {}, .config_dirs = [](const fs::path&) { return options().config_dirs; }});
  ASSERT_TRUE(plan.plan) << plan.problems.to_text() << text;
  const std::vector<AxisColumn> columns = columns_of(*plan.plan);
  const auto at = [&](const char* column) {
    return static_cast<std::size_t>(
        std::find_if(columns.begin(), columns.end(),
                     [&](const AxisColumn& one) { return one.column == column; }) -
        columns.begin());
  };
  std::set<std::string> together;
  for (const Point& point : plan.plan->points) {
    const std::vector<Cell> cells = cells_of(*plan.plan, point);
    const std::string split = text_of(cells[at("layers_of_parts")]);
    if (split == "default") continue;
    together.insert(split + ' ' + text_of(cells[at("schedule")]) + ' ' +
                    text_of(cells[at("virtual_stages")]));
  }
  EXPECT_EQ(together, (std::set<std::string>{"by_times default default", "by_times zb_h1 default",
                                             "by_times_2 interleaved 2", "by_times_2 zb_v default",
                                             "by_times_4 interleaved 4"}));
}

// Nothing is fused with a collective that it does not depend on; what is shared are the CUs,
// of at most as many as the collective has channels.
TEST(SuggestedSpace, of_a_gemm_beside_a_collective_divides_the_cus) {
  const std::string text = space("c3/h200.yaml", std::nullopt);
  EXPECT_FALSE(has(text, "fused.")) << text;
  EXPECT_TRUE(has(text, "{key: c3.partition_cus, values: [~, 4, 8, 16]}")) << text;
  EXPECT_TRUE(has(text, "{key: collective.algorithm, values: [library, ")) << text;
}

// In bulk nothing is fused or cut, and each collective has its ways.
TEST(SuggestedSpace, of_a_model_has_no_idle_keys_and_its_collectives) {
  const std::string text = space("models/dlrm_128_nodes.yaml", Mode::bulk);
  EXPECT_FALSE(has(text, "fused.slice_wgs"));
  EXPECT_FALSE(has(text, "kernel.chunks"));
  EXPECT_TRUE(has(text, "collective.algorithm"));
  EXPECT_TRUE(has(space("models/dlrm_128_nodes.yaml", Mode::fused), "fused.slice_wgs"));
  EXPECT_TRUE(has(space("models/mixtral_decode.yaml", Mode::bulk),
                  "{key: collective.algorithm, values: [library, auto]}"));
}

// Every shipped kind gives a sweep file without mistakes.
TEST(SuggestedSpace, is_a_sweep_file) {
  for (const char* name :
       {"embedding_a2a_2_nodes.yaml", "embedding_backward_4_gpus.yaml", "gemv_ar_4_gpus.yaml",
        "gemm_a2a_4_gpus.yaml", "ag_gemm_4_gpus.yaml", "all_reduce_8x_mi300x.yaml",
        "models/dlrm_128_nodes.yaml", "models/mixtral_decode.yaml", "models/llama3_8b_fsdp.yaml"}) {
    const fs::path file = kScenarios / name;
    std::vector<std::optional<Mode>> modes;
    for (const Mode mode : modes_to_tune(file, options())) modes.emplace_back(mode);
    if (modes.empty()) modes.emplace_back();
    for (const std::optional<Mode> mode : modes) {
      const std::string text = space(name, mode);
      const LoadedPlan plan = load_plan_text(
          text, "space.yaml",
          {.sets = {}, .config_dirs = [](const fs::path&) { return options().config_dirs; }});
      EXPECT_TRUE(plan.plan) << name << plan.problems.to_text() << text;
    }
  }
}

TEST(ModesToTune, are_all_that_suit_an_operator_and_those_of_a_model) {
  EXPECT_EQ(modes_to_tune(kScenarios / "gemm_rs_4_gpus.yaml", options()),
            (std::vector{Mode::bulk, Mode::kernel, Mode::pipelined, Mode::fused, Mode::role_split,
                         Mode::copy_fed}));
  EXPECT_EQ(
      modes_to_tune(kScenarios / "models/llama3_70b_training.yaml", options({"modes=[bulk]"})),
      std::vector{Mode::bulk});
  EXPECT_EQ(modes_to_tune(kScenarios / "all_reduce_8x_mi300x.yaml", options()),
            std::vector{Mode::bulk});
  EXPECT_TRUE(modes_to_tune(kScenarios / "c3/h200.yaml", options()).empty());
}

}  // namespace
}  // namespace weft::suggested_test
