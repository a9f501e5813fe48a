// `weft sensitivity` as a user meets it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::sensitivity_command_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kSmall =
    "sensitivity '" WEFT_SOURCE_DIR
    "/configs/scenarios/embedding_a2a_2_nodes.yaml' --set 'modes=[bulk, fused]' --set "
    "workload.batch=128 --set workload.tables_per_gpu=4 -q ";

class SensitivityCommand : public InOwnFolder {
 protected:
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
};

TEST_F(SensitivityCommand, says_the_same_as_table_json_and_csv_on_any_number_of_cores) {
  const Ended table = weft(kSmall + "--csv all.csv -j 1");
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("cluster.gpu.memory.latency"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("fused / bulk"), std::string::npos);
  const Ended json = weft(kSmall + "--json -j 3");
  const Json told = Json::parse(json.out);
  EXPECT_EQ(told["modes"].size(), 2U);
  const std::string csv = text_of(folder_ / "all.csv");
  EXPECT_EQ(csv.find("path,value,source,relative_spread,mode,elasticity\n"), 0U);
  const Json& first = told["numbers"][0];
  const std::string line = first["path"].get<std::string>() + ',' +
                           first["value"].get<std::string>() + ',' +
                           first["source"].get<std::string>();
  EXPECT_NE(csv.find('\n' + line), std::string::npos) << line;
  EXPECT_EQ(weft(kSmall + "--json -j 1").out, json.out);
}

TEST_F(SensitivityCommand, refuses_what_run_refuses) {
  const Ended ended = weft("sensitivity nothing.yaml");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("nothing.yaml")) << ended.err;
  EXPECT_EQ(weft(kSmall + "--set run.max_events=10").status, 1);
  EXPECT_EQ(weft(kSmall + "--step 0").status, 1);
}

}  // namespace
}  // namespace weft::sensitivity_command_test
