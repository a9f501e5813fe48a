// Which modes overlap which pairs of operator and collective.
#include "sim/scenario/modes.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::modes_test {
namespace {

std::vector<Mode> modes_for(const PairTraits& pair) {
  std::vector<Mode> modes;
  for (const Mode mode : modes_of(WorkloadKind::gemm_all_reduce)) {
    if (why_not(pair, mode).empty()) modes.push_back(mode);
  }
  return modes;
}

TEST(WhyNot, every_mode_suits_a_reduce_scatter_and_input_of_a_node) {
  const std::vector<Mode> all = {Mode::bulk,  Mode::kernel,     Mode::pipelined,
                                 Mode::fused, Mode::role_split, Mode::copy_fed};
  EXPECT_EQ(modes_for({.op = CollectiveOp::reduce_scatter}), all);
  EXPECT_EQ(modes_for({.op = CollectiveOp::all_gather, .travels = Travels::input}), all);
}

TEST(WhyNot, an_all_reduce_has_no_parts_and_results_of_an_all_to_all_leave_no_sum) {
  EXPECT_EQ(modes_for({.op = CollectiveOp::all_reduce}),
            (std::vector<Mode>{Mode::bulk, Mode::kernel, Mode::fused, Mode::role_split}));
  EXPECT_EQ(modes_for({.op = CollectiveOp::all_to_all}),
            (std::vector<Mode>{Mode::bulk, Mode::kernel, Mode::pipelined, Mode::fused,
                               Mode::role_split}));
}

TEST(WhyNot, copy_engines_do_not_leave_the_node) {
  EXPECT_EQ(modes_for({.op = CollectiveOp::reduce_scatter, .in_a_node = false}),
            (std::vector<Mode>{Mode::bulk, Mode::kernel, Mode::fused, Mode::role_split}));
}

TEST(WhyNot, wgs_with_rows_of_several_peers_have_no_chunks_or_parts) {
  EXPECT_EQ(
      modes_for({.op = CollectiveOp::all_to_all, .travels = Travels::input, .scatters = true}),
      (std::vector<Mode>{Mode::bulk, Mode::fused, Mode::role_split}));
}

// The rule of pairs, asked for a scenario.
TEST(WhyNot, a_scenario_is_its_pair) {
  Scenario scenario;
  scenario.workload.kind = WorkloadKind::gemm_all_reduce;
  scenario.cluster.nodes = 2;
  scenario.cluster.gpu.cus = 8;
  EXPECT_EQ(why_not(scenario, Mode::pipelined),
            "an all-reduce has no part for each peer; the pair of a reduce-scatter has");
  scenario.workload.kind = WorkloadKind::all_gather_gemm;
  EXPECT_EQ(why_not(scenario, Mode::copy_fed), "copy engines reach the GPUs of one node only");
  scenario.cluster.nodes = 1;
  EXPECT_EQ(why_not(scenario, Mode::copy_fed), "");
  scenario.cluster.gpu.cus = 1;
  EXPECT_EQ(why_not(scenario, Mode::role_split), "a GPU of one CU has none to spare for sending");
}

}  // namespace
}  // namespace weft::modes_test
