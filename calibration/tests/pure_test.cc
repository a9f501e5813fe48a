// The parts of the harness that need no GPU: lines, statistics, the order of slices, options.

#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <utility>

#include "halves.h"
#include "json_line.h"
#include "numbers.h"
#include "options.h"
#include "slices.h"
#include "statistics.h"

using namespace calibration;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    ++failures;
  }
}

void lines() {
  JsonLine line("micro.hbm_read");
  line.set("wgs", 4).set("us", 736.0).set("text", std::string("a \"b\"\\"));
  expect(
      line.to_json() == R"({"kind": "micro.hbm_read", "wgs": 4, "us": 736.0, "text": "a \"b\"\\"})",
      "fields are written in order, texts quoted");
  expect(JsonLine("k").set("us", 4.4164).to_json() == R"({"kind": "k", "us": 4.416})",
         "a time has three decimals at most");
  expect(JsonLine("k").set("kernel", {{"registers", 40}, {"resident", 6}}).to_json() ==
             R"({"kind": "k", "kernel": {"registers": 40, "resident": 6}})",
         "a group of numbers is an object");
  expect(JsonLine("k").set_each({{"m", 2}, {"n", 3}}).to_text() == "k m=2 n=3",
         "numbers are set one by one");
  expect(JsonLine("k").set("n", 1).to_text() == "k n=1", "the text names kind and parameters");
}

void statistics() {
  const Summary odd = summarize({3, 1, 2});
  expect(odd.median == 2 && odd.minimum == 1 && odd.maximum == 3, "median of an odd number");
  expect(summarize({4, 1, 2, 3}).median == 2.5, "median of an even number");
  bool threw = false;
  try {
    summarize({});
  } catch (const std::invalid_argument&) {
    threw = true;
  }
  expect(threw, "no samples have no median");
}

void slices() {
  const SliceOrder remote{
      .gpus = 4, .me = 2, .slices_per_destination = 3, .order = Order::remote_first};
  expect(remote.at(0).destination == 3 && remote.at(3).destination == 0 &&
             remote.at(6).destination == 1 && remote.at(9).destination == 2,
         "remote first: own rank + 1, + 2, + 3, own");
  SliceOrder local = remote;
  local.order = Order::local_first;
  expect(local.at(0).destination == 2 && local.at(11).destination == 1,
         "local first: own, + 1 ...");
  std::set<std::pair<int, int>> seen;
  for (int position = 0; position < remote.slices(); ++position) {
    seen.insert({remote.at(position).destination, remote.at(position).index});
  }
  expect(seen.size() == 12, "each slice comes once");
}

void numbers() {
  expect(to_bf16(1.0F) == 0x3F80 && from_bf16(0xC000) == -2.0F, "bf16 of whole numbers");
  expect(to_bf16(float_of(0x3F808000U)) == 0x3F80 && to_bf16(float_of(0x3F818000U)) == 0x3F82,
         "bf16 rounds halves to even");
  bool same = true;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    const float value = test_value(1, i);
    const float2 halves = from_halves(test_half(1, i));
    same = same && halves.x == value && from_bf16(to_bf16(value)) == value;
  }
  expect(same, "test values are exact in every type");
}

void options() {
  const Options parsed = parse_options({"--only", "emb.", "--only", "n=1", "--gpus", "3"});
  expect(parsed.gpus == 3 && parsed.repeats.measured == 11, "options and defaults");
  expect(is_wanted(parsed, "emb.bulk gpus=3") && is_wanted(parsed, "micro.empty n=1") &&
             !is_wanted(parsed, "gemv.bulk gpus=3"),
         "a line is wanted if one of the patterns is in it");
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"--gpus", "0"}, {"--gpus", "2x"}, {"--nonsense"}, {"--only"}}) {
    bool threw = false;
    try {
      parse_options(bad);
    } catch (const std::invalid_argument&) {
      threw = true;
    }
    expect(threw, "wrong arguments are refused");
  }
}

}  // namespace

int main() {
  lines();
  statistics();
  slices();
  numbers();
  options();
  std::printf("%s\n", failures == 0 ? "all hold" : "some do not hold");
  return failures == 0 ? 0 : 1;
}
