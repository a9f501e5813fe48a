#include "sim/spec/tree.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::tree_test {
namespace {

Node parsed(std::string_view text) {
  Diagnostics problems;
  const auto tree = parse_tree({.file = "a.yaml", .text = text}, problems);
  EXPECT_EQ(problems.to_text(), "");
  return tree.value_or(Node{});
}

std::string problems_of(std::string_view text) {
  Diagnostics problems;
  EXPECT_FALSE(parse_tree({.file = "a.yaml", .text = text}, problems));
  return problems.to_text();
}

TEST(Tree, every_node_knows_its_place_from_line_and_column_1) {
  const Node root = parsed("a:\n  b: [1, x]\n");
  const Entry* a = root.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->key_at.line, 1);
  EXPECT_EQ(a->key_at.column, 1);
  const Entry* b = a->value.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->key_at.column, 3);
  ASSERT_EQ(b->value.items.size(), 2U);
  EXPECT_EQ(b->value.items[1].text, "x");
  EXPECT_EQ(b->value.items[1].at.line, 2);
  EXPECT_EQ(b->value.items[1].at.column, 10);
}

TEST(Tree, nothing_after_a_key_has_the_place_of_the_key) {
  const Node root = parsed("a:\n\n\nb: 1\n");
  EXPECT_EQ(root.find("a")->value.kind, Node::Kind::null);
  EXPECT_EQ(root.find("a")->value.at.line, 1);
}

TEST(Tree, keys_keep_the_order_of_the_file) {
  const Node root = parsed("z: 1\na: 2\nm: 3\n");
  ASSERT_EQ(root.entries.size(), 3U);
  EXPECT_EQ(root.entries[0].key, "z");
  EXPECT_EQ(root.entries[2].key, "m");
}

TEST(Tree, an_alias_is_a_copy_of_its_anchor) {
  const Node root = parsed("a: &x {b: 1}\nc: *x\n");
  ASSERT_NE(root.find("c")->value.find("b"), nullptr);
  EXPECT_EQ(root.find("c")->value.find("b")->value.text, "1");
}

TEST(Tree, scalars_stay_text) {
  EXPECT_EQ(parsed("a: 010").find("a")->value.text, "010");
  EXPECT_EQ(parsed("a: '700 ns'").find("a")->value.text, "700 ns");
  EXPECT_EQ(parsed("a: null").find("a")->value.kind, Node::Kind::null);
  EXPECT_EQ(parsed("a: 'null'").find("a")->value.kind, Node::Kind::scalar);
}

TEST(Tree, an_empty_text_is_nothing) {
  EXPECT_EQ(parsed("").kind, Node::Kind::null);
  EXPECT_EQ(parsed("# only a comment\n").kind, Node::Kind::null);
}

TEST(Tree, too_large_a_text_is_refused_before_it_is_parsed) {
  EXPECT_EQ(problems_of(std::string(kMaxSourceBytes + 1, ' ')),
            "a.yaml: error: larger than 256 KiB\n");
}

TEST(Tree, aliases_cannot_multiply_without_bound) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) text += below + ", ";
    text += below + "]\n";
  }
  EXPECT_NE(problems_of(text).find("too much text once aliases are expanded"), std::string::npos);
}

TEST(Tree, aliases_count_as_depth) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_NE(problems_of(text).find("nested deeper than 32 levels"), std::string::npos);
}

TEST(Tree, a_map_has_a_bounded_number_of_keys) {
  std::string text;
  for (int i = 0; i <= 1000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_NE(problems_of(text).find("more than 1000 keys in one map"), std::string::npos);
}

TEST(Tree, ten_thousand_brackets_are_an_error_and_no_crash) {
  EXPECT_NE(problems_of(std::string(10'000, '[')), "");
  EXPECT_NE(problems_of(std::string(10'000, '{')), "");
}

TEST(Tree, text_of_the_command_line_has_no_line) {
  Diagnostics problems;
  const auto tree = parse_tree({.file = "--set a=b", .text = "b", .has_lines = false}, problems);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->at.file, "--set a=b");
  EXPECT_EQ(tree->at.line, 0);
}

}  // namespace
}  // namespace weft::tree_test
