#include "sim/scenario/edit.h"

#include <gtest/gtest.h>

namespace weft {
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
  with_values("a: {b: 1}\nc: [1]\n", "gpu.yaml", {{"x.y", "1", ""}, {"c", "1", ""}}, problems);
  EXPECT_EQ(problems.all().size(), 2U) << problems.to_text();
}

}  // namespace
}  // namespace weft
