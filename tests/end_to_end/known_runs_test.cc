// What is simulated once and kept in a folder (--known), as a user meets it: the bytes that come
// out are those of a program that knows nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::end_to_end_known_runs_test {
namespace {

namespace fs = std::filesystem;

// A few layers of a decoder on four nodes, and the type of its optimiser's moments.
constexpr const char* kSweep =
    "name: small\n"
    "scenario: scenarios/models/llama3_70b_training\n"
    "set:\n"
    "  cluster.nodes: 4\n"
    "  workload.model.layers: 4\n"
    "  workload.sequences: 4\n"
    "  workload.sequence_length: 256\n"
    "  workload.parallel.pipeline: 2\n"
    "  workload.parallel.data: 2\n"
    "  modes: [bulk, fused]\n"
    "axes:\n"
    "  - {key: workload.optimizer_dtype, values: [fp32, bf16]}\n";

class KnownRunsOfPrograms : public InOwnFolder {
 protected:
  void SetUp() override { std::ofstream(folder_ / "small.yaml") << kSweep; }

  Ended weft(const std::string& arguments, const std::string& variables = "") const {
    Ended ended = weft_in(folder_, arguments, variables);
    EXPECT_EQ(ended.status, 0) << arguments << '\n' << ended.err;
    return ended;
  }
  // Of a sweep, without what says how long it took.
  [[nodiscard]] std::string results(const std::string& name) const {
    std::string all;
    for (const char* file : {"results.csv", "results_long.csv", "catalogue.json"}) {
      const std::string text = text_of(folder_ / name / file);
      EXPECT_FALSE(text.empty()) << file;
      all += text;
    }
    std::istringstream lines(text_of(folder_ / name / "results.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      auto row = nlohmann::ordered_json::parse(line);
      row.erase("checksum");
      for (const char* clock : {"wall_s", "events_per_s", "peak_rss_bytes"}) {
        EXPECT_EQ(row["summary"]["engine"].erase(clock), 1U);
      }
      all += row.dump() + '\n';
    }
    return all;
  }
  [[nodiscard]] std::vector<fs::path> known(const std::string& name) const {
    std::vector<fs::path> files;
    if (!fs::exists(folder_ / name)) return files;
    for (const auto& file : fs::directory_iterator(folder_ / name)) files.push_back(file.path());
    return files;
  }
};

TEST_F(KnownRunsOfPrograms, change_no_byte_of_a_sweep) {
  // Each point by a program of its own that knows nothing of the others.
  weft("sweep small.yaml -q -j 1 --known none --shard 1/2 -o one");
  weft("sweep small.yaml -q -j 1 --known none --shard 2/2 -o two");
  weft("merge one two -o alone");
  weft("sweep small.yaml -q -j 1 -o cold --known known");
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 5U);
  weft("sweep small.yaml -q -j 1 -o warm --known known");
  EXPECT_EQ(known("known").size(), kept) << "nothing was simulated";
  weft("sweep small.yaml -q -j 1 -o default");
  weft("sweep small.yaml -q -j 1 -o environment", "WEFT_KNOWN=known");
  const std::string alone = results("alone");
  for (const char* other : {"cold", "warm", "default", "environment"}) {
    EXPECT_TRUE(results(other) == alone) << other;  // 30 kB each
  }
  EXPECT_FALSE(fs::exists(folder_ / "default" / "known")) << "no longer needed";
}

TEST_F(KnownRunsOfPrograms, are_shared_by_shards_until_they_are_merged) {
  weft("sweep small.yaml -q -j 1 --shard 1/2");
  const std::vector<fs::path> first = known("results/small/known");
  EXPECT_GT(first.size(), 5U);
  weft("sweep small.yaml -q -j 1 --shard 2/2");
  const std::size_t both = known("results/small/known").size();
  EXPECT_EQ(both, first.size()) << "an optimiser alone is too small to be kept";
  weft("merge results/small/shard_1_of_2 results/small/shard_2_of_2 -o results/small");
  EXPECT_FALSE(fs::exists(folder_ / "results/small/known"));
  weft("sweep small.yaml -q -j 1 --known none -o alone");
  EXPECT_EQ(text_of(folder_ / "results/small/results.csv"), text_of(folder_ / "alone/results.csv"));
}

// Whatever lies there: cut short, empty, of something else, all zeros, a folder.
TEST_F(KnownRunsOfPrograms, that_are_damaged_are_simulated_again) {
  weft("sweep small.yaml -q -j 1 -o cold --known known");
  int number = 0;
  for (const fs::path& file : known("known")) {
    const std::string text = text_of(file);
    switch (number++ % 5) {
      case 0:
        std::ofstream(file, std::ios::binary) << text.substr(0, text.size() / 2);
        break;
      case 1:
        std::ofstream(file, std::ios::binary) << std::string(text.size(), '\0');
        break;
      case 2:
        std::ofstream(file, std::ios::binary) << "name: something else\n";
        break;
      case 3:
        std::ofstream(file, std::ios::binary) << "";
        break;
      default:
        std::string changed = text;
        changed[changed.size() / 2] ^= 1;
        std::ofstream(file, std::ios::binary) << changed;
    }
  }
  const Ended ended = weft("sweep small.yaml -j 1 -o again --known known");
  EXPECT_FALSE(ended.says("warning")) << ended.err;
  EXPECT_TRUE(results("again") == results("cold"));
  const std::size_t kept = known("known").size();
  weft("sweep small.yaml -q -j 1 -o warm --known known");
  EXPECT_EQ(known("known").size(), kept);
  EXPECT_TRUE(results("warm") == results("cold"));
}

TEST_F(KnownRunsOfPrograms, that_cannot_be_written_are_warned_of_once) {
  std::ofstream(folder_ / "file") << "no folder";
  const Ended ended = weft("sweep small.yaml -j 1 -o one --known file");
  EXPECT_TRUE(ended.says("is not kept for other processes")) << ended.err;
  EXPECT_EQ(ended.err.find("is not kept"), ended.err.rfind("is not kept")) << ended.err;
  weft("sweep small.yaml -q -j 1 -o two --known none");
  EXPECT_TRUE(results("one") == results("two"));
}

TEST_F(KnownRunsOfPrograms, have_the_bound_that_is_asked_for) {
  weft("sweep small.yaml -q -j 1 -o one --known known --known-most 1MiB");
  std::uintmax_t all = 0;
  for (const fs::path& file : known("known")) all += fs::file_size(file);
  EXPECT_LE(all, 1U << 20U);
  const Ended ended = weft_in(folder_, "sweep small.yaml --known known --known-most 5");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("--known-most")) << ended.err;
}

// `weft run` says how long it took and how fast it was; all else is the same.
std::string without_clocks(const std::string& summary) {
  std::string kept;
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);) {
    const bool of_clocks = line.find("wall_s") != std::string::npos ||
                           line.find("events_per_s") != std::string::npos ||
                           line.find("peak_rss") != std::string::npos;
    if (!of_clocks) kept += line + '\n';
  }
  return kept;
}

TEST_F(KnownRunsOfPrograms, change_no_result_of_a_run) {
  const std::string run =
      "run '" WEFT_SOURCE_DIR
      "/configs/scenarios/models/llama3_70b_decode.yaml' --mode bulk --mode fused --mode mixed ";
  const std::string plain = without_clocks(weft(run + "--json").out);
  EXPECT_TRUE(without_clocks(weft(run + "--json --known known").out) == plain);
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 3U);
  EXPECT_TRUE(without_clocks(weft(run + "--json --known known").out) == plain);
  EXPECT_EQ(known("known").size(), kept);
  weft(run + "-q -o plain");
  weft(run + "-q -o known_run --known known");
  for (const auto& file : fs::directory_iterator(folder_ / "plain")) {
    const fs::path name = file.path().filename();
    if (file.path().extension() != ".csv" && name != "summary.json") continue;
    EXPECT_EQ(without_clocks(text_of(folder_ / "known_run" / name)),
              without_clocks(text_of(file.path())))
        << name;
  }
}

// What a trace or a graph has of kernels and their times is a model as any other.
TEST_F(KnownRunsOfPrograms, change_no_result_of_a_graph) {
  const std::string model = "'" WEFT_SOURCE_DIR "/configs/scenarios/models/llama3_70b_decode.yaml'";
  weft("export " + model + " --graph graph.yaml");
  std::ofstream(folder_ / "graph_run.yaml")
      << "name: graph\ncluster: {base: clusters/node_8x_h100}\n"
         "workload: {kind: graph, path: graph.yaml}\nmodes: [bulk, fused]\n";
  const std::string plain = without_clocks(weft("run graph_run.yaml --json").out);
  EXPECT_TRUE(without_clocks(weft("run graph_run.yaml --json --known known").out) == plain);
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 3U);
  EXPECT_TRUE(without_clocks(weft("run graph_run.yaml --json --known known").out) == plain);
  EXPECT_EQ(known("known").size(), kept);
}

TEST_F(KnownRunsOfPrograms, change_no_prediction_of_a_measured_line) {
  const std::string validate =
      "validate '" WEFT_SOURCE_DIR
      "/calibration/measurements/vllm-all-reduce.jsonl' --cluster '" WEFT_SOURCE_DIR
      "/configs/clusters/node_8x_h100.yaml' -q ";
  weft(validate + "--json plain.json");
  weft(validate + "--json first.json --known known");
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 3U);
  weft(validate + "--json second.json", "WEFT_KNOWN=known");
  EXPECT_EQ(known("known").size(), kept);
  const std::string plain = text_of(folder_ / "plain.json");
  EXPECT_FALSE(plain.empty());
  EXPECT_TRUE(text_of(folder_ / "first.json") == plain);
  EXPECT_TRUE(text_of(folder_ / "second.json") == plain);
}

TEST_F(KnownRunsOfPrograms, are_used_by_a_search_of_ways_of_pairs) {
  const std::string tune =
      "tune '" WEFT_SOURCE_DIR
      "/configs/scenarios/models/llama3_70b_pairs.yaml' --pairs --points 4 -q -j 1 ";
  weft(tune + "-o first --known known");
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 20U) << "ways of pairs by themselves";
  weft(tune + "-o second --known known");
  EXPECT_EQ(known("known").size(), kept);
  EXPECT_EQ(text_of(folder_ / "second/space.yaml"), text_of(folder_ / "first/space.yaml"));
  EXPECT_EQ(text_of(folder_ / "second/results.csv"), text_of(folder_ / "first/results.csv"));
}

TEST_F(KnownRunsOfPrograms, are_used_by_a_search) {
  weft("tune small.yaml -q -j 1 -o first --known known");
  const std::size_t kept = known("known").size();
  EXPECT_GT(kept, 3U);
  weft("tune small.yaml -q -j 1 -o second --known known");
  EXPECT_EQ(known("known").size(), kept);
  EXPECT_EQ(text_of(folder_ / "second/results.csv"), text_of(folder_ / "first/results.csv"));
}

}  // namespace
}  // namespace weft::end_to_end_known_runs_test
