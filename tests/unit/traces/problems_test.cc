#include "sim/traces/problems.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(TraceProblems, equal_ones_are_said_once) {
  TraceProblems problems("trace");
  for (int i = 0; i < 40; ++i) problems.add("rank0.json", "kernel 'k'", "has no size");
  problems.add("rank1.json", "kernel 'k'", "has no size");
  EXPECT_EQ(problems.found(), 41U);
  EXPECT_EQ(problems.all().to_text(),
            "rank0.json: error: kernel 'k': has no size (40 times)\n"
            "rank1.json: error: kernel 'k': has no size\n");
}

TEST(TraceProblems, so_many_different_ones_are_listed) {
  TraceProblems problems("trace");
  for (std::size_t i = 0; i < TraceProblems::kListed; ++i) {
    problems.add("rank0.json", "kernel " + std::to_string(i), "has no size");
    problems.add("rank0.json", "kernel " + std::to_string(i), "has no size");
  }
  EXPECT_EQ(problems.all().all().size(), TraceProblems::kListed);
  problems.add("rank0.json", "another", "has no size");
  EXPECT_EQ(problems.all().all().size(), TraceProblems::kListed + 1);
  EXPECT_NE(problems.all().to_text().find("trace: error: 51 problems; the first 25 are listed"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
