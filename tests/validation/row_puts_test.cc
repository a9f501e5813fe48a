// Rows of tokens put one by one between two H200, by our own kernels (calibration/src/
// row_put_kernels.h): from the start of a kernel to the end of its last WG, by the SMs' clocks. No
// constant is fitted to these lines. That a CU puts a token's rows and then the next token's, that
// WGs stand for equally many experts, and that a wave fences once more before it tells a peer, is
// as in the kernels; before weft had it, most dispatches were a third too short. What is left, 2 to
// 5 us of nearly all, are the barrier of all WGs and the counters, which take 1.9 us in the kernels
// and nothing in weft, and the barrier of a WG for each token. Home, weft fences each row, and the
// kernels once for all rows of an expert and peer: 0.3 to 4 us longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "sim/measured/lines.h"
#include "tests/unit/engine/one_exchange.h"

namespace weft::row_puts_test {
namespace {

const std::filesystem::path kLines =
    std::filesystem::path(WEFT_SOURCE_DIR) / "calibration/measurements/h200-x2-row_puts.jsonl";

// Each of two GPUs keeps half of its rows, as they are spread evenly.
double simulated_us(const MeasuredLine& line, bool home) {
  const Bytes element = bytes(2);
  const std::int64_t hidden = *line.number("hidden");
  const Bytes made = element * hidden;
  const bool fp8 = !home && line.number("bits") == 8;
  const Bytes row = fp8 ? bytes(hidden + hidden / 128 * 4) : made;
  const std::int64_t pair = *line.number("tokens") * *line.number("top_k") / 2;
  const Bytes of_a_pair = row * pair;
  const CommunicationShape call{
      .op = CollectiveOp::all_to_all,
      .buffer = of_a_pair * 2,
      .pair_bytes = std::vector<std::int64_t>(4, of_a_pair.count()),
      .row = row,
      .puts = PutRows{.made_from = made,
                      .experts = *line.number("experts"),
                      .at_once = home ? 0 : static_cast<int>(*line.number("top_k")),
                      .packs = !home}};
  const Scenario scenario = scenario_of_file("scenarios/models/rows_put_2x_h200.yaml");
  const RunResult result = run_exchange(scenario, call, {0, 1});
  return to_microseconds(result.operators.front().longest);
}

std::vector<double> errors(const std::string& kind, bool home) {
  std::vector<double> found;
  for (const MeasuredLine& line : read_measured(kLines).lines) {
    if (line.kind != kind) continue;
    // Home: till all WGs have passed the barrier before the sums, which are another kernel in weft.
    const double us = static_cast<double>(*line.number(home ? "flags_seen_ns" : "ended_ns")) / 1e3;
    const double simulated = simulated_us(line, home);
    found.push_back(std::abs(simulated / us - 1));
    std::cout << line.text() << ": " << us << " us, weft " << simulated << '\n';
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(RowPuts, of_dispatches_take_what_was_measured) {
  const std::vector<double> off = errors("micro.row_puts", false);
  ASSERT_EQ(off.size(), 15);
  EXPECT_LE(off[7], 0.22);
  EXPECT_LE(off[14], 0.36);
}

TEST(RowPuts, of_combines_take_what_was_measured) {
  const std::vector<double> off = errors("micro.row_puts_home", true);
  ASSERT_EQ(off.size(), 15);
  EXPECT_LE(off[7], 0.16);
  EXPECT_LE(off[14], 0.30);
}

}  // namespace
}  // namespace weft::row_puts_test
