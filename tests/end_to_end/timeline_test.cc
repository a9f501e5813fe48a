// `weft run --trace` and over_time.csv as a user meets them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"
#include "tests/trace_event_format.h"

namespace weft::timeline_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::TraceEventFormat;

const std::string kScenario =
    std::string(WEFT_SOURCE_DIR) + "/configs/scenarios/embedding_a2a_4_gpus.yaml";
const std::string kSmall = kScenario + " --set workload.batch=256 --set workload.tables_per_gpu=4";
// Llama 3 8B on 8 GPUs: its 32 layers are one piece, simulated once.
const std::string kModel =
    std::string(WEFT_SOURCE_DIR) + "/tests/golden/runs/model_llama3_8b/scenario.yaml";

std::string unpacked(const fs::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[1U << 16U];
  for (int got = gzread(file, buffer, sizeof buffer); got > 0;
       got = gzread(file, buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

// One column of a CSV file without quotes, by its mode.
class Table {
 public:
  explicit Table(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::vector<std::string> row;
      for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
      rows_.push_back(row);
    }
  }
  [[nodiscard]] std::vector<double> column(const std::string& mode, const std::string& name) const {
    const auto at = std::find(rows_.front().begin(), rows_.front().end(), name);
    const auto index = static_cast<std::size_t>(at - rows_.front().begin());
    std::vector<double> values;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      if (rows_[i].front() == mode) values.push_back(std::stod(rows_[i].at(index)));
    }
    return values;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

class TimelineCommand : public InOwnFolder {
 protected:
  [[nodiscard]] int weft(const std::string& arguments) {
    const int status = std::system(
        ("cd '" + folder_.string() + "' && '" WEFT_BINARY "' " + arguments + " >out.txt 2>err.txt")
            .c_str());
    err_ = text_of(folder_ / "err.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Intervals follow one another from 0 to the end, and together they are what the run did.
  void expect_sums(const std::string& output) const {
    const Json summary = Json::parse(text_of(folder_ / output / "summary.json"));
    const Table over_time(text_of(folder_ / output / "over_time.csv"));
    const Table links(text_of(folder_ / output / "links.csv"));
    for (const auto& [mode, of_mode] : summary["modes"].items()) {
      const std::vector<double> from = over_time.column(mode, "from_us");
      const std::vector<double> to = over_time.column(mode, "to_us");
      ASSERT_GT(to.size(), 200U) << mode;
      EXPECT_LE(to.size(), 512U) << mode;
      EXPECT_EQ(from.front(), 0);
      EXPECT_DOUBLE_EQ(to.back(), of_mode["time_us"]) << mode;
      for (std::size_t i = 1; i < to.size(); ++i) EXPECT_EQ(from[i], to[i - 1]);
      const auto mean = [&](const char* name) {
        const std::vector<double> shares = over_time.column(mode, name);
        double sum = 0;
        for (std::size_t i = 0; i < to.size(); ++i) {
          EXPECT_GE(shares[i], 0) << mode << " " << name << " at " << from[i];
          sum += shares[i] * (to[i] - from[i]);
        }
        return sum / to.back();
      };
      EXPECT_NEAR(mean("cu_busy"), of_mode["cu_busy"].get<double>(), 1e-9) << mode;
      EXPECT_NEAR(mean("hbm_busy"), of_mode["hbm_busy"].get<double>(), 1e-9) << mode;
      double used = 0;
      const std::vector<double> utilisations = links.column(mode, "utilisation");
      for (const double utilisation : utilisations) used += utilisation;
      EXPECT_NEAR(mean("links_busy"), used / static_cast<double>(utilisations.size()), 1e-9)
          << mode;
    }
  }

  static void expect_well_formed(const TraceEventFormat& file) {
    for (const std::string& mistake : file.mistakes()) ADD_FAILURE() << mistake;
  }

  std::string err_;
};

TEST_F(TimelineCommand, shows_every_mode_gpu_by_gpu) {
  ASSERT_EQ(weft("run " + kSmall + " -o results --trace t.json --trace-detail all"), 0) << err_;
  const TraceEventFormat file(text_of(folder_ / "t.json"));
  expect_well_formed(file);
  for (const char* process : {"bulk: GPU 0", "kernel: GPU 3", "fused: GPU 2"}) {
    EXPECT_TRUE(file.has_process(process)) << process;
  }
  for (const char* thread : {"compute", "communication", "CU 0 WG 0"}) {
    EXPECT_TRUE(file.has_thread(thread)) << thread;
  }
  EXPECT_GT(file.count('X'), 1000);
  EXPECT_GT(file.count('s'), 100);
  EXPECT_GT(file.count('C'), 1000);
  expect_sums("results");
}

TEST_F(TimelineCommand, is_packed_where_its_name_says_so) {
  ASSERT_EQ(weft("run " + kSmall + " -q --trace t.json"), 0) << err_;
  ASSERT_EQ(weft("run " + kSmall + " -q --trace t.json.gz"), 0) << err_;
  const std::string text = text_of(folder_ / "t.json");
  EXPECT_EQ(unpacked(folder_ / "t.json.gz"), text);
  EXPECT_LT(fs::file_size(folder_ / "t.json.gz"), text.size() / 4);
  expect_well_formed(TraceEventFormat(text));
}

// The same bytes whatever is recorded beside.
TEST_F(TimelineCommand, changes_no_other_file) {
  ASSERT_EQ(weft("run " + kSmall + " -q -o with --trace t.json --trace-detail waves"), 0) << err_;
  ASSERT_EQ(weft("run " + kSmall + " -q -o without"), 0) << err_;
  for (const char* name : {"operators.csv", "over_time.csv", "manifest.json"}) {
    EXPECT_EQ(text_of(folder_ / "with" / name), text_of(folder_ / "without" / name)) << name;
  }
}

TEST_F(TimelineCommand, of_a_model_plays_its_pieces) {
  ASSERT_EQ(weft("run " + kModel + " -q -o results --trace t.json --trace-detail waves"), 0)
      << err_;
  const TraceEventFormat file(text_of(folder_ / "t.json"));
  expect_well_formed(file);
  expect_sums("results");
  // The last slice ends with the run.
  const Json summary = Json::parse(text_of(folder_ / "results/summary.json"));
  double longest = 0;
  for (const auto& [mode, of_mode] : summary["modes"].items()) {
    longest = std::max(longest, of_mode["time_us"].get<double>());
  }
  std::int64_t last = 0;
  for (const auto& [track, slices] : file.slices()) last = std::max(last, slices.back().end);
  EXPECT_NEAR(static_cast<double>(last), longest * 1000, 1);
}

TEST_F(TimelineCommand, says_what_its_limit_cuts) {
  ASSERT_EQ(weft("run " + kScenario +
                 " --set workload.batch=1024 --trace t.json --trace-detail all --trace-limit 2MB"),
            0)
      << err_;
  EXPECT_LE(fs::file_size(folder_ / "t.json"), 2'010'000U);
  EXPECT_NE(err_.find("left out of the timeline: bulk: WGs and messages of GPUs 1 to 3"),
            std::string::npos)
      << err_;
  expect_well_formed(TraceEventFormat(text_of(folder_ / "t.json")));
}

TEST_F(TimelineCommand, refuses_other_names_and_sizes) {
  EXPECT_EQ(weft("run " + kSmall + " --trace t.txt"), 1);
  EXPECT_NE(err_.find(".json.gz"), std::string::npos) << err_;
  EXPECT_EQ(weft("run " + kSmall + " --trace t.json --trace-limit 5"), 1);
  EXPECT_NE(err_.find("--trace-limit"), std::string::npos) << err_;
  EXPECT_EQ(weft("run " + kSmall + " --trace-detail all"), 1);
  EXPECT_NE(err_.find("--trace"), std::string::npos) << err_;
}

// A timeline of all its WGs and messages is 235 MB long, and took 800 MB.
TEST_F(TimelineCommand, a_recorded_run_takes_no_more_memory_than_it_may) {
  rusage used{};
  const pid_t child = fork();
  if (child == 0) {
    const int ended = weft("run " + kScenario +
                           " --set workload.tables_per_gpu=512 --set workload.rows_per_table=50000 "
                           "--set 'run.max_memory=200 MiB'"
                           " --trace all.json --trace-detail all --trace-limit '2 GB'");
    _exit(ended);
  }
  int status = 0;
  ASSERT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << text_of(folder_ / "err.txt");
  EXPECT_TRUE(kSanitized || used.ru_maxrss < 200 * 1024) << used.ru_maxrss << " KiB";
  EXPECT_NE(
      text_of(folder_ / "err.txt").find("run.max_memory, 200 MiB, leaves room for a timeline of"),
      std::string::npos)
      << text_of(folder_ / "err.txt");
}

}  // namespace
}  // namespace weft::timeline_test
