// Copies of a model of which some stand for all take as long as all of them.
#include "tests/unit/models/alike_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "sim/core/rng.h"
#include "sim/models/build_model.h"
#include "sim/models/lower_bound.h"
#include "tests/property/cases.h"

namespace weft::alike_copies_property_test {
namespace {

// Small decoders on nodes of four or two GPUs: one to four of them in a leaf, or all on a switch;
// NICs of one GPU or of two; slow and fast ones.
std::string random_copies(std::uint64_t seed) {
  Rng rng(seed, "property/alike");
  const auto one_of = [&rng](std::initializer_list<int> values) {
    return values.begin()[rng() % values.size()];
  };
  const auto text = [](int number) { return std::to_string(number); };
  const int per_node = one_of({2, 4});
  const int tensor = std::min(per_node, one_of({1, 2, 4}));
  const int pipeline = one_of({1, 1, 2, 4});
  const int of_stage = 4 * one_of({2, 3, 4});  // nodes
  const int copies = of_stage * per_node / tensor;
  const int context = one_of({1, 1, 2});
  const int nics = one_of({1, per_node});
  const bool experts = one_of({0, 0, 1}) == 1;
  const std::string network =
      one_of({0, 1, 1}) == 0
          ? "shape: switch, endpoints_per_leaf: ~, oversubscription: ~"
          : "endpoints_per_leaf: " + text(nics * one_of({1, 2})) + ", oversubscription: 1";
  const std::string rate = text(one_of({50, 200, 400})) + " Gb/s";
  std::string all =
      "name: random\ncluster:\n  base: clusters/nodes_16x_8x_h100\n  gpus_per_node: " +
      text(per_node) + "\n  nodes: " + text(of_stage * pipeline) +
      "\n  nic: {per_node: " + text(nics) + ", bandwidth: " + rate + "}\n  scale_out: {" + network +
      ", link: {bandwidth: " + rate + "}}\nworkload:\n" +
      (experts ? "  base: models/mixtral_8x7b\n  moe: {inner: 4096}\n"
               : "  base: models/llama3_8b\n") +
      "  phase: training\n  model: {layers: " + text(pipeline * one_of({1, 2})) +
      ", vocabulary: 4096, hidden: 1024, heads: 16, kv_heads: 8" +
      (experts ? "" : ", inner: 4096") +
      "}\n  sequence_length: 1024\n  microbatch: 1\n  sequences: " +
      text(copies / context * one_of({1, 2})) + "\n  parallel: {tensor: " + text(tensor) +
      ", pipeline: " + text(pipeline) + ", context: " + text(context) +
      ", data: " + text(copies / context);
  const char* shard = one_of({0, 1, 2, 3}) == 0 ? "none" : "optimizer";
  if (one_of({0, 1}) == 1) {
    shard = pipeline == 1 && one_of({0, 1}) == 0 ? "gradients" : "parameters";
  }
  all += std::string(", shard: ") + shard;
  const int parts = one_of({1, 2});
  if (experts) all += ", expert: " + text(per_node / parts) + ", expert_tensor: " + text(parts);
  return all + "}\nmodes: [bulk]\n";
}

// Those that have none to stand for others are counted: of many it must not be most.
TEST(AlikeCopies, take_as_long_as_all_copies) {
  int folded = 0;
  int seeds = 0;
  for_each_seed(12, random_copies, [&](std::uint64_t, const std::string& text) {
    const Scenario scenario = scenario_of(text);
    ++seeds;
    const alike_copies_testing::Alike alike(scenario);
    if (!alike.some) return;
    ++folded;
    const RunResult few = alike.run(Mode::bulk);
    const RunResult all = alike_copies_testing::by_all_copies(scenario, Mode::bulk);
    const double whole = to_microseconds(all.time);
    EXPECT_NEAR(to_microseconds(few.time) / whole, 1, 1e-3)
        << to_microseconds(few.time) << " us " << text;
    EXPECT_LE(lower_bound_us(build_model(scenario), scenario.cluster.gpu), whole) << text;
    EXPECT_EQ(few.ledger.wgs.done, all.ledger.wgs.done) << text;
    EXPECT_EQ(few.ledger.messages.done, all.ledger.messages.done) << text;
    EXPECT_EQ(few.ledger.flops.done, all.ledger.flops.done) << text;
  });
  if (seeds >= 12) {
    EXPECT_GE(2 * folded, seeds);
  }
}

}  // namespace
}  // namespace weft::alike_copies_property_test
