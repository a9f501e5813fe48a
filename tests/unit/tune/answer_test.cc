// What a search says of what it found, from rows made up for it.
#include "sim/tune/answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/tune/told.h"

namespace weft::answer_test {
namespace {

SweepAxis axis(const std::string& name, const std::vector<std::string>& values) {
  SweepKey key;
  key.keys = {"workload", name};
  key.column = name;
  for (const std::string& value : values) {
    key.values.emplace_back();
    key.cells.emplace_back(value);
  }
  return {.keys = {key}};
}

// Two knobs of two and three values.
SweepPlan plan() {
  SweepPlan made;
  made.name = "made";
  made.axes = {axis("a", {"a0", "a1"}), axis("b", {"b0", "b1", "b2"})};
  for (std::uint32_t a = 0; a < 2; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) made.points.push_back({.values = {a, b}});
  }
  return made;
}

Row row(const SweepPlan& plan, std::size_t point) {
  Row made;
  made.row = point;
  made.cells = cells_of(plan, plan.points[point]);
  return made;
}

Row row(const SweepPlan& plan, std::size_t point, double time_us, double memory) {
  Row made = row(plan, point);
  made.outcome.ok = true;
  made.outcome.summary =
      fmt::format(R"({{"modes": {{"bulk": {{"time_us": {}, "memory_of_fullest_gpu_bytes": {}}}}}, )"
                  R"("speedup": {{}}}})",
                  time_us, memory);
  return made;
}

class Answers : public ::testing::Test {
 protected:
  // Point 2 is the best; 5 was not tried, 3 cannot be run.
  void SetUp() override {
    tuned_.rows = {row(plan_, 0, 120, 5e9), row(plan_, 1, 110, 9e9), row(plan_, 2, 100, 8e9)};
    tuned_.rows.push_back(row(plan_, 3));
    tuned_.rows.push_back(row(plan_, 4, 102, 9e9));
    tuned_.start = tuned_.rows[0];
    tuned_.start_values = {0, 0};
    tuned_.simulated = 4;
    tuned_.cannot_run = 1;
    tuned_.untried = 1;
    tuned_.bound = 80;
  }

  [[nodiscard]] std::string told(const Answer& answer) const {
    return text_of(Told{.plan = plan_,
                        .tuned = tuned_,
                        .answer = answer,
                        .objectives = objectives_,
                        .tie = 0.03,
                        .command = ""});
  }

  SweepPlan plan_ = plan();
  Tuned tuned_;
  Objectives objectives_ = {Objective{}};
};

TEST_F(Answers, has_the_best_first_and_those_that_are_as_good) {
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  ASSERT_EQ(answer.trials.size(), 4U);
  EXPECT_EQ(answer.trials[0].row->row, 2U);
  EXPECT_EQ(answer.trials[1].row->row, 4U);
  EXPECT_EQ(answer.ties, 1U);  // 102 of 100
  EXPECT_EQ(answer_of(plan_, tuned_, objectives_, 0.01).ties, 0U);
}

TEST_F(Answers, says_what_each_value_of_a_knob_costs_all_else_as_in_the_best) {
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  ASSERT_EQ(answer.knobs.size(), 2U);
  const Knob& b = answer.knobs[1];
  EXPECT_EQ(b.best, 2U);
  EXPECT_EQ(b.start, 0U);
  EXPECT_NEAR(b.values[0].longer, 0.2, 1e-12);
  EXPECT_NEAR(b.values[1].longer, 0.1, 1e-12);
  const KnobValue& a1 = answer.knobs[0].values[1];
  EXPECT_EQ(a1.known, KnobValue::Known::estimated);  // point 5
}

// Its effect would be none, whatever it is.
TEST_F(Answers, have_no_estimate_of_a_value_that_nothing_simulated_has) {
  std::erase_if(tuned_.rows, [](const auto& row) { return row.row >= 3; });  // all of a1
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  EXPECT_EQ(answer.knobs[0].values[1].known, KnobValue::Known::untried);
  EXPECT_NE(told(answer).find("a1 ?"), std::string::npos) << told(answer);
}

// Less memory than all faster ones: 8 GB at 100 us, 5 GB at 120; 9 GB at 110 is worse in both.
TEST_F(Answers, has_the_front_of_time_and_memory) {
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  ASSERT_EQ(answer.front.size(), 2U);
  EXPECT_EQ(answer.trials[answer.front[0]].row->row, 2U);
  EXPECT_EQ(answer.trials[answer.front[1]].row->row, 0U);
}

// Of 100 us with 8 GB, 102 with 9, 110 with 9 and 120 with 5, both are wanted: the first and the
// last, each with what it has of the other objective.
TEST_F(Answers, has_the_front_of_what_is_wanted) {
  objectives_.push_back({.column = "memory_of_fullest_gpu_bytes"});
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  ASSERT_EQ(answer.front.size(), 2U);
  const Trial& last = answer.trials[answer.front[1]];
  EXPECT_EQ(last.row->row, 0U);
  ASSERT_EQ(last.besides.size(), 1U);
  EXPECT_EQ(last.besides[0].value, 5e9);
  const std::string text = told(answer);
  for (const char* words :
       {"best: bulk 100.000 us, memory_of_fullest_gpu_bytes 8,000,000,000  a=a0 b=b2\n",
        "none is better in both\n"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << text;
  }
}

// As much as can be of the second: 110 us with 9 GB is beaten by 102 with as much.
TEST_F(Answers, has_no_point_on_the_front_that_is_only_as_good) {
  objectives_.push_back({.column = "memory_of_fullest_gpu_bytes", .larger_is_better = true});
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  ASSERT_EQ(answer.front.size(), 2U);
  EXPECT_EQ(answer.trials[answer.front[0]].row->row, 2U);
  EXPECT_EQ(answer.trials[answer.front[1]].row->row, 4U);
}

TEST_F(Answers, say_how_much_better_the_best_is_than_the_defaults) {
  tuned_.defaults = row(plan_, 0, 150, 5e9);
  const std::string text = told(answer_of(plan_, tuned_, objectives_, 0.03));
  EXPECT_NE(text.find("1.50x the same with weft's defaults of these keys (bulk 150.000 us)\n"),
            std::string::npos)
      << text;
}

TEST_F(Answers, are_told_in_words) {
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  const std::string text = told(answer);
  for (const char* words :
       {"best: bulk 100.000 us  a=a0 b=b2\n", "1.20x the scenario as it is (bulk 120.000 us)\n",
        "6 points: 4 simulated, 1 cannot be run, 1 not tried; none of these can be below 80.000 us "
        "(20.0 % less)\n  1 cannot be run: ",
        "1 other is within 3 %, which weft cannot tell apart; other knobs as in the best:\n  +2.0 "
        "% "
        "bulk  a=a1 b=b1\n",
        "b0 +20.0 %,  b1 +10.0 %"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << text;
  }
}

TEST_F(Answers, say_so_where_the_scenario_was_better_already) {
  tuned_.start = row(plan_, 0, 90, 5e9);
  const Answer answer = answer_of(plan_, tuned_, objectives_, 0.03);
  const std::string text = told(answer);
  EXPECT_NE(text.find("the scenario as it is is better: bulk 90.000 us\n"), std::string::npos)
      << text;
}

TEST_F(Answers, have_no_trials_where_nothing_ran) {
  tuned_.rows.clear();
  EXPECT_TRUE(answer_of(plan_, tuned_, objectives_, 0.03).trials.empty());
}

}  // namespace
}  // namespace weft::answer_test
