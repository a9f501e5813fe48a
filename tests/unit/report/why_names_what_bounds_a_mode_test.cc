#include <gtest/gtest.h>

#include "sim/report/why.h"
#include "tests/unit/report/made_up_results.h"

namespace weft {
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
             {.computing = 50, .exposed = 45, .cu = 49, .hbm = 45, .link = 36},
             Bound::phases,
             "bulk computes for 50 % of the time (bound by HBM, 90 % busy) and only communicates "
             "for 45 % (bound by scale_out_x+, 80 % busy)."},
        Case{"phases_though_hbm_is_busy_for_long",
             {.computing = 72, .exposed = 25, .cu = 70, .hbm = 72, .link = 20},
             Bound::phases,
             "bulk computes for 72 % of the time (bound by HBM, 100 % busy) and only communicates "
             "for 25 % (bound by scale_out_x+, 80 % busy)."},
        Case{"phases_of_fixed_costs",
             {.computing = 50, .exposed = 40, .cu = 40, .hbm = 10, .link = 8},
             Bound::phases,
             "bulk computes for 50 % of the time (HBM only 20 % busy) and only communicates for "
             "40 % (bound by start-up, latency and channels: scale_out_x+ only 20 % busy)."},
        Case{"overlapping_phases",
             {.computing = 70, .exposed = 20, .cu = 70, .hbm = 50, .link = 40},
             Bound::phases,
             "bulk computes for 70 % of the time (bound by HBM, 71 % busy) and only communicates "
             "for 20 % (scale_out_x+ busy beside computation too)."},
        Case{"wgs",
             {.computing = 95, .exposed = 1, .cu = 92, .hbm = 40, .link = 12},
             Bound::wgs,
             "bulk is bound by its resident WGs, their latency and arithmetic (CUs 92 % busy, HBM "
             "40 %, links 12 %)."},
        Case{"tail",
             {.computing = 95, .exposed = 1, .cu = 20, .hbm = 10, .link = 12},
             Bound::tail,
             "bulk computes for 95 % of the time with the CUs only 20 % busy: too few WGs, or a "
             "long tail."},
        Case{"transfer",
             {.computing = 5, .exposed = 90, .cu = 5, .hbm = 5, .link = 45},
             Bound::transfer,
             "bulk only communicates for 90 % of the time (bound by start-up, latency and "
             "channels: scale_out_x+ only 50 % busy)."},
        Case{"gaps",
             {.computing = 20, .exposed = 9, .cu = 15, .hbm = 10, .link = 5},
             Bound::gaps,
             "bulk is bound by launch gaps and fixed costs (CUs 15 % busy, HBM 10 %, links 5 %)."}),
    [](const auto& one) { return one.param.name; });

TEST(Why, names_the_proxy_that_is_busier_than_the_links) {
  RunReport report = testing::two_gpus();
  const RunResult& result =
      add_run(report, Mode::fused, microseconds(100), {.hbm = 40, .link = 12, .proxy = 96});
  EXPECT_EQ(bound_of(report, result), Bound::proxy);
  EXPECT_EQ(why(report), "fused is bound by the CPU proxy (96 % busy).");
}

TEST(Why, names_the_proxy_where_it_bounds_only_the_communication) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(1000),
          {.computing = 50, .exposed = 45, .cu = 49, .hbm = 45, .link = 8, .proxy = 36});
  EXPECT_EQ(
      why(report),
      "bulk computes for 50 % of the time (bound by HBM, 90 % busy) and only communicates for "
      "45 % (bound by the CPU proxy, 80 % busy).");
}

TEST(Why, names_the_link_where_the_proxy_is_less_busy) {
  RunReport report = testing::two_gpus();
  const RunResult& result =
      add_run(report, Mode::fused, microseconds(100), {.link = 90, .proxy = 70});
  EXPECT_EQ(bound_of(report, result), Bound::links);
}

TEST(Why, names_the_class_of_the_busiest_link) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::fused, microseconds(100), {.link = 70});
  LinkRow nic = result.links.front();
  nic.link_class = "nic_send";
  nic.use.busy = microseconds(80);
  result.links.push_back(nic);
  EXPECT_EQ(why(report), "fused is bound by nic_send (80 % busy).");
}

}  // namespace
}  // namespace weft
