// Runs side by side: tables and charts of the example folders.
#include "sim/html/compared_page.h"

#include <gtest/gtest.h>

namespace weft::compared_page_test {
namespace {

const std::filesystem::path kExamples = std::string(WEFT_SOURCE_DIR) + "/tests/html";

Page page_of(const std::vector<std::filesystem::path>& folders, const ComparedKeys& keys = {}) {
  Diagnostics problems;
  Page page = compared_page(folders, keys, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return page;
}

// The last one of this measure; empty: there is none.
std::vector<std::string> row_of(const Page& page, const std::string& measure) {
  std::vector<std::string> found;
  for (const std::vector<std::string>& row : page.texts[0].rows) {
    if (row[1] == measure) found = row;
  }
  return found;
}

TEST(ComparedPage, has_a_row_for_each_mode_and_measure_with_the_difference) {
  const Page page = page_of({kExamples / "run", kExamples / "model"});
  EXPECT_EQ(page.title, "run, model compared");
  const TextTable& measures = page.texts[0];
  EXPECT_EQ(measures.columns,
            (std::vector<std::string>{"mode", "measure", "run", "model", "difference"}));
  EXPECT_EQ(measures.rows[0],
            (std::vector<std::string>{"bulk", "time", "2.874 ms", "11.497 ms", "+300.0 %"}));
  EXPECT_FALSE(row_of(page, "speed-up over bulk").empty());
}

// 1.140257 and 1.152943: 1.1 % more.
TEST(ComparedPage, compares_speed_ups_too) {
  const Page page = page_of({kExamples / "run", kExamples / "model"});
  EXPECT_EQ(row_of(page, "speed-up over bulk").back(), "+1.1 %");
}

TEST(ComparedPage, draws_each_run_and_mode) {
  const Page page = page_of({kExamples / "run", kExamples / "model"});
  EXPECT_EQ(page.tables[0].rows.size(), 6U);
  EXPECT_EQ(page.tables[1].rows.size(), 18U);
  EXPECT_TRUE(page.tables[0].rows[0].back().is_null()) << "the first is not compared with itself";
  EXPECT_EQ(page.tables[0].rows[1].back(), "+300.0 %");
}

TEST(ComparedPage, says_why_no_keys_are_there) {
  const Page page = page_of({kExamples / "run", kExamples / "model"}, {{}, "because"});
  EXPECT_TRUE(page.texts[1].rows.empty());
  EXPECT_EQ(page.texts[1].text, "because");
}

TEST(NamesOfRuns, are_those_of_the_folders_unless_two_are_alike) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of_runs({"results/a", "results/b/"}), (Names{"a", "b"}));
  EXPECT_EQ(names_of_runs({"old/a", "new/a/"}), (Names{"old/a", "new/a"}));
}

}  // namespace
}  // namespace weft::compared_page_test
