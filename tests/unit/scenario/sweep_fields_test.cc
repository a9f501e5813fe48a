// The keys of a sweep's file: what is read of right ones, and each mistake once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/scenario/sweep_file.h"

namespace weft::sweep_fields_test {
namespace {

struct Read {
  SweepFile sweep;
  std::vector<std::string> problems;  // "line:column path: message"
};

// Of a sweep with these axes, one a line from the third on.
Read read(const std::string& axes) {
  Diagnostics found;
  const Node root =
      parse_tree({.file = "s.yaml", .text = "{name: s, scenario: a, axes: [\n\n" + axes + "]}"},
                 found)
          .value_or(Node{});
  EXPECT_EQ(found.to_text(), "");
  Read read;
  Reading reading(Reading::Purpose::read);
  read_fields(MapReader(reading, root), [&](Fields& map) { fields(map, read.sweep); });
  for (const Diagnostic& one : reading.problems().all()) {
    read.problems.push_back(std::to_string(one.at.line) + ':' + std::to_string(one.at.column) +
                            ' ' + one.path + ": " + one.message);
  }
  return read;
}

using Problems = std::vector<std::string>;

std::vector<std::string> values_of(const SweepKey& key) {
  std::vector<std::string> texts;
  for (const Node& value : key.values) texts.push_back(value.text);
  return texts;
}

TEST(SweepFields, ranges_are_read_in_each_of_three_ways) {
  const Read found = read(
      "{key: workload.batch, from: 64, to: 256, powers_of_two: true},\n"
      "{key: workload.batch, from: 64, to: 128, step: 32},\n"
      "{key: cluster.scale_out.link.latency, name: far, from: 1 us, to: 2 us, steps: 3}");
  EXPECT_EQ(found.problems, Problems{});
  ASSERT_EQ(found.sweep.axes.size(), 3U);
  EXPECT_EQ(values_of(found.sweep.axes[0].keys[0]), (Problems{"64", "128", "256"}));
  EXPECT_EQ(values_of(found.sweep.axes[1].keys[0]), (Problems{"64", "96", "128"}));
  EXPECT_EQ(values_of(found.sweep.axes[2].keys[0]), (Problems{"1 us", "1500 ns", "2 us"}));
  EXPECT_EQ(found.sweep.axes[2].keys[0].column, "far");
}

TEST(SweepFields, a_list_and_a_range_do_not_go_together) {
  const std::string only = "; remove it, or if it comes from a base write '";
  EXPECT_EQ(
      read("{key: workload.batch, values: [64], from: 64, to: 128, step: 32}").problems,
      Problems{"3:23 axes[0].values: only for axes without from and to" + only + "values: ~'"});
  EXPECT_EQ(read("{key: workload.batch, values: [64], step: 32}").problems,
            Problems{"3:37 axes[0].step: only for axes with from and to" + only + "step: ~'"});
}

TEST(SweepFields, a_range_of_words_is_one_mistake) {
  const Problems problems = read("{key: modes, from: bulk, to: fused, step: 1}").problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].starts_with("3:14 axes[0].from: there are no ranges of a list of"))
      << problems[0];
}

TEST(SweepFields, beside_a_path_that_is_none_other_mistakes_are_said_too) {
  const Read found = read("{key: nope.nope, value: [64], name: 1st}");
  const Problems& problems = found.problems;
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_TRUE(problems[0].starts_with("3:1 axes[0].values: required")) << problems[0];
  EXPECT_TRUE(problems[1].starts_with("3:31 axes[0].name: letters, digits")) << problems[1];
  EXPECT_TRUE(problems[2].starts_with("3:7 axes[0].key: 'nope.nope'")) << problems[2];
  EXPECT_TRUE(problems[3].starts_with("3:18 axes[0].value: unknown key; did you mean 'values'?"))
      << problems[3];
  EXPECT_TRUE(found.sweep.has_unknown_axis);
}

TEST(SweepFields, keys_that_are_taken_away_are_not_there) {
  const Read found =
      read("{key: workload.batch, values: [64], name: ~, labels: ~, from: ~, zip: ~}");
  EXPECT_EQ(found.problems, Problems{});
  EXPECT_EQ(found.sweep.axes.size(), 1U);
}

}  // namespace
}  // namespace weft::sweep_fields_test
