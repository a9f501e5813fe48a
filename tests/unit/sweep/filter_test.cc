// Filters of sweeps: what they keep, and where they say that they are wrong.
#include "sim/sweep/filter.h"

#include <gtest/gtest.h>

namespace weft::filter_test {
namespace {

const std::vector<FilterName> kNames = {{.name = "nodes", .is_number = true},
                                        {.name = "batch", .is_number = true},
                                        {.name = "algorithm", .is_number = false}};

// Of nodes 4, batch 512, algorithm ring.
bool keeps(const std::string& text) {
  FilterProblem problem;
  const auto filter = Filter::parse(text, kNames, problem);
  EXPECT_TRUE(filter.has_value()) << text << ": " << problem.at << " " << problem.message;
  return filter && filter->keeps({4.0, 512.0, std::string("ring")});
}

TEST(Filter, compares_and_reckons_as_arithmetic_does) {
  for (const char* text :
       {"nodes == 4", "nodes != 5", "nodes * batch <= 2048", "nodes < 5", "batch / nodes >= 128",
        "nodes + 2 * 3 == 10", "(nodes + 2) * 3 == 18", "8 - 2 - 2 == nodes", "64 / 4 / 4 == nodes",
        "-nodes < 0", "nodes > 3.5", "2 - -2 == nodes", "nodes+batch>515"}) {
    EXPECT_TRUE(keeps(text)) << text;
  }
  for (const char* text : {"nodes == 5", "nodes * batch < 2048", "nodes > 4", "batch - 512 != 0"}) {
    EXPECT_FALSE(keeps(text)) << text;
  }
}

TEST(Filter, and_binds_more_than_or_and_not_more_than_both) {
  EXPECT_TRUE(keeps("nodes == 4 or nodes == 5 and batch == 1"));
  EXPECT_FALSE(keeps("(nodes == 4 or nodes == 5) and batch == 1"));
  EXPECT_FALSE(keeps("not nodes == 4 and batch == 512"));
  EXPECT_TRUE(keeps("not (nodes == 4 and batch == 1)"));
  EXPECT_TRUE(keeps("not not nodes == 4"));
}

TEST(Filter, compares_words) {
  EXPECT_TRUE(keeps("algorithm == 'ring'"));
  EXPECT_TRUE(keeps("algorithm != 'tree' and nodes == 4"));
  EXPECT_FALSE(keeps("algorithm == ''"));
}

struct Wrong {
  const char* text;
  std::size_t at;
  const char* words;
};

TEST(Filter, says_where_it_is_wrong) {
  const Wrong cases[] = {
      {"node < 4", 0, "no column 'node'; did you mean 'nodes'? Columns: nodes batch algorithm"},
      {"nodes < 4 and batc > 2", 14, "did you mean 'batch'"},
      {"nodes", 0, "compare something"},
      {"nodes <", 7, "missing at the end"},
      {"", 0, "missing at the end"},
      {"nodes = 4", 6, "write =="},
      {"nodes < 4 5", 10, "not understood"},
      {"1 < nodes < 4", 10, "one comparison at a time"},
      {"(nodes < 4", 0, "not closed"},
      {"algorithm == 'ring", 13, "not closed"},
      {"algorithm < 'ring'", 10, "only numbers can be ordered"},
      {"algorithm == 4", 13, "cannot be compared"},
      {"nodes + 'ring' == 3", 8, "needs a number"},
      {"nodes and batch", 0, "'and' and 'or' join"},
      {"not nodes", 4, "'not' must be followed"},
      {"batch < 4 KiB", 10, "not understood"},
      {"nodes < 4Gb", 8, "the column has the unit"},
      {"nodes < %", 8, "expected a number"}};
  for (const Wrong& wrong : cases) {
    FilterProblem problem;
    EXPECT_FALSE(Filter::parse(wrong.text, kNames, problem).has_value()) << wrong.text;
    EXPECT_EQ(problem.at, wrong.at) << wrong.text << ": " << problem.message;
    EXPECT_NE(problem.message.find(wrong.words), std::string::npos)
        << wrong.text << ": " << problem.message;
  }
}

TEST(Filter, bounds_how_deep_it_goes) {
  FilterProblem problem;
  const std::string deep(100'000, '(');
  EXPECT_FALSE(Filter::parse(deep, kNames, problem).has_value());
  EXPECT_EQ(problem.message, "nested too deeply");
}

}  // namespace
}  // namespace weft::filter_test
