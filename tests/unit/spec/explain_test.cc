#include "sim/spec/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sim/scenario/load.h"

namespace weft::explain_test {
namespace {

KeyDoc made_up(const std::string& path) {
  return {.path = path,
          .type = "duration",
          .units = "ps ns",
          .fallback = "required",
          .help = "first byte in to first byte out",
          .only = "shape: torus",
          .only_key = "shape",
          .only_words = {"torus"},
          .low = "0 ps",
          .high = "1 s",
          .words = {}};
}

TEST(Explain, says_everything_about_a_key) {
  EXPECT_EQ(explain_text({made_up("link.latency")}),
            "link.latency\n"
            "    duration (ps ns); required; 0 ps .. 1 s; only with shape: torus\n"
            "    first byte in to first byte out\n");
  KeyDoc defaulted = made_up("a");
  defaulted.fallback = "3 ns";
  EXPECT_NE(explain_text({defaulted}).find("; default: 3 ns;"), std::string::npos);
}

TEST(Explain, words_that_do_not_say_it_themselves_have_a_line_each) {
  KeyDoc choice = made_up("order");
  choice.words = {{"near_first", "for neighbours first"}, {"none", ""}, {"far_first", "last"}};
  const std::string text = explain_text({choice});
  EXPECT_NE(text.find("out\n      near_first: for neighbours first\n      far_first: last\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(meanings_text(choice), "near_first: for neighbours first; far_first: last");
}

TEST(Explain, every_word_of_the_choices_of_fused_is_explained) {
  std::size_t choices = 0;
  for (const KeyDoc& key : keys_at(describe_scenario(), "fused")) {
    if (!key.words.empty()) ++choices;
    for (const WordDoc& word : key.words) EXPECT_FALSE(word.meaning.empty()) << key.path;
  }
  // order work_list flag_per put_by sent_by brought fence_by acquire staging registers in_switch
  // add fence_of
  EXPECT_EQ(choices, 13U);
}

TEST(Explain, a_part_is_a_map_with_all_below_it_and_no_neighbour_that_starts_alike) {
  const std::vector<KeyDoc> keys = {made_up("link"), made_up("link.latency"), made_up("links"),
                                    made_up("other")};
  EXPECT_EQ(keys_at(keys, "link").size(), 2U);
  EXPECT_EQ(keys_at(keys, "").size(), 4U);
  EXPECT_TRUE(keys_at(keys, "lin").empty());
  EXPECT_TRUE(keys_at(keys, "link.").empty());
}

TEST(Explain, an_element_of_a_list_is_meant_by_its_number) {
  const std::vector<KeyDoc> keys = {made_up("pairs"), made_up("pairs[].mode"), made_up("sizes"),
                                    made_up("inner[].list[].deep")};
  EXPECT_EQ(keys_at(keys, "sizes.3.0").size(), 1U);  // a list of lists
  ASSERT_EQ(keys_at(keys, "pairs.12.mode").size(), 1U);
  EXPECT_EQ(keys_at(keys, "pairs.12.mode")[0].path, "pairs[].mode");
  EXPECT_EQ(keys_at(keys, "pairs.0")[0].path, "pairs[].mode");  // all of an element's
  ASSERT_EQ(keys_at(keys, "sizes.3").size(), 1U);               // has no keys of its own: the list
  EXPECT_EQ(keys_at(keys, "sizes.3")[0].path, "sizes");
  EXPECT_EQ(keys_at(keys, "inner.1.list.2.deep").size(), 1U);
  EXPECT_TRUE(keys_at(keys, "pairs.mode").empty());
  EXPECT_TRUE(keys_at(keys, "pairs.1x.mode").empty());
  EXPECT_EQ(no_such_key(keys, "pairs.0.mod"), "there is no such key; did you mean pairs[].mode?");
}

TEST(Explain, a_key_that_is_none_is_answered_with_the_one_that_is_meant) {
  const std::vector<KeyDoc> keys = {made_up("up.link"), made_up("up.link.latency"),
                                    made_up("out.link"), made_up("out.link.latency")};
  EXPECT_EQ(no_such_key(keys, "out.latency"),
            "there is no such key; did you mean out.link.latency?");
  EXPECT_EQ(no_such_key(keys, "latency"),
            "there is no such key; did you mean one of up.link.latency out.link.latency?");
  EXPECT_EQ(no_such_key(keys, "out.lnik"), "there is no such key; did you mean out.link?");
  EXPECT_EQ(no_such_key({made_up("name"), made_up("run"), made_up("run.seed")}, "zzzzzz"),
            "there is no such key; the keys are: name run");
}

TEST(Explain, every_key_of_a_scenario_fits_into_100_columns) {
  const std::vector<KeyDoc> keys = describe_scenario();
  std::istringstream text(explain_text(keys));
  std::size_t heads = 0;
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    if (!line.empty() && line.front() != ' ') ++heads;
  }
  EXPECT_EQ(heads, keys.size());
}

}  // namespace
}  // namespace weft::explain_test
