#include "sim/scenario/overlay.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace weft::overlay_test {
namespace {

namespace fs = std::filesystem;

// Nodes in one line, for comparing.
std::string flat(const Node& node) {
  std::string text = node.text;
  for (const Node& item : node.items) text += (text.empty() ? "[" : " ") + flat(item);
  for (const Entry& entry : node.entries) {
    text += (text.empty() ? "{" : " ") + entry.key + ":" + flat(entry.value);
  }
  if (node.kind == Node::Kind::map) text += "}";
  if (node.kind == Node::Kind::list) text += "]";
  return text;
}

Node tree_of(std::string_view text) {
  Diagnostics problems;
  return parse_tree({.file = "a.yaml", .text = text}, problems).value_or(Node{});
}

std::string over(std::string_view below, std::string_view above) {
  Node node = tree_of(below);
  lay_over(node, tree_of(above));
  return flat(node);
}

// A folder of files that goes away with the test.
class Overlay : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("weft_" + std::string(test->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string resolved(std::string_view text, const std::vector<std::string>& sets = {}) {
    SourceFiles files;
    Diagnostics problems;
    Node root = tree_of(text);
    for (const std::string& set : sets) apply_set(root, set, problems);
    const std::vector<fs::path> config_dirs{folder_ / "configs"};
    BaseResolver(files, config_dirs, problems).resolve(root, folder_ / "a.yaml");
    EXPECT_EQ(problems.to_text(), "");
    return flat(root);
  }

  fs::path folder_;
};

TEST(LayOver, maps_merge_deeply_and_everything_else_is_replaced) {
  EXPECT_EQ(over("{a: {b: 1, c: 2}, d: [1, 2]}", "{a: {c: 3}, d: [4]}"), "{a:{b:1 c:3} d:[4]}");
  EXPECT_EQ(over("{a: 1}", "{a: {b: 2}}"), "{a:{b:2}}");
}

TEST(LayOver, a_null_takes_a_value_away) { EXPECT_EQ(over("{a: 1, b: 2}", "{a: ~}"), "{a: b:2}"); }

TEST_F(Overlay, a_base_is_looked_for_beside_the_file_and_then_in_the_configs) {
  write("near.yaml", "{x: near}");
  write("configs/near.yaml", "{x: far}");
  write("configs/gpus/one.yaml", "{x: one}");
  EXPECT_EQ(resolved("{a: {base: near}, b: {base: gpus/one}}"), "{a:{x:near} b:{x:one}}");
}

TEST_F(Overlay, a_base_may_have_a_base_of_its_own_relative_to_itself) {
  write("configs/gpus/one.yaml", "{base: two, x: 1}");
  write("configs/gpus/two.yaml", "{x: 2, y: 2}");
  EXPECT_EQ(resolved("{base: gpus/one, z: 0}"), "{x:1 y:2 z:0}");
}

TEST_F(Overlay, a_map_with_its_own_base_takes_the_place_of_the_one_below) {
  write("cluster.yaml", "{gpu: {x: 1, old: 1}}");
  write("new.yaml", "{x: 2}");
  EXPECT_EQ(resolved("{base: cluster, gpu: {base: new, y: 3}}"), "{gpu:{x:2 y:3}}");
}

TEST_F(Overlay, a_set_lays_one_value_over_all_bases) {
  write("cluster.yaml", "{gpu: {x: 1, y: 1}}");
  EXPECT_EQ(resolved("{base: cluster}", {"gpu.x=2", "gpu.x=3", "n.m=[4]"}),
            "{gpu:{x:3 y:1} n:{m:[4]}}");
}

TEST_F(Overlay, a_set_may_name_another_base) {
  write("one.yaml", "{x: 1}");
  write("two.yaml", "{x: 2}");
  EXPECT_EQ(resolved("{a: {base: one, y: 0}}", {"a.base=two"}), "{a:{x:2 y:0}}");
}

TEST_F(Overlay, a_map_given_with_set_merges_as_that_of_a_file_does) {
  write("one.yaml", "{a: {x: 1, b: {z: 1}}}");
  write("two.yaml", "{v: 2}");
  const char* merged = "{a:{x:1 b:{z:1 w:3} y:2}}";
  EXPECT_EQ(resolved("{base: one}", {"a={y: 2, b: {w: 3}}"}), "{a:{x:1 b:{z:1 w:3} y:2}}");
  EXPECT_EQ(resolved("{base: one, a: {y: 2, b: {w: 3}}}"), merged);
  EXPECT_EQ(resolved("{a: {x: 1, b: {z: 1}}}", {"a={y: 2, b: {w: 3}}"}), merged);
  // But where it has a base, at any depth.
  const char* replaced = "{a:{x:1 b:{v:2}}}";
  EXPECT_EQ(resolved("{base: one}", {"a={b: {base: two}}"}), replaced);
  EXPECT_EQ(resolved("{base: one, a: {b: {base: two}}}"), replaced);
  EXPECT_EQ(resolved("{a: {x: 1, b: {z: 1}}}", {"a={b: {base: two}}"}), replaced);
}

TEST_F(Overlay, numbers_change_elements_of_a_list) {
  EXPECT_EQ(resolved("{l: [{x: 1}, {x: 2, y: 2}]}", {"l.1.x=3"}), "{l:[{x:1} {x:3 y:2}]}");
  EXPECT_EQ(resolved("{l: [a, b]}", {"l.0=c"}), "{l:[c b]}");
  EXPECT_EQ(resolved("{l: [{m: [1, 2]}]}", {"l.0.m.1=5"}), "{l:[{m:[1 5]}]}");
}

TEST_F(Overlay, the_number_of_elements_adds_one) {
  EXPECT_EQ(resolved("{l: [a]}", {"l.2=c", "l.1=b"}), "{l:[a b c]}");  // in any order
  EXPECT_EQ(resolved("{n: 1}", {"l.0.x=1"}), "{n:1 l:[{x:1}]}");
}

TEST_F(Overlay, a_null_takes_an_element_away_after_all_else) {
  EXPECT_EQ(resolved("{l: [a, b, c]}", {"l.0=~", "l.2=d"}), "{l:[b d]}");
  EXPECT_EQ(resolved("{l: [a]}", {"l.1=~", "l.2=c"}), "{l:[a c]}");
  EXPECT_EQ(resolved("{l: [a]}", {"l.0=~"}), "{l:}");  // as if it were not said
}

TEST_F(Overlay, elements_are_those_of_the_bases_list) {
  write("one.yaml", "{l: [{x: 1}, {x: 2}]}");
  write("two.yaml", "{base: one, l: {1: {y: 2}}}");
  EXPECT_EQ(resolved("{base: two}", {"l.1.x=3", "l.0.x=~"}), "{l:[{x:} {x:3 y:2}]}");
  EXPECT_EQ(resolved("{base: two, l: [a]}", {"l.1=b"}), "{l:[a b]}");
}

// A number means an element of the list that is left below: after what other files take away.
TEST_F(Overlay, elements_are_counted_in_what_the_files_below_leave) {
  write("one.yaml", "{l: [{x: 1}, {x: 2}, {x: 3}]}");
  write("two.yaml", "{base: one, l: {0: ~}}");
  EXPECT_EQ(resolved("{base: two, l: {0: {y: 1}}}"), "{l:[{x:2 y:1} {x:3}]}");
  EXPECT_EQ(resolved("{base: one, l: {0: ~}}", {"l.0.y=1", "l.2=a"}), "{l:[{x:2 y:1} {x:3} a]}");
  EXPECT_EQ(resolved("{base: one, l: ~}", {"l.0=a"}), "{l:[a]}");
  EXPECT_EQ(resolved("{base: one}", {"l.0=b", "l=~"}), "{l:[b]}");
}

TEST_F(Overlay, a_set_of_an_element_may_have_a_base) {
  write("one.yaml", "{l: [{x: 1}]}");
  write("two.yaml", "{v: 2}");
  EXPECT_EQ(resolved("{base: one}", {"l.1={base: two, w: 3}"}), "{l:[{x:1} {v:2 w:3}]}");
}

TEST_F(Overlay, an_element_that_would_leave_a_gap_is_a_problem) {
  SourceFiles files;
  Diagnostics problems;
  Node root = tree_of("{l: [a]}");
  for (const char* set : {"l.3=b", "l.4=~", "m.n.1=c"}) apply_set(root, set, problems);
  const std::vector<fs::path> none;
  BaseResolver(files, none, problems).resolve(root, folder_ / "a.yaml");
  EXPECT_EQ(problems.to_text(),
            "--set l.3=b: error: l: there is no element 3: the list has 1, counted from 0, and the "
            "next one would be 1\n"
            "--set l.4=~: error: l: there is no element 4: the list has 1, counted from 0, and the "
            "next one would be 1\n"
            "--set m.n.1=c: error: m.n: there is no element 1: the list has 0, counted from 0, and "
            "the next one would be 0\n");
}

TEST_F(Overlay, what_takes_anothers_place_is_there_as_often) {
  write("old.yaml", "{speed: 1}");
  write("new.yaml", "{speed: 2}");
  write("cluster.yaml", "{nic: {base: old, per_node: 8, post: 3}}");
  EXPECT_EQ(resolved("{base: cluster}", {"nic={base: new}"}), "{nic:{speed:2 per_node:8}}");
  EXPECT_EQ(resolved("{base: cluster, nic: {base: new}}"), "{nic:{speed:2 per_node:8}}");
  EXPECT_EQ(resolved("{base: cluster}", {"nic={base: new, per_node: 4}"}),
            "{nic:{speed:2 per_node:4}}");
}

TEST_F(Overlay, every_file_is_read_once_and_listed_with_its_hash) {
  write("one.yaml", "a");
  SourceFiles files;
  Diagnostics problems;
  files.tree_of(folder_ / "one.yaml", {}, problems);
  files.tree_of(folder_ / "one.yaml", {}, problems);
  ASSERT_EQ(files.inputs().size(), 1U);
  EXPECT_EQ(files.inputs()[0].hash, "af63dc4c8601ec8c");  // FNV-1a of "a", from its authors' table
}

TEST_F(Overlay, what_cannot_be_read_is_a_problem) {
  SourceFiles files;
  Diagnostics problems;
  EXPECT_EQ(files.tree_of(folder_ / "none.yaml", {.file = "asker"}, problems), nullptr);
  EXPECT_EQ(files.tree_of(folder_, {.file = "asker"}, problems), nullptr);
  const std::string name = folder_.generic_string();
  EXPECT_EQ(problems.to_text(), "asker: error: cannot read " + name +
                                    "/none.yaml: no such file\nasker: error: cannot read " + name +
                                    ": is a folder\n");
}

}  // namespace
}  // namespace weft::overlay_test
