// Ways of single pairs, by what the pairs take by themselves.
#include "sim/models/pair_ways.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/models/build_model.h"
#include "tests/sanitized.h"
#include "tests/unit/models/built.h"

namespace weft::pair_ways_test {
namespace {

// Layers on one node of eight H100.
Scenario layers(int number) {
  Scenario scenario = models_testing::scenario_of(
      "{kind: transformer, phase: prefill, model: {layers: " + std::to_string(number) +
          ", hidden: 1024, heads: 8, kv_heads: 8, inner: 4096, vocabulary: 2048}, sequences: 1, "
          "sequence_length: 2048, microbatch: 1, parallel: {tensor: 8, sequence: true}}",
      1);
  scenario.modes = {Mode::mixed};
  return scenario;
}

// What is asked of a model, with all that it needs.
class Asked {
 public:
  explicit Asked(const Scenario& scenario)
      : scenario_(scenario),
        cluster_(build_cluster(scenario_.cluster)),
        graph_(build_model(scenario_)),
        model_(scenario_, cluster_, graph_) {}

  std::vector<PairWays> ways(const PairTrials& how = {}) {
    return pair_ways(model_, scenario_, how);
  }
  ModelRun& model() { return model_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  Scenario scenario_;
  Cluster cluster_;
  ModelGraph graph_;
  ModelRun model_;
};

// Of two layers, found once for all tests that only look at them.
struct Found {
  Asked asked{layers(2)};
  std::vector<PairWays> ways = asked.ways();
};
Found& two_layers() {
  static Found found;
  return found;
}

const PairWays& of(const std::vector<PairWays>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(),
                       [&name](const PairWays& pair) { return pair.name == name; });
}

// Each layer has the same four; the model's ends have none with sequence parallelism but the head.
TEST(PairWays, are_of_each_name_once_however_many_layers_there_are) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  const std::vector<PairWays>& two = two_layers().ways;
  const std::vector<PairWays> four = Asked(layers(4)).ways();
  const std::string down = "mlp_down + mlp_down_reduce";
  EXPECT_EQ(std::count_if(four.begin(), four.end(),
                          [&](const PairWays& pair) { return pair.name == down; }),
            1);
  EXPECT_EQ(two.size(), four.size());
  EXPECT_EQ(of(four, down).bulk, of(two, down).bulk * 2);
  EXPECT_EQ(of(four, down).computing, "mlp_down");
}

// The promise: a rule's time is that of a step in which these pairs follow it, but for what they
// share with others. By itself a pair in mode bulk is what the table of candidates says.
TEST(PairWays, have_the_times_of_the_pairs_by_themselves) {
  Asked& asked = two_layers().asked;
  for (const Candidate& one : asked.model().candidates()) {
    PairRule rule;
    rule.pair = one.name;
    for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
      rule.mode = mode;
      const auto time = asked.model().time_by(rule, asked.scenario().run);
      ASSERT_TRUE(time) << one.name;
      EXPECT_EQ(*time, one.time_in(mode) * one.times) << one.name;
    }
  }
}

TEST(PairWays, begin_with_the_best_of_each_mode_the_shortest_first) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  for (const PairWays& pair : two_layers().ways) {
    std::vector<Mode> modes;
    Duration last;
    for (const TriedWay& way : pair.ways) {
      if (std::find(modes.begin(), modes.end(), way.rule.mode) != modes.end()) break;
      modes.push_back(way.rule.mode);
      EXPECT_GE(way.time, last) << pair.name;
      last = way.time;
    }
    for (const TriedWay& way : pair.ways) {
      const auto best = std::find_if(pair.ways.begin(), pair.ways.end(), [&](const TriedWay& one) {
        return one.rule.mode == way.rule.mode;
      });
      EXPECT_LE(best->time, way.time) << pair.name;
    }
  }
}

TEST(PairWays, vary_only_the_knobs_of_their_mode) {
  for (const PairWays& pair : two_layers().ways) {
    for (const auto& [rule, time] : pair.ways) {
      EXPECT_EQ(rule.pair, pair.name);
      EXPECT_TRUE(rule.mode == Mode::kernel || rule.chunks == 0);
      EXPECT_TRUE(rule.mode == Mode::role_split || rule.sending_cus == 0);
      if (rule.mode == Mode::bulk || rule.mode == Mode::pipelined) {
        EXPECT_EQ(rule.slice_wgs + rule.max_wgs_per_cu, 0);
        EXPECT_FALSE(rule.order);
      }
    }
  }
}

// Without rules a pair takes the fastest mode with the scenario's knobs, which is no news.
TEST(PairWays, leave_out_what_the_pairs_do_without_rules) {
  Asked& asked = two_layers().asked;
  for (const PairWays& pair : two_layers().ways) {
    Duration as_it_is;
    for (const Candidate& one : asked.model().candidates()) {
      if (one.name != pair.name) continue;
      as_it_is += asked.model().time_without_rules(one) * one.times;
    }
    for (const TriedWay& way : pair.ways) EXPECT_NE(way.time, as_it_is) << pair.name;
  }
}

TEST(PairWays, are_none_longer_than_the_shortest_by_more_than_a_quarter_but_bulk) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  for (const PairWays& pair : two_layers().ways) {
    for (const TriedWay& way : pair.ways) {
      if (way.rule.mode == Mode::bulk) continue;
      EXPECT_LE(to_microseconds(way.time), 1.25 * to_microseconds(pair.ways.front().time));
    }
  }
}

TEST(PairWays, are_the_same_however_many_are_tried_at_a_time) {
  const std::vector<PairWays>& one = two_layers().ways;
  const std::vector<PairWays> three = Asked(layers(2)).ways({.at_a_time = 3});
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].name, three[i].name);
    ASSERT_EQ(one[i].ways.size(), three[i].ways.size());
    for (std::size_t w = 0; w < one[i].ways.size(); ++w) {
      EXPECT_EQ(one[i].ways[w].rule, three[i].ways[w].rule);
      EXPECT_EQ(one[i].ways[w].time, three[i].ways[w].time);
    }
  }
}

TEST(PairWays, stop_where_they_are_asked_to) {
  struct Stop {};
  Asked asked(layers(2));
  EXPECT_THROW(asked.ways({.stop_if_asked = [] { throw Stop{}; }}), Stop);
}

TEST(PairWays, are_none_of_a_model_without_pairs) {
  EXPECT_TRUE(Asked(models_testing::scenario_of(
                        "{kind: transformer, phase: prefill, model: {layers: 2, hidden: 2048, "
                        "heads: 16, kv_heads: 8, inner: 8192, vocabulary: 4096}, sequences: 8, "
                        "sequence_length: 1024, microbatch: 1, parallel: {data: 8}}",
                        1))
                  .ways()
                  .empty());
}

}  // namespace
}  // namespace weft::pair_ways_test
