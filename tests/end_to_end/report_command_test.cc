// `weft report` as a user meets it; what the page does in a browser is in tests/html.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::report_command_test {
namespace {

namespace fs = std::filesystem;

class ReportOfAFolder : public InOwnFolder {
 protected:
  void SetUp() override {
    for (const char* example : {"run", "model", "sweep"}) {
      fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html" / example, folder_ / example);
    }
  }

  int report(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" WEFT_BINARY "' report " + arguments + " 2>err.txt";
    const int status = std::system(command.c_str());
    err_ = text_of(folder_ / "err.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] bool wrote(const std::string& name) const { return fs::exists(folder_ / name); }

  std::string err_;
};

TEST_F(ReportOfAFolder, is_one_file_beside_the_results_or_where_asked_for) {
  EXPECT_EQ(report("run"), 0) << err_;
  EXPECT_NE(err_.find("run/report.html"), std::string::npos) << err_;
  EXPECT_EQ(report("sweep -o pages/sweep.html"), 0) << err_;
  EXPECT_EQ(report("model"), 0) << err_;
  EXPECT_FALSE(wrote("sweep/report.html"));
  const std::string html = text_of(folder_ / "run/report.html");
  EXPECT_NE(html.find("embedding + all-to-all, 4 GPUs"), std::string::npos);
  EXPECT_NE(html.find("weftModules['vega-view']"), std::string::npos);
  EXPECT_EQ(html.find("sourceMappingURL"), std::string::npos);
  EXPECT_NE(text_of(folder_ / "pages/sweep.html").find("batch, bandwidth and order"),
            std::string::npos);
}

TEST_F(ReportOfAFolder, is_the_same_twice) {
  ASSERT_EQ(report("run -o a.html"), 0) << err_;
  ASSERT_EQ(report("run -o b.html"), 0) << err_;
  EXPECT_EQ(text_of(folder_ / "a.html"), text_of(folder_ / "b.html"));
}

TEST_F(ReportOfAFolder, that_holds_no_results_says_what_it_should_hold) {
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(report("empty"), 1);
  EXPECT_EQ(err_,
            "empty: error: contains no results: neither sweep.json and results.csv of a sweep, nor "
            "summary.json of a run (weft run SCENARIO -o DIR)\n");
  EXPECT_EQ(report("nowhere"), 1);
  EXPECT_FALSE(wrote("empty/report.html"));
}

// As a kill leaves it: no results.csv, the last line half written.
TEST_F(ReportOfAFolder, of_a_sweep_that_was_stopped_shows_what_is_done_and_says_so) {
  write("small.yaml",
        "name: small\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
        "set: {modes: [bulk, fused], workload.tables_per_gpu: 4}\n"
        "axes: [{key: workload.batch, values: [128, 256, 512]}]\n");
  ASSERT_EQ(weft_in(folder_, "sweep small.yaml -q -o small").status, 0);
  ASSERT_EQ(report("small -o whole.html"), 0) << err_;
  EXPECT_EQ(err_.find("Not finished"), std::string::npos) << err_;

  fs::remove(folder_ / "small/results.csv");
  const std::string lines = text_of(folder_ / "small/results.jsonl");
  std::size_t end = lines.find('\n');
  end = lines.find('\n', end + 1);
  write("small/results.jsonl", lines.substr(0, end + 100));
  ASSERT_EQ(report("small"), 0) << err_;
  const std::string note =
      "Not finished: 2 of 3 points are done; run the same command again for the others.";
  EXPECT_NE(err_.find(note), std::string::npos) << err_;
  EXPECT_NE(text_of(folder_ / "small/report.html").find(note), std::string::npos);
}

TEST_F(ReportOfAFolder, names_every_file_and_value_that_is_missing_or_broken) {
  fs::remove(folder_ / "run/manifest.json");
  write("run/operators.csv", "mode,part,critical_us\nbulk,embedding,long\nbulk\n");
  write("run/links.csv", "mode,clas,utilisation,bytes\n");
  write("run/summary.json",
        R"({"scenario": 1, "cluster": "c", "version": "v", "why": "", "modes": {"bulk": {}}})");
  EXPECT_EQ(report("run"), 1);
  for (const char* said :
       {"run/manifest.json: error: no such file",
        "run/operators.csv:2:1: error: critical_us: 'long'",
        "run/operators.csv:3:1: error: 1 fields, but there are 3 columns",
        "run/links.csv:1:1: error: class: no such column; is 'clas' a misspelling?",
        "run/summary.json: error: scenario: of the wrong type; must be a string",
        "run/summary.json: error: modes.bulk.time_us: missing; must be a number"}) {
    EXPECT_NE(err_.find(said), std::string::npos) << said << "\n" << err_;
  }
  EXPECT_FALSE(wrote("run/report.html"));
}

TEST_F(ReportOfAFolder, names_the_line_where_json_breaks_off) {
  write("sweep/sweep.json", "{\n\"name\": \"a\",\n");
  EXPECT_EQ(report("sweep"), 1);
  EXPECT_NE(
      err_.find("sweep/sweep.json:3:1: error: not JSON: where a key of an object should be: "),
      std::string::npos)
      << err_;
}

TEST_F(ReportOfAFolder, needs_the_parts_of_a_model) {
  fs::remove(folder_ / "model/parts.csv");
  EXPECT_EQ(report("model"), 1);
  EXPECT_NE(err_.find("model/parts.csv: error: no such file"), std::string::npos) << err_;
}

}  // namespace
}  // namespace weft::report_command_test
