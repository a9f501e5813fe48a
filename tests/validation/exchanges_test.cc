// All-to-alls and all-gathers of two H100 by NCCL's channels (calibration/pytorch/exchanges.py).
// What a channel copies of the part that stays is from these lines; nothing else is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"

namespace weft::exchanges_test {
namespace {

using Json = nlohmann::json;

double simulated_us(const Json& line) {
  const std::string channels =
      line.contains("ctas") ? "collective: {channels: " + line["ctas"].dump() + "}\n" : "";
  const std::string text = fmt::format(
      "name: exchange\n"
      "cluster: {{base: clusters/node_8x_h100, gpus_per_node: 2, gpu: {{collective: {{algorithms: "
      "[ring, tree]}}}}}}\n"  // NCCL there had no multicast
      "workload: {{kind: collective, op: {}, bytes: {} B}}\n{}",
      line["op"].get<std::string>(), line["bytes_per_gpu"].dump(), channels);
  const Loaded loaded = load_scenario_text(
      text, "exchange.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  ScenarioRun run(loaded);
  const auto outcome = run.run("");
  return to_microseconds(std::get<RunReport>(outcome).runs.front().result.time);
}

// Absolute errors in ascending order, of calls of this kind and at least this size.
std::vector<double> errors_of(const std::string& op, bool limited) {
  constexpr std::int64_t kLeast = std::int64_t{16} << 20U;
  std::vector<double> errors;
  std::ifstream file(WEFT_SOURCE_DIR "/calibration/measurements/h100-x2-pytorch-exchanges.jsonl");
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text);
    if (line["kind"] != "exchange" || line["op"] != op) continue;
    if (line.contains("ctas") != limited || line["bytes_per_gpu"] < kLeast) continue;
    const double measured = line["us"];
    const double simulated = simulated_us(line);
    std::cout << fmt::format(
        "{} of {} MiB, {} channels: {:.1f} us measured, {:.1f} simulated, "
        "{:+.1f} %\n",
        op, line["bytes_per_gpu"].get<std::int64_t>() >> 20U, line.value("ctas", 0), measured,
        simulated, (simulated / measured - 1) * 100);
    errors.push_back(std::abs(simulated / measured - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

double median(const std::vector<double>& errors) { return errors.at(errors.size() / 2); }

TEST(Exchanges, all_to_alls_take_as_long_as_measured) {
  EXPECT_LT(median(errors_of("all_to_all", false)), 0.08);
  EXPECT_LT(median(errors_of("all_to_all", true)), 0.1);
}

}  // namespace
}  // namespace weft::exchanges_test
