#include "sim/spec/edit.h"

#include <gtest/gtest.h>

namespace weft::edit_test {
namespace {

std::string edited(const std::string& text, const std::vector<NewValue>& values) {
  Diagnostics problems;
  std::string result = with_values(text, "gpu.yaml", values, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return result;
}

TEST(EditYaml, a_value_is_replaced_and_its_comment_with_it) {
  EXPECT_EQ(edited("# A GPU\nmemory:\n  bandwidth: 4 TB/s         # data sheet\n  bend: 2\n",
                   {{"memory.bandwidth", "4.6 TB/s", "measured"}}),
            "# A GPU\nmemory:\n  bandwidth: 4.6 TB/s       # measured\n  bend: 2\n");
}

TEST(EditYaml, lines_that_go_on_with_the_old_comment_go) {
  EXPECT_EQ(edited("a: 1 ns                     # one,\n"
                   "                            #   two\n"
                   "# of b\n"
                   "b: 2\n",
                   {{"a", "3 ns", "new"}}),
            "a: 3 ns                     # new\n# of b\nb: 2\n");
}

TEST(EditYaml, two_values_of_one_line) {
  EXPECT_EQ(edited("ll: {startup: 1 us, step: 300 ns}\n",
                   {{"ll.startup", "1.25 us", "x"}, {"ll.step", "7 ns", "x"}}),
            "ll: {startup: 1.25 us, step: 7 ns} # x\n");
}

TEST(EditYaml, a_key_that_is_not_there_comes_at_the_end_of_its_map) {
  EXPECT_EQ(edited("launch:\n  queue: 1 us\n  graph: 2 us\ncus: 4\n",
                   {{"launch.clock", "3 us", "measured"}}),
            "launch:\n  queue: 1 us\n  graph: 2 us\n  clock: 3 us               # measured\n"
            "cus: 4\n");
}

TEST(EditYaml, what_cannot_be_written_is_a_problem) {
  Diagnostics problems;
  with_values("a: {b: &b 1}\nc: [1]\nd: *b\n", "gpu.yaml",
              {{"a.b.c", "1", ""}, {"c", "1", ""}, {"d", "1", ""}}, problems);
  EXPECT_EQ(problems.all().size(), 3U) << problems.to_text();
}

TEST(EditYaml, maps_that_are_not_there_are_written_with_their_keys) {
  EXPECT_EQ(edited("cus: 4\nlaunch:\n  queue: 1 us               # old\n"
                   "                            #     and so on\n",
                   {{"gather.latency", "400 ns", "[M] one"},
                    {"launch.clock", "3 us", "[M] two"},
                    {"gather.cached", "200 ns", "[M] one"},
                    {"a.b.c", "1", "[M] three"}}),
            "cus: 4\nlaunch:\n  queue: 1 us               # old\n"
            "                            #     and so on\n"
            "  clock: 3 us               # [M] two\n"
            "gather:\n"
            "  latency: 400 ns           # [M] one\n"
            "  cached: 200 ns            # [M] one\n"
            "a:\n  b:\n    c: 1                    # [M] three\n");
}

TEST(EditYaml, a_map_that_ends_with_another_one_ends_behind_it) {
  EXPECT_EQ(edited("a:\n  b:\n    c: 1\n    d: {\n      e: 2,\n    }\nf: 3\n",
                   {{"a.g", "4", "new"}, {"a.b.h", "5", "new"}}),
            "a:\n  b:\n    c: 1\n    d: {\n      e: 2,\n    }\n"
            "    h: 5                    # new\n  g: 4                      # new\nf: 3\n");
}

TEST(EditYaml, a_map_on_one_line_gets_its_new_keys_there) {
  EXPECT_EQ(edited("simple: {rate: ~}           # of another GPU\nll: {}\n",
                   {{"simple.startup", "9 us", "[M]"}, {"ll.step", "1 us", "[M]"}}),
            "simple: {startup: 9 us, rate: ~} # [M]; the others: of another GPU\n"
            "ll: {step: 1 us}            # [M]\n");
}

TEST(EditYaml, the_comment_of_a_line_stays_for_the_values_that_stay) {
  EXPECT_EQ(edited("ll: {startup: 1 us, step: 300 ns}   # [D] as another\n",
                   {{"ll.startup", "2 us", "[M] x"}}),
            "ll: {startup: 2 us, step: 300 ns} # [M] x; the others: [D] as another\n");
  EXPECT_EQ(edited("base: h200   # a GPU\n", {{"base", "gpus/h200", ""}}),
            "base: gpus/h200             # a GPU\n");
}

TEST(EditYaml, what_was_taken_away_is_there_again) {
  EXPECT_EQ(edited("a:\n  b: ~   # none\n  c:\nd: null\n",
                   {{"a.b", "1", "x"}, {"a.c", "2", "x"}, {"d.e", "3", "x"}, {"d.f", "4", "x"}}),
            "a:\n  b: 1                      # x\n  c: 2                      # x\n"
            "d: {e: 3, f: 4}             # x\n");
}

}  // namespace
}  // namespace weft::edit_test
