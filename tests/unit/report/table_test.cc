#include "sim/report/table.h"

#include <gtest/gtest.h>

#include "tests/unit/report/made_up_results.h"

namespace weft::table_test {
namespace {

using testing::add_run;

TEST(Table, aligns_columns_and_names_the_busiest_link) {
  RunReport report = testing::two_gpus();
  report.peak_rss_bytes = 345'000'000;
  add_run(report, Mode::bulk, microseconds(12'345),
          {.computing = 50, .exposed = 46, .cu = 43, .hbm = 41, .link = 78});
  add_run(report, Mode::fused, microseconds(900),
          {.computing = 90, .exposed = 5, .cu = 88, .hbm = 80, .link = 70});
  EXPECT_EQ(table(report),
            R"(embedding + all-to-all   2 nodes x 1 toy   1 NIC of 0 Gb/s per node, )"
            R"(2 on one switch, 200 Gb/s
mode    time         vs bulk   exposed comm   CU busy   HBM busy   links busy (max)
bulk    12.345 ms    1.00x     5.679 ms       43 %      41 %       78 % scale_out_x+
fused   900.000 us   13.72x    45.000 us      88 %      80 %       70 % scale_out_x+
why: bulk computes for 50 % of the time (bound by HBM, 82 % busy) and only communicates for 46 %
     (scale_out_x+ busy during computation too); fused is bound by HBM (80 % busy). Against bulk,
     fused is 13.72x as fast: it hides 99 % of the exposed communication (5.679 ms in bulk,
     45.000 us here). The price of fusing: 7 WGs per CU instead of 8. Bulk here: the scenario's own
     lookups.
ledger: balanced (128 WGs, 20 messages, 8.19 kB, 2 modes together))"
            "   2.00 M events in 1 s (2.00 M events/s, 345 MB)\n");
}

TEST(Table, compares_fusing_with_the_best_of_whole_kernels_and_names_it) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(1000), {});
  add_run(report, Mode::kernel, microseconds(900), {});
  add_run(report, Mode::fused, microseconds(750), {});
  EXPECT_NE(table(report).find("mode     time         vs bulk   vs unfused     exposed comm"),
            std::string::npos)
      << table(report);
  EXPECT_NE(table(report).find("fused    750.000 us   1.33x     1.20x kernel   0 us"),
            std::string::npos)
      << table(report);
}

TEST(Table, compares_with_nothing_where_bulk_was_not_run) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::fused, microseconds(900), {.link = 70});
  EXPECT_NE(table(report).find("fused   900.000 us   -         0 us"), std::string::npos)
      << table(report);
}

TEST(Table, a_single_gpu_has_no_links) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(900), {}).links.clear();
  EXPECT_NE(table(report).find("0 %       0 %        -\n"), std::string::npos) << table(report);
}

TEST(Table, says_what_does_not_balance) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(900), {}).ledger.messages.done = 9;
  EXPECT_NE(table(report).find("ledger: NOT BALANCED: bulk: messages asked 10, done 9   "),
            std::string::npos)
      << table(report);
}

}  // namespace
}  // namespace weft::table_test
