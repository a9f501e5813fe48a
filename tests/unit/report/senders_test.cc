// CUs that only send: how many, and whether too few of them or of the others are what takes long.
#include "sim/report/senders.h"

#include <gtest/gtest.h>

#include "sim/report/why.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::senders_test {
namespace {

using ::testing::Test;
using testing::wait_of;

// Two GPUs of 10 CUs, 1 ms; WGs that compute are at work for 100 ms in all, those that send, on 4
// CUs, for 20 ms, in kernels that last until the end.
class Senders : public Test {
 protected:
  RunReport report_ = testing::two_gpus();
  RunResult* run_ = nullptr;

  void SetUp() override {
    run_ = &testing::add_run(report_, Mode::role_split, microseconds(1000),
                             {.computing = 95, .exposed = 5, .cu = 60, .link = 40});
    run_->operators[0].role = KernelRole::fused;
    OperatorUse sending;
    sending.name = "all_to_all (CUs of its own)";
    sending.role = KernelRole::collective;
    sending.kernels = 2;
    sending.cus = 4;
    sending.wg_time = microseconds(20'000);
    sending.sum = microseconds(2'000);
    run_->operators.push_back(sending);
  }
  void set_exposed(int percent) {
    for (GpuUse& gpu : run_->gpus) {
      gpu.computing = microseconds(10 * (100 - percent));
      gpu.active = microseconds(1000);
    }
  }
  [[nodiscard]] std::string text() const {
    return senders_text(report_, *run_, measure(report_, *run_));
  }
};

TEST_F(Senders, are_counted_of_pairs_in_mode_role_split) {
  EXPECT_EQ(sending_cus(report_, *run_), 4);
  run_->mode = Mode::fused;
  EXPECT_EQ(sending_cus(report_, *run_), 0);
  run_->mode = Mode::role_split;
  report_.scenario.workload.kind = WorkloadKind::transformer;
  EXPECT_EQ(sending_cus(report_, *run_), 0);
}

TEST_F(Senders, are_too_few_where_they_work_long_after_the_last_result) {
  EXPECT_EQ(text(), "");
  set_exposed(40);
  EXPECT_EQ(text(),
            " Too few CUs send: for 40 % of the time no WG computes; fused.sending_cus above 4 may "
            "be faster.");
  run_->links.front().use.busy = microseconds(850);  // more of them would find it full
  EXPECT_EQ(text(), "");
  run_->links.front().use.busy = microseconds(400);
  run_->operators[1].cus = 9;  // of 10: one has to compute
  EXPECT_EQ(text(), "");
}

// At work, posting and storing for 40 ms, waiting for results for 160.
TEST_F(Senders, are_too_many_where_they_mostly_wait_for_results) {
  wait_of(*run_, Wait::store) = microseconds(20'000);
  wait_of(*run_, Wait::flag) = microseconds(160'000);
  EXPECT_EQ(text(),
            " Too few CUs compute: WGs that send wait for results for 80 % of their time; "
            "fused.sending_cus below 4 may be faster.");
  report_.cluster.spec.gpu.cus = 100;  // of 4 CUs 80 % are 3.2 % of the GPU
  EXPECT_EQ(text(), "");
  report_.cluster.spec.gpu.cus = 10;
  run_->operators[1].cus = 1;
  EXPECT_EQ(text(), "");
}

// WGs that compute work for 100 ms and wait for 100.
TEST_F(Senders, are_too_few_where_wgs_wait_for_input) {
  report_.scenario.workload.kind = WorkloadKind::embedding_backward;
  EXPECT_EQ(text(), "");
  wait_of(*run_, Wait::flag) = microseconds(100'000);
  EXPECT_EQ(text(),
            " Too few CUs send: WGs that compute wait for input for 50 % of their time; "
            "fused.sending_cus above 4 may be faster.");
}

// Their kernels last 250 us of 1 ms.
TEST_F(Senders, are_too_many_where_all_input_is_sent_early) {
  report_.scenario.workload.kind = WorkloadKind::embedding_backward;
  run_->operators[1].sum = microseconds(500);
  EXPECT_EQ(text(),
            " Too few CUs compute: those that send do nothing for 75 % of the time; "
            "fused.sending_cus below 4 may be faster.");
}

// Part of the price, before what else fusing costs.
TEST_F(Senders, are_the_first_price_of_role_split) {
  const RunResult split = *run_;
  report_.runs.clear();
  testing::add_run(report_, Mode::bulk, microseconds(1500), {.computing = 50, .exposed = 45});
  report_.runs.push_back({.result = split, .partition = {}});
  EXPECT_NE(why(report_).find("The price of fusing: 4 of 10 CUs only send; 7 WGs per CU instead"),
            std::string::npos)
      << why(report_);
}

}  // namespace
}  // namespace weft::senders_test
