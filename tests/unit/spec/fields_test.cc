#include "sim/spec/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace weft::fields_test {
namespace {

enum class Lid { open, shut };
constexpr std::array kLids = {Choice<Lid>{"open", Lid::open, "it rains in"},
                              Choice<Lid>{"shut", Lid::shut}};

struct Cup {
  int size = 0;
  Duration wait;
  double share = 1;
  Lid lid = Lid::open;
  int key = 0;
};
struct Shelf {
  Cup cup;
  std::optional<Cup> other;
  std::vector<Cup> more;
};

void fields(Fields& map, Cup& cup) {
  map.add("size", cup.size, {.help = "how large", .range = {{1, 8}}});
  map.add("wait", cup.wait, {.help = "how long", .fallback = nanoseconds(5), .quiet = true});
  map.fraction("share", cup.share, {.help = "how full", .fallback = 1});
  map.choice("lid", cup.lid, kLids, {.help = "on top", .fallback = Lid::open});
  map.where("lid", {"shut"}).add("key", cup.key, {.help = "to open it"});
}
void fields(Fields& map, Shelf& shelf) {
  map.map("cup", shelf.cup, "the first");
  map.optional_map("other", shelf.other, "a second");
  map.optional_maps("more", shelf.more, "others");
}

struct Read {
  Shelf shelf;
  Diagnostics problems;
};

Read read(std::string_view text) {
  Diagnostics found;
  const Node root = parse_tree({.file = "a.yaml", .text = text}, found).value_or(Node{});
  Read read;
  Reading reading(Reading::Purpose::read);
  read_fields(MapReader(reading, root), [&](Fields& map) { fields(map, read.shelf); });
  read.problems = reading.problems();
  return read;
}

std::string written(Shelf shelf) {
  return text_of_fields([&](Fields& map) { fields(map, shelf); });
}

std::vector<KeyDoc> described() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  Shelf shelf;
  read_fields(MapReader(reading, nothing), [&](Fields& map) { fields(map, shelf); });
  return reading.docs();
}

const KeyDoc& doc_of(const std::vector<KeyDoc>& docs, const std::string& path) {
  for (const KeyDoc& doc : docs) {
    if (doc.path == path) return doc;
  }
  ADD_FAILURE() << path;
  return docs.front();
}

TEST(Fields, read_what_is_given_and_defaults_for_the_rest) {
  const Read found = read("cup: {size: 3, share: 5 %}");
  EXPECT_EQ(found.problems.to_text(), "");
  EXPECT_EQ(found.shelf.cup.size, 3);
  EXPECT_EQ(found.shelf.cup.wait, nanoseconds(5));
  EXPECT_EQ(found.shelf.cup.share, 0.05);
  EXPECT_FALSE(found.shelf.other.has_value());
}

TEST(Fields, write_what_they_read) {
  const char* text =
      "cup:\n  size: 3\n  share: 0.5\n  lid: shut\n  key: 7\n"
      "other:\n  size: 1\n  wait: 6 ns\n  share: 1\n  lid: open\n"
      "more:\n  - {size: 2, share: 1, lid: open}\n";
  const Read found = read(text);
  EXPECT_EQ(found.problems.to_text(), "");
  EXPECT_EQ(written(found.shelf), text);
}

TEST(Fields, leave_out_a_quiet_default) {
  Shelf shelf = read("cup: {size: 3}").shelf;
  EXPECT_EQ(written(shelf).find("wait"), std::string::npos);
  shelf.cup.wait = nanoseconds(6);
  EXPECT_NE(written(shelf).find("wait: 6 ns"), std::string::npos);
}

TEST(Fields, refuse_a_key_where_its_condition_does_not_hold) {
  const Read found = read("cup: {size: 3, lid: open, key: 7}");
  ASSERT_EQ(found.problems.all().size(), 1U);
  EXPECT_EQ(found.problems.all()[0].path, "cup.key");
  EXPECT_NE(found.problems.all()[0].message.find("only for lid: shut"), std::string::npos);
}

TEST(Fields, want_a_key_where_its_condition_holds) {
  const Read found = read("cup: {size: 3, lid: shut}");
  ASSERT_EQ(found.problems.all().size(), 1U);
  EXPECT_NE(found.problems.all()[0].message.find("required: to open it"), std::string::npos);
}

TEST(Fields, describe_every_key_with_its_default_range_words_and_condition) {
  const std::vector<KeyDoc> docs = described();
  EXPECT_EQ(doc_of(docs, "cup.size").fallback, "required");
  EXPECT_EQ(doc_of(docs, "cup.size").high, "8");
  EXPECT_EQ(doc_of(docs, "cup.wait").fallback, "5 ns");
  EXPECT_EQ(doc_of(docs, "cup.lid").words.size(), 2U);
  EXPECT_EQ(doc_of(docs, "cup.key").only_key, "lid");
  EXPECT_EQ(doc_of(docs, "cup.key").only_words, std::vector<std::string>{"shut"});
  EXPECT_EQ(doc_of(docs, "other").fallback, "optional");
  EXPECT_EQ(doc_of(docs, "more[].size").type, "integer");
}

TEST(Fields, read_lists_that_must_be_there_and_what_others_read) {
  Diagnostics found;
  const Node root =
      parse_tree({.file = "a.yaml", .text = "cups: [{size: 2}, {size: 9}]\nnote: [x]"}, found)
          .value_or(Node{});
  Reading reading(Reading::Purpose::read);
  std::vector<Cup> cups;
  std::vector<Cup> more;
  const Entry* note = nullptr;
  const Entry* rest = nullptr;
  std::string name = "before";
  read_fields(MapReader(reading, root), [&](Fields& map) {
    const auto rows = [](Fields& inner, Cup& cup) { fields(inner, cup); };
    map.maps("cups", cups, "some", rows);
    map.maps("more", more, "others", rows);
    map.entry("note", note, "list", "anything");
    map.entry_or_none("rest", rest, "list", "anything");
    map.name_or_none("name", name, "of the shelf");
    map.fail_at(note->value.items[0].at, "note", "wrong word");
  });
  EXPECT_EQ(cups.size(), 2U);
  EXPECT_EQ(cups[0].size, 2);
  EXPECT_EQ(rest, nullptr);
  EXPECT_EQ(name, "");
  const std::vector<Diagnostic>& all = reading.problems().all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].path, "cups[1].size");
  EXPECT_EQ(all[1].path, "more");
  EXPECT_EQ(all[1].message, "required: others");
  EXPECT_EQ(all[2].path, "note");
  EXPECT_EQ(all[2].at.column, 8);
}

TEST(Fields, name_all_conditions_that_are_not_words_of_a_key) {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  int size = 0;
  read_fields(MapReader(reading, nothing), [&](Fields& map) {
    map.only_if(true, "cups without a shelf").add("size", size, {.help = "how large"});
  });
  EXPECT_EQ(reading.docs().front().only, "cups without a shelf");
  EXPECT_TRUE(reading.docs().front().only_key.empty());
}

}  // namespace
}  // namespace weft::fields_test
