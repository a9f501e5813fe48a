// How the GPUs share a decoder: layouts, and splits of its layers.
#include "sim/tune/layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "sim/scenario/decoder_size.h"

namespace weft::layouts_test {
namespace {

namespace fs = std::filesystem;

using Counts = std::vector<int>;  // layers of each part

// Parts that "[4, 4, 4, 4]" says the layers of.
std::int64_t numbers_in(const std::string& list) {
  return list.front() == '[' ? 1 + std::count(list.begin(), list.end(), ',') : 1;
}

// Those of a pipeline of eight GPUs without other parallelism, and that no layout comes twice.
std::vector<Counts> splits_of(int layers, int stages, const std::string& schedule = "1f1b",
                              ScheduleIs is = ScheduleIs::varied) {
  const fs::path file = fs::temp_directory_path() / fmt::format("weft_layouts_{}.yaml", ::getpid());
  std::ofstream(file) << fmt::format(
      "name: a\ncluster: {{base: clusters/nodes_16x_8x_h100, nodes: 1}}\n"
      "workload: {{kind: transformer, model: {{layers: {}, hidden: 512, heads: 8, inner: 2048, "
      "vocabulary: 32000}}, phase: training, sequence_length: 128, microbatch: 1, sequences: 32, "
      "parallel: {{tensor: 2, pipeline: 4, schedule: {}}}}}\n",
      layers, schedule);
  const LoadOptions options{.sets = {}, .config_dirs = {fs::path(WEFT_SOURCE_DIR) / "configs"}};
  const Loaded start = load_scenario(file, options);
  EXPECT_TRUE(start.scenario) << start.problems.to_text();
  std::vector<Counts> splits;
  if (!start.scenario) return splits;
  std::set<std::string> hashes;
  for (const std::vector<std::string>& values : layouts_of(file, options, *start.scenario, is)) {
    LoadOptions with = options;
    for (std::size_t i = 0; i < values.size(); ++i) {
      with.sets.push_back(kLayoutKeys[i] + ('=' + values[i]));
    }
    EXPECT_TRUE(is == ScheduleIs::varied || values[1] != "1") << "one stage has no schedule";
    const std::int64_t of_a_stage = numbers_in(values.back()) / std::stol(values[1]);
    if (is == ScheduleIs::varied) {  // splits of several parts a stage are for schedules of these
      const std::string several = std::to_string(of_a_stage);
      with.sets.push_back("workload.parallel.schedule=" +
                          std::string(of_a_stage > 1 ? "interleaved" : "~"));
      with.sets.push_back("workload.parallel.virtual_stages=" + (of_a_stage > 1 ? several : "~"));
    }
    const Loaded loaded = load_scenario(file, with);
    EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
    if (!loaded.scenario) continue;
    const TransformerSpec& spec = loaded.scenario->workload.transformer;
    const ParallelSpec& parallel = spec.parallel;
    Counts counts;
    for (int part = 0; part < parallel.pipeline * parallel.virtual_stages; ++part) {
      counts.push_back(layers_of_part(spec, part).count);
    }
    const std::string hash =
        fmt::format("{} {} {} {}", values[0], values[2], values[3], fmt::join(counts, ","));
    EXPECT_TRUE(hashes.insert(hash).second) << hash;
    if (is == ScheduleIs::varied && of_a_stage > 1) continue;
    if (parallel.pipeline == stages && parallel.tensor == 8 / stages && parallel.context == 1) {
      splits.push_back(counts);
    }
  }
  fs::remove(file);
  return splits;
}

// Of 16 the ends have one less than four each, the others one more. Of 14 on four they have 3
// evenly, too.
TEST(Layouts, have_each_split_once) {
  const std::vector<Counts> of_16 = splits_of(16, 4);
  ASSERT_GE(of_16.size(), 2U);
  EXPECT_EQ(of_16[0], (Counts{4, 4, 4, 4}));
  EXPECT_EQ(of_16[1], (Counts{3, 5, 5, 3}));
  const std::vector<Counts> of_14 = splits_of(14, 4);
  ASSERT_FALSE(of_14.empty());
  EXPECT_EQ(of_14[0], (Counts{3, 4, 4, 3}));
  EXPECT_LE(of_14.size(), 2U);
}

// Eight parts on four stages, of which the last has the head besides: 512 x 32,000 weights, as
// four layers of 4 x 512^2 + 3 x 512 x 2,048 have. So it has no layer, and seven parts have 16.
TEST(Layouts, of_a_fixed_schedule_with_several_parts_a_stage_are_of_its_parts) {
  const std::vector<Counts> splits = splits_of(16, 4, "interleaved", ScheduleIs::fixed);
  ASSERT_EQ(splits.size(), 2U);
  EXPECT_EQ(splits[0], Counts(8, 2));
  ASSERT_EQ(splits[1].size(), 8U);
  EXPECT_EQ(splits[1][7], 0);
  EXPECT_EQ(std::accumulate(splits[1].begin(), splits[1].end(), 0), 16);
  for (std::size_t part = 1; part < 7; ++part) EXPECT_GE(splits[1][part], 2) << part;
  EXPECT_EQ(splits_of(16, 4, "zb_h1", ScheduleIs::fixed), splits_of(16, 4));
}

}  // namespace
}  // namespace weft::layouts_test
