#include "sim/scenario/schemas.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/scenario/load.h"
#include "sim/scenario/sweep_file.h"

namespace weft::schemas_test {
namespace {

using Json = nlohmann::ordered_json;

TEST(Schemas, have_every_key_of_a_scenario_with_its_meaning) {
  const std::vector<KeyDoc> keys = describe_scenario();
  const Json schema = Json::parse(schema_of(schema_parts().front()));
  for (const KeyDoc& doc : keys) {
    const Json* at = &schema;
    std::istringstream path(doc.path);
    for (std::string part; std::getline(path, part, '.');) {
      const bool list = part.ends_with("[]");
      if (list) part.resize(part.size() - 2);
      at = &at->at("properties").at(part);
      if (list) at = &at->at("items");
    }
    EXPECT_EQ(at->at("description").get<std::string>().find(doc.help), 0U) << doc.path;
  }
}

TEST(Schemas, of_sweeps_have_every_key_that_can_be_swept) {
  const Json schema = Json::parse(sweep_schema());
  const Json& key = schema["properties"]["axes"]["items"]["else"]["properties"]["key"];
  const Json& swept = key["else"]["enum"];
  std::vector<std::string> paths;
  for (const KeyDoc& doc : describe_scenario()) {
    if (doc.path.find('[') != std::string::npos) continue;  // elements: below
    paths.push_back(doc.path);
    if (doc.type == "map") paths.push_back(doc.path + ".base");
  }
  paths.emplace_back("cluster.from_astra_sim");
  EXPECT_EQ(swept, Json(paths));
  const std::regex elements(key["then"]["pattern"].get<std::string>());
  for (const char* path :
       {"workload.pairs.0.mode", "workload.pairs.12", "cluster.stragglers.1.gpu", "modes.0"}) {
    EXPECT_TRUE(std::regex_search(path, elements)) << path;
  }
  for (const char* path : {"workload.pairs.0.mod", "workload.pairs.x.mode", "workload.batch.0",
                           "workload.pairs.01.mode"}) {
    EXPECT_FALSE(std::regex_search(path, elements)) << path;
  }
}

// Every key of a sweep is a property of its schema, and no other is.
TEST(Schemas, of_sweeps_have_the_keys_of_sweeps) {
  const Json schema = Json::parse(sweep_schema());
  const Json& axis = schema["properties"]["axes"]["items"];
  const auto keys_in = [](const Json& of, const std::string& prefix) {
    std::set<std::string> keys;
    for (const auto& [name, ignored] : of["properties"].items()) keys.insert(prefix + name);
    return keys;
  };
  std::set<std::string> in_schema = keys_in(schema, "");
  in_schema.merge(keys_in(axis["else"], "axes[]."));
  in_schema.merge(keys_in(axis["then"], "axes[]."));
  in_schema.merge(keys_in(axis["then"]["properties"]["zip"]["items"], "axes[].zip[]."));
  std::set<std::string> described;
  for (const KeyDoc& row : describe_sweep()) described.insert(row.path);
  EXPECT_EQ(in_schema, described);
}

}  // namespace
}  // namespace weft::schemas_test
