// `weft report A B`: runs side by side; what the page does in a browser is in tests/html.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::compared_runs_test {
namespace {

namespace fs = std::filesystem;

class ComparedRuns : public InOwnFolder {
 protected:
  void SetUp() override {
    run("first", "--mode bulk --mode fused");
    run("second", "--mode bulk --mode fused --mode kernel --set workload.pooling=140");
  }

  void run(const std::string& name, const std::string& more) const {
    const Ended ended = weft_in(
        folder_, "run " + std::string(WEFT_SOURCE_DIR) +
                     "/configs/scenarios/embedding_a2a_4_gpus.yaml --set workload.batch=256 "
                     "--set workload.tables_per_gpu=4 -q -o " +
                     name + " " + more);
    ASSERT_EQ(ended.status, 0) << ended.err;
  }
  [[nodiscard]] Ended report(const std::string& arguments) const {
    return weft_in(folder_, "report " + arguments);
  }
  void expect_refused(const std::string& arguments, const std::string& says) const {
    const Ended ended = report(arguments);
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_TRUE(ended.says(says)) << arguments << "\n" << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "compared.html")) << arguments;
  }
  [[nodiscard]] std::string page(const std::string& arguments) const {
    const Ended ended = report(arguments + " -o page.html");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return text_of(folder_ / "page.html");
  }
};

bool has(const std::string& html, const std::string& words) {
  return html.find(words) != std::string::npos;
}

TEST_F(ComparedRuns, have_their_measures_and_differing_keys_in_one_file) {
  const Ended ended = report("first second");
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.says("compared.html")) << ended.err;
  const std::string html = text_of(folder_ / "compared.html");
  EXPECT_TRUE(has(html, "<title>first, second compared</title>"));
  EXPECT_TRUE(has(html, "<td>workload.pooling</td><td>70</td><td>140</td></tr>"));
  EXPECT_TRUE(has(html, "<td>modes</td><td>[bulk, fused]</td><td>[bulk, fused, kernel]</td></tr>"));
  EXPECT_FALSE(has(html, "<td>workload.batch</td>")) << "which is the same in both";
  EXPECT_TRUE(has(html, "<th scope=\"col\">difference</th>"));
  EXPECT_TRUE(has(html, "<tr><td>kernel</td><td>time</td><td class=\"number\">-</td>"));
  EXPECT_TRUE(has(html, "Time of second against first: bulk +"));
}

TEST_F(ComparedRuns, that_are_the_same_say_so) {
  fs::copy(folder_ / "first", folder_ / "copy");
  const std::string html = page("first copy");
  EXPECT_TRUE(has(html, "None: the scenarios are the same."));
  EXPECT_TRUE(has(html, "Time of copy against first: bulk 0 %, fused 0 %."));
}

TEST_F(ComparedRuns, with_folders_of_one_name_are_called_by_their_paths) {
  fs::create_directories(folder_ / "a");
  fs::rename(folder_ / "second", folder_ / "a/first");
  EXPECT_TRUE(has(page("first a/first/"), "<title>first, a/first compared</title>"));
}

TEST_F(ComparedRuns, of_an_older_weft_leave_the_keys_unknown) {
  fs::remove(folder_ / "second/resolved.yaml");
  fs::remove(folder_ / "second/files.json");
  EXPECT_TRUE(
      has(page("first second"), "Unknown: there is no second/resolved.yaml; an older weft"));
}

TEST_F(ComparedRuns, are_all_checked_before_anything_is_written) {
  fs::create_directories(folder_ / "empty");
  fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html/sweep", folder_ / "sweep");
  expect_refused("first empty nowhere sweep", "empty: error: contains no results");
  expect_refused("first empty nowhere sweep", "nowhere: error: ");
  expect_refused("first empty nowhere sweep", "sweep: error: holds a sweep's results; only runs");
  expect_refused("first second ./first", "./first: error: is given twice");
  std::ofstream(folder_ / "second/links.csv") << "changed later\n";
  expect_refused("first second", "second/links.csv: error: does not match files.json");
}

TEST_F(ComparedRuns, are_no_place_for_the_page_to_overwrite) {
  const Ended ended = report("first second -o second/summary.json");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("but it is an input")) << ended.err;
}

TEST_F(ComparedRuns, give_the_same_page_twice) {
  EXPECT_EQ(page("first second"), page("first second"));
}

// What a run was made from can be run again, from anywhere.
TEST_F(ComparedRuns, hold_the_scenario_as_it_was_run) {
  ASSERT_EQ(weft_in(folder_, "run second/resolved.yaml -q -o again").status, 0);
  ASSERT_EQ(weft_in(folder_, "run - -q -o piped <second/resolved.yaml").status, 0);
  for (const char* name : {"resolved.yaml", "operators.csv", "links.csv", "over_time.csv"}) {
    EXPECT_EQ(text_of(folder_ / "second" / name), text_of(folder_ / "again" / name)) << name;
    EXPECT_EQ(text_of(folder_ / "second" / name), text_of(folder_ / "piped" / name)) << name;
  }
}

}  // namespace
}  // namespace weft::compared_runs_test
