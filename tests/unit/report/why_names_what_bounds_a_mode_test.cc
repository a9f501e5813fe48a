#include <gtest/gtest.h>

#include "sim/report/why.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::why_names_what_bounds_a_mode_test {
namespace {

using testing::add_run;
using testing::Shares;

struct Case {
  const char* name;
  Shares shares;
  Bound bound;
  const char* says;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class WhyBound : public ::testing::TestWithParam<Case> {};

TEST_P(WhyBound, is_named_with_its_number) {
  RunReport report = testing::two_gpus();
  const RunResult& result = add_run(report, Mode::bulk, microseconds(1000), GetParam().shares);
  EXPECT_EQ(bound_of(report, result), GetParam().bound);
  EXPECT_EQ(why(report), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    , WhyBound,
    ::testing::Values(
        Case{"links",
             {.computing = 50, .exposed = 45, .cu = 90, .hbm = 70, .link = 93},
             Bound::links,
             "bulk is bound by scale_out_x+ (93 % busy)."},
        Case{"hbm",
             {.computing = 95, .exposed = 2, .cu = 99, .hbm = 88, .link = 61},
             Bound::hbm,
             "bulk is bound by HBM (88 % busy)."},
        Case{"phases",
             {.computing = 50, .exposed = 45, .cu = 49, .hbm = 45, .link = 40},
             Bound::phases,
             "bulk computes for 50 % of the time (bound by HBM, 90 % busy) and only communicates "
             "for 45 % (bound by scale_out_x+, 89 % busy)."},
        Case{"phases_though_hbm_is_busy_for_long",
             {.computing = 72, .exposed = 25, .cu = 70, .hbm = 72, .link = 22},
             Bound::phases,
             "bulk computes for 72 % of the time (bound by HBM, 100 % busy) and only communicates "
             "for 25 % (bound by scale_out_x+, 88 % busy)."},
        Case{"phases_of_fixed_costs",
             {.computing = 50, .exposed = 45, .cu = 40, .hbm = 10, .link = 9},
             Bound::phases,
             "bulk computes for 50 % of the time (HBM 20 % busy) and only communicates for 45 % "
             "(scale_out_x+ 20 % busy, the rest start-up, latency and channels)."},
        Case{"overlapping_phases",
             {.computing = 75, .exposed = 20, .cu = 70, .hbm = 66, .link = 40},
             Bound::phases,
             "bulk computes for 75 % of the time (bound by HBM, 88 % busy) and only communicates "
             "for 20 % (scale_out_x+ busy during computation too)."},
        Case{"phases_with_a_part_of_neither",
             {.computing = 50, .exposed = 25, .cu = 49, .hbm = 45, .link = 10},
             Bound::phases,
             "bulk computes for 50 % of the time (bound by HBM, 90 % busy) and only communicates "
             "for 25 % (scale_out_x+ 40 % busy, the rest start-up, latency and channels), and has "
             "no kernel on a GPU for 25 % of the time: launches, or waiting for other GPUs."},
        Case{"wgs",
             {.computing = 95, .exposed = 1, .cu = 92, .hbm = 40, .link = 12},
             Bound::wgs,
             "bulk is bound by the latency and arithmetic of its resident WGs (CUs 92 % busy, HBM "
             "40 %, scale_out_x+ 12 %)."},
        Case{"wgs_of_a_pipeline_whose_stages_wait",
             {.computing = 62, .exposed = 3, .cu = 59, .hbm = 25, .link = 5},
             Bound::wgs,
             "bulk is bound by the latency and arithmetic of its resident WGs (CUs 59 % busy, HBM "
             "25 %, scale_out_x+ 5 %), and has no kernel on a GPU for 35 % of the time: launches, "
             "or waiting for other GPUs."},
        Case{"a_resource_that_is_busy_for_most_of_the_time_is_no_bound",
             {.computing = 95, .exposed = 2, .cu = 90, .hbm = 72, .link = 61},
             Bound::wgs,
             "bulk is bound by the latency and arithmetic of its resident WGs (CUs 90 % busy, HBM "
             "72 %, scale_out_x+ 61 %)."},
        Case{"tail",
             {.computing = 95, .exposed = 1, .cu = 20, .hbm = 10, .link = 12},
             Bound::tail,
             "bulk computes for 95 % of the time with too few WGs, or a long tail (CUs 20 % busy, "
             "HBM 10 %, scale_out_x+ 12 %)."},
        Case{"transfer",
             {.computing = 5, .exposed = 90, .cu = 5, .hbm = 5, .link = 45},
             Bound::transfer,
             "bulk only communicates for 90 % of the time (scale_out_x+ 50 % busy, the rest "
             "start-up, latency and channels)."},
        Case{"gaps",
             {.computing = 20, .exposed = 9, .cu = 15, .hbm = 10, .link = 5},
             Bound::gaps,
             "bulk has no kernel on a GPU for 71 % of the time: launches, or waiting for other "
             "GPUs (CUs 15 % busy, HBM 10 %, scale_out_x+ 5 %)."}),
    [](const auto& one) { return one.param.name; });

// One of two GPUs is done after 100 us of 1000: half of the other 900 us is what it waits.
TEST(Why, says_that_gpus_end_apart_where_most_of_the_rest_is_that) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(1000),
                              {.computing = 60, .exposed = 30, .cu = 30, .hbm = 20, .link = 5});
  GpuUse& early = result.gpus.front();
  early.end = SimTime{} + microseconds(100);
  early.computing = microseconds(60);
  early.active = microseconds(90);
  // Together they compute for (60 + 600) / 2 = 330 us, and communicate for (30 + 300) / 2 = 165 us.
  EXPECT_EQ(bound_of(report, result), Bound::ends);
  EXPECT_EQ(why(report),
            "bulk has GPUs that finish at different times: for 45 % of the time they wait for the "
            "last one (CUs 30 % busy, HBM 20 %, scale_out_x+ 5 %).");
}

TEST(Why, says_so_beside_phases_too) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(1000),
                              {.computing = 60, .exposed = 40, .cu = 30, .hbm = 20, .link = 5});
  GpuUse& early = result.gpus.front();
  early.end = SimTime{} + microseconds(600);
  early.computing = microseconds(400);
  early.active = microseconds(600);
  EXPECT_EQ(bound_of(report, result), Bound::phases);
  EXPECT_NE(
      why(report).find("and has GPUs that finish at different times: for 20 % of the time they "
                       "wait for the last one."),
      std::string::npos)
      << why(report);
}

// Of 250 us in which only a collective runs, less than half is on the critical path: meanwhile
// another GPU computes, for which it waits.
TEST(Why, names_gpus_that_come_later_to_a_collective) {
  const auto why_of = [](Duration critical) {
    RunReport report = testing::two_gpus();
    RunResult& result = add_run(report, Mode::bulk, microseconds(1000),
                                {.computing = 75, .exposed = 25, .cu = 70, .hbm = 45, .link = 5});
    OperatorUse gemm;
    gemm.critical = microseconds(750);
    OperatorUse exchange;
    exchange.role = KernelRole::collective;
    exchange.critical = critical;
    result.operators = {gemm, exchange};
    return why(report);
  };
  EXPECT_NE(why_of(microseconds(120))
                .find("(scale_out_x+ 20 % busy, most of the rest waits for "
                      "GPUs that come later)"),
            std::string::npos)
      << why_of(microseconds(120));
  EXPECT_NE(why_of(microseconds(125)).find("the rest start-up"), std::string::npos);
}

TEST(Why, names_the_proxy_that_is_busier_than_the_links) {
  RunReport report = testing::two_gpus();
  const RunResult& result =
      add_run(report, Mode::fused, microseconds(100), {.hbm = 40, .link = 12, .proxy = 96});
  EXPECT_EQ(bound_of(report, result), Bound::proxy);
  EXPECT_EQ(why(report), "fused is bound by the CPU thread that posts for a GPU (96 % busy).");
}

TEST(Why, names_the_proxy_where_it_bounds_only_the_communication) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(1000),
          {.computing = 50, .exposed = 45, .cu = 49, .hbm = 45, .link = 8, .proxy = 40});
  EXPECT_EQ(
      why(report),
      "bulk computes for 50 % of the time (bound by HBM, 90 % busy) and only communicates for "
      "45 % (bound by the CPU thread that posts for a GPU, 89 % busy).");
}

TEST(Why, names_the_link_where_the_proxy_is_less_busy) {
  RunReport report = testing::two_gpus();
  const RunResult& result =
      add_run(report, Mode::fused, microseconds(100), {.link = 90, .proxy = 70});
  EXPECT_EQ(bound_of(report, result), Bound::links);
}

// A fused kernel sends for itself, and so do copy engines.
TEST(Why, names_no_channels_where_there_are_none) {
  const auto says = [](KernelRole role, Duration cu_time) {
    RunReport report = testing::two_gpus();
    RunResult& result = add_run(report, Mode::bulk, microseconds(1000),
                                {.computing = 5, .exposed = 90, .cu = 5, .hbm = 5, .link = 45});
    OperatorUse use = result.operators.front();
    use.role = role;
    use.cu_time = cu_time;
    result.operators.push_back(use);
    return why(report);
  };
  const std::string none = "(scale_out_x+ 50 % busy, the rest start-up and latency).";
  EXPECT_NE(says(KernelRole::fused, microseconds(9)).find(none), std::string::npos);
  EXPECT_NE(says(KernelRole::collective, {}).find(none), std::string::npos) << "copy engines";
  EXPECT_NE(says(KernelRole::collective, microseconds(9)).find("latency and channels"),
            std::string::npos);
}

// Kernels of one WG each, for the trace says of no more: they are not too few.
TEST(Why, does_not_blame_wgs_that_a_trace_does_not_name) {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::chakra;
  RunResult& result = add_run(report, Mode::bulk, microseconds(100), {.computing = 95, .cu = 1});
  EXPECT_NE(why(report).find("too few WGs"), std::string::npos);
  result.operators.front().wgs = result.operators.front().kernels;
  EXPECT_EQ(why(report),
            "bulk computes for 95 % of the time, as recorded: the trace does not say with how many "
            "WGs.");
}

TEST(Why, names_the_class_of_the_busiest_link) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::fused, microseconds(100), {.link = 70});
  LinkRow nic = result.links.front();
  nic.link_class = "nic_send";
  nic.use.busy = microseconds(90);
  result.links.push_back(nic);
  EXPECT_EQ(why(report), "fused is bound by nic_send (90 % busy).");
}

}  // namespace
}  // namespace weft::why_names_what_bounds_a_mode_test
