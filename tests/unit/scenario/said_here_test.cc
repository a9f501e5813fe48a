#include "sim/scenario/said_here.h"

#include <gtest/gtest.h>

namespace weft::said_here_test {
namespace {

std::string text_of(std::vector<std::string> keys, const std::string& said) {
  const SourcePosition at{.file = "sweeps/a.yaml", .line = 1, .column = 1};
  return said_here(
             {.keys = std::move(keys), .at = at, .value = node_at(at, Node::Kind::scalar, said)})
      .text;
}

// A path starts from the file that says it: "../t" of sweeps/a.yaml is sweeps/../t, so t, from
// here.
TEST(SaidHere, paths_start_from_the_working_folder) {
  for (const char* key : {"path", "execution_traces", "process_groups"}) {
    EXPECT_EQ(text_of({"workload", key}, "../t"), "t") << key;
  }
  EXPECT_EQ(text_of({"cluster", "from_astra_sim"}, "n.yml"), "sweeps/n.yml");
}

TEST(SaidHere, other_values_stay) {
  EXPECT_EQ(text_of({"cluster", "gpu", "base"}, "gpus/h100"), "gpus/h100");
  EXPECT_EQ(text_of({"workload", "batch"}, "64"), "64");
}

TEST(SaidHere, paths_in_a_map_are_found) {
  const SourcePosition at{.file = "sweeps/a.yaml", .line = 1, .column = 1};
  Node map = node_at(at, Node::Kind::map);
  map.entries.push_back(
      {.key = "path", .key_at = at, .value = node_at(at, Node::Kind::scalar, "t")});
  const Node here = said_here({.keys = {"workload"}, .at = at, .value = map});
  EXPECT_EQ(here.entries.front().value.text, "sweeps/t");
}

}  // namespace
}  // namespace weft::said_here_test
