#include "sim/spec/json_schema.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <regex>

namespace weft::json_schema_test {
namespace {

using Json = nlohmann::ordered_json;

KeyDoc key(const std::string& path, const std::string& type) {
  return {.path = path,
          .type = type,
          .units = "",
          .fallback = "required",
          .help = "help",
          .only = "",
          .only_key = "",
          .only_words = {},
          .low = "",
          .high = "",
          .words = {}};
}

Json schema_of(const std::vector<KeyDoc>& keys, std::string_view path = "") {
  constexpr std::array kBases = {BaseKey{.name = "base", .help = "a file", .pattern = "^[a-z]+$"},
                                 BaseKey{.name = "taken_from", .help = "a path", .of = "cluster"}};
  return Json::parse(json_schema(keys, kBases, {.name = "part", .path = path, .whole = true}));
}

TEST(JsonSchema, a_quantity_is_a_number_and_one_of_its_units) {
  KeyDoc size = key("lds", "size");
  size.units = "B kB KiB";
  const Json lds = schema_of({size})["properties"]["lds"];
  const std::regex pattern(lds["pattern"].get<std::string>());
  for (const char* right : {"0 B", "64 KiB", "64KiB", "1.5 kB", "0.5 kB"}) {
    EXPECT_TRUE(std::regex_match(right, pattern)) << right;
  }
  for (const char* wrong : {"64", "64 kib", "64 KB", "064 B", "1. B", ".5 B", "-1 B", "64 B/s"}) {
    EXPECT_FALSE(std::regex_match(wrong, pattern)) << wrong;
  }
}

TEST(JsonSchema, bounds_of_plain_numbers_are_bounds_and_those_of_quantities_are_said) {
  KeyDoc nodes = key("nodes", "integer");
  nodes.low = "1";
  nodes.high = "65536";
  KeyDoc latency = key("latency", "duration");
  latency.units = "ns";
  latency.low = "0 ps";
  latency.high = "1 s";
  const Json properties = schema_of({nodes, latency})["properties"];
  EXPECT_EQ(properties["nodes"]["maximum"], 65536);
  EXPECT_EQ(properties["latency"]["description"], "help; duration; 0 ps .. 1 s; required");
}

TEST(JsonSchema, words_are_enumerations_and_true_is_no_text) {
  const Json properties =
      schema_of({key("a", "one of x y"), key("b", "list of x y"), key("c", "one of false true"),
                 key("d", "one of auto none; or a list of x y")})["properties"];
  EXPECT_EQ(properties["a"]["enum"], Json({"x", "y", nullptr}));
  EXPECT_EQ(properties["b"]["items"]["enum"], Json({"x", "y"}));
  EXPECT_EQ(properties["c"]["enum"], Json({false, true, nullptr}));
  EXPECT_EQ(properties["d"]["anyOf"][0]["enum"], Json({"auto", "none"}));
  EXPECT_EQ(properties["d"]["anyOf"][1]["items"]["enum"], Json({"x", "y"}));
}

TEST(JsonSchema, what_a_word_means_is_part_of_the_description) {
  KeyDoc order = key("order", "one of near far");
  order.words = {{"near", "neighbours first"}, {"far", ""}};
  EXPECT_EQ(schema_of({order})["properties"]["order"]["description"],
            "help; near: neighbours first; required");
}

TEST(JsonSchema, what_a_map_needs_it_needs_only_without_a_base) {
  const Json schema =
      schema_of({key("name", "text"), key("cluster", "map"), key("cluster.nodes", "integer")});
  const Json& rule = schema["allOf"][0];
  EXPECT_EQ(rule["if"]["not"]["anyOf"][0]["required"], Json({"base"}));
  EXPECT_EQ(rule["then"]["required"], Json({"name", "cluster"}));
  const Json& inner = rule["then"]["properties"]["cluster"];
  EXPECT_EQ(inner["then"]["required"], Json({"nodes"}));
  EXPECT_EQ(inner["if"]["not"]["anyOf"][1]["required"], Json({"taken_from"}));
  EXPECT_FALSE(schema["properties"]["cluster"].contains("required")) << "under a base of the whole";
}

TEST(JsonSchema, a_base_is_a_key_of_every_map_or_of_one) {
  const Json properties = schema_of({key("cluster", "map"), key("other", "map")})["properties"];
  const Json base = {
      {"type", {"string", "null"}}, {"pattern", "^[a-z]+$"}, {"description", "a file"}};
  EXPECT_EQ(properties["base"], base);
  EXPECT_EQ(properties["other"]["properties"], Json({{"base", base}}));
  EXPECT_EQ(properties["cluster"]["properties"]["taken_from"]["description"], "a path");
  EXPECT_FALSE(properties["cluster"]["properties"]["taken_from"].contains("pattern"));
}

TEST(JsonSchema, a_key_that_belongs_to_another_word_is_refused_beside_this_one) {
  KeyDoc dims = key("dims", "list of integers");
  dims.only = "shape: torus or ring";
  dims.only_key = "shape";
  dims.only_words = {"torus", "ring"};
  const Json schema = schema_of({key("shape", "one of switch ring torus"), dims});
  const Json& rule = schema["allOf"][0];
  EXPECT_EQ(rule["if"]["properties"]["shape"]["not"]["enum"], Json({"torus", "ring", nullptr}));
  EXPECT_EQ(rule["then"]["properties"]["dims"]["type"], "null");
  const Json& needs = schema["allOf"][1]["then"]["allOf"][0];
  EXPECT_EQ(needs["if"]["properties"]["shape"]["enum"], Json({"torus", "ring"}));
  EXPECT_EQ(needs["then"]["required"], Json({"dims"}));
}

}  // namespace
}  // namespace weft::json_schema_test
