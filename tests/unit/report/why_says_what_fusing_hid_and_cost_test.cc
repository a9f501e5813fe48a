#include <gtest/gtest.h>

#include "sim/report/why.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::why_says_what_fusing_hid_and_cost_test {
namespace {

using testing::add_run;
using ::testing::Test;
using testing::wait_of;

// Bulk: 1 ms, of which 500 us compute and 450 us are exposed.
class WhyAgainstBulk : public Test {
 protected:
  RunReport report_ = testing::two_gpus();
  void SetUp() override {
    report_.runs.reserve(4);  // the references that add_run returns stay good
    add_run(report_, Mode::bulk, microseconds(1000), {.computing = 50, .exposed = 45, .link = 90});
  }
  // 16 x 4 WGs of 4 samples for each of so many GPUs of a node, in slices of `slices`. Messages
  // queue at the first link, node0 0->1, or behind a switch at the only one of GPU 0.
  void set_wgs(int gpus, int slices, const char* shape = "ring") {
    ClusterSpec spec = report_.scenario.cluster;
    spec.nodes = 1;
    spec.gpus_per_node = gpus;
    if (!spec.scale_up) spec.scale_up = spec.scale_out;
    spec.scale_up->topology = Topology(shape);
    spec.scale_up->topology->settle(gpus);
    spec.scale_out.reset();
    spec.nic.reset();
    spec.gpu.fp32_vector = gigaflops(20'000);
    spec.gpu.l2 = {
        .capacity = mebibytes(8), .dies = 1, .latency = nanoseconds(300), .bandwidth = {}};
    spec.gpu.gather = {.latency = nanoseconds(500), .doubling = {}, .cached = nanoseconds(300)};
    report_.scenario.cluster = spec;
    report_.cluster = build_cluster(spec);
    EmbeddingWork& work = report_.scenario.workload.embedding;
    work.batch = std::int64_t{64} * gpus;
    work.rows_per_wg = 4;
    work.tables_per_gpu = 4;
    work.rows_per_table = 1000;
    work.dim = 16;
    work.pooling = 4;
    work.chain = 1;
    report_.scenario.fused.slice_wgs = 64 / slices;
  }
  [[nodiscard]] bool says(const std::string& words) const {
    return why(report_).find(words) != std::string::npos;
  }
};

TEST_F(WhyAgainstBulk, faster_with_what_was_hidden) {
  add_run(report_, Mode::fused, microseconds(625), {.computing = 80, .exposed = 8, .link = 90});
  EXPECT_TRUE(
      says("Against bulk, fused is 1.60x as fast: it hides 89 % of the exposed "
           "communication (450.000 us in bulk, 50.000 us here)."))
      << why(report_);
}

// 200 us of collectives in bulk, 500 us in chunks. It is the HBM only where kernels fill it.
TEST_F(WhyAgainstBulk, kernels_that_fill_the_hbm_slow_down_the_collectives_beside_them) {
  const auto collectives = [](RunResult& result, Duration sum) {
    OperatorUse use;
    use.name = "all_to_all";
    use.role = KernelRole::collective;
    use.sum = sum;
    result.operators.push_back(use);
  };
  collectives(report_.runs[0].result, microseconds(200));
  RunResult& chunked = add_run(report_, Mode::kernel, microseconds(1000),
                               {.computing = 90, .exposed = 5, .hbm = 88});
  EXPECT_FALSE(says("In kernel, collectives take"));
  collectives(chunked, microseconds(500));
  EXPECT_TRUE(says("In kernel, collectives take 2.50x their time in bulk")) << why(report_);
  chunked.operators[0].hbm = {};
  EXPECT_FALSE(says("In kernel, collectives take")) << why(report_);
}

TEST_F(WhyAgainstBulk, kernel_and_fused_share_a_sentence_and_only_fusing_has_a_price) {
  add_run(report_, Mode::kernel, microseconds(800), {.computing = 70, .exposed = 25, .link = 90});
  EXPECT_FALSE(says("price"));
  add_run(report_, Mode::fused, microseconds(500), {.computing = 90, .exposed = 9, .link = 90});
  EXPECT_TRUE(
      says("Against bulk, kernel is 1.25x as fast: it hides 56 % of the exposed "
           "communication (450.000 us in bulk, 200.000 us here); fused is 2.00x"))
      << why(report_);
  EXPECT_TRUE(says("The price of fusing: 7 WGs per CU instead of 8.")) << why(report_);
}

TEST_F(WhyAgainstBulk, waits_are_part_of_the_price_as_shares_of_all_wg_time) {
  report_.scenario.fused.extra_registers_per_thread = 0;
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 90});
  // WGs work for 100 x 500 us = 50 ms and wait for 50 ms.
  wait_of(fused, Wait::post) = microseconds(30'000);
  wait_of(fused, Wait::nic_queue) = microseconds(19'900);
  wait_of(fused, Wait::store) = microseconds(100);
  EXPECT_TRUE(
      says("The price of fusing: WGs spend 30 % of their time posting, 20 % waiting at a full NIC "
           "queue."))
      << why(report_);
}

// As WGs that work for 50 ms and waves that wait for 36 would: those hold up no WG.
TEST_F(WhyAgainstBulk, waves_that_send_do_not_wait_for_wgs) {
  report_.scenario.fused.extra_registers_per_thread = 0;
  report_.scenario.fused.sent_by = SentBy::wave;
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 90});
  wait_of(fused, Wait::store) = microseconds(36'000);
  EXPECT_TRUE(says("The price of fusing: waves that only send wait for links beside the WGs."))
      << why(report_);
  EXPECT_FALSE(says("of their time")) << why(report_);
}

TEST_F(WhyAgainstBulk, no_price_where_nothing_was_paid) {
  report_.scenario.fused.extra_registers_per_thread = 0;
  add_run(report_, Mode::fused, microseconds(500), {.link = 90});
  EXPECT_TRUE(says("The price of fusing: as many WGs per CU as in bulk, and hardly any waiting."));
}

// WGs work for 100 x 500 us = 50 ms and wait for 25 ms, a third of their time.
TEST_F(WhyAgainstBulk, waiting_for_stores_while_links_idle_is_a_matter_of_order) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 33});
  wait_of(fused, Wait::store) = microseconds(25'000);
  fused.links.front().use.queued = microseconds(20'000);
  const std::string advice = "Yet no link carries more than 33 % of what it could: ";
  set_wgs(2, 4);
  EXPECT_FALSE(says(advice)) << "of two GPUs there is only one other: " << why(report_);
  set_wgs(4, 4, "fully_connected");
  EXPECT_FALSE(says(advice)) << "they take turns in any order: " << why(report_);
  set_wgs(4, 4);
  EXPECT_TRUE(says(advice)) << why(report_);
  report_.scenario.fused.order = DestinationOrder::staggered;
  EXPECT_FALSE(says(advice));
  report_.scenario.fused.order = DestinationOrder::remote_first;
  report_.scenario.workload.kind = WorkloadKind::embedding_backward;  // input travels
  EXPECT_FALSE(says(advice));
  report_.scenario.workload.kind = WorkloadKind::transformer;  // links idle for other reasons
  EXPECT_FALSE(says(advice));
}

// All that a GPU sends passes its one link to a switch, in whatever order; but not those from it.
TEST_F(WhyAgainstBulk, waiting_at_the_only_link_of_a_gpu_is_not) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 33});
  wait_of(fused, Wait::store) = microseconds(25'000);
  fused.links.front().use.queued = microseconds(20'000);
  set_wgs(4, 4, "switch");
  EXPECT_FALSE(says("Yet no link")) << why(report_);
  const LinkRow first = fused.links.front();
  fused.links.resize(8, first);  // four up, four down
  for (LinkRow& link : fused.links) link.use.queued = {};
  fused.links[4].use.queued = microseconds(20'000);
  EXPECT_TRUE(says("Yet no link")) << why(report_);
}

// Were the links filled and none waited, it would be done in max(2/3, link) of the time.
TEST_F(WhyAgainstBulk, order_is_advised_where_it_may_bring_a_quarter) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 79});
  wait_of(fused, Wait::store) = microseconds(25'000);
  fused.links.front().use.queued = microseconds(20'000);
  set_wgs(4, 4);
  EXPECT_TRUE(says("Yet no link carries more than 79 %")) << why(report_);
  fused.links.front().use.carried = bytes(410'000'000 / 40);
  EXPECT_FALSE(says("Yet no link")) << why(report_);
  fused.links.front().use.carried = bytes(250'000'000 / 40);
  wait_of(fused, Wait::store) = microseconds(12'000);  // 12 of 62 ms
  EXPECT_FALSE(says("Yet no link")) << why(report_);
}

// Among three GPUs with one slice for each, staggered is remote_first; and where all WGs start at
// once, none waits for another's turn.
TEST_F(WhyAgainstBulk, no_order_is_advised_that_changes_nothing) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 33});
  wait_of(fused, Wait::store) = microseconds(25'000);
  fused.links.front().use.queued = microseconds(20'000);
  set_wgs(3, 4);
  EXPECT_TRUE(says("Yet no link")) << why(report_);
  report_.scenario.fused.slice_wgs = 64;
  EXPECT_FALSE(says("Yet no link")) << why(report_);
  set_wgs(4, 1);
  report_.cluster.spec.gpu.cus = 1000;
  EXPECT_FALSE(says("Yet no link")) << why(report_);
}

TEST_F(WhyAgainstBulk, waiting_for_stores_over_busy_links_is_not) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 85});
  fused.links.front().use.queued = microseconds(20'000);
  set_wgs(4, 4);
  wait_of(fused, Wait::store) = microseconds(25'000);
  EXPECT_FALSE(says("Yet no link")) << why(report_);
}

TEST_F(WhyAgainstBulk, the_same_run_again_is_said_once) {
  report_.runs[0].result.fingerprint = 7;
  for (const Mode mode : {Mode::kernel, Mode::fused}) {
    add_run(report_, mode, microseconds(1000), {.computing = 50, .exposed = 45, .link = 90})
        .fingerprint = 7;
  }
  EXPECT_TRUE(says(". The same as bulk, because nothing could be overlapped: kernel, fused."))
      << why(report_);
  EXPECT_FALSE(says("price"));
  EXPECT_FALSE(says("fused is"));
  report_.scenario.kernel.chunks = 1;
  EXPECT_TRUE(says(" The same as bulk, because kernel.chunks is 1: kernel.")) << why(report_);
}

// Of whole models, a pair is overlapped where that was faster when tried, or where it is asked for.
TEST_F(WhyAgainstBulk, the_same_run_again_because_no_pair_was_faster_or_none_is_asked_for) {
  report_.scenario.workload.kind = WorkloadKind::transformer;
  report_.runs[0].result.fingerprint = 7;
  for (const Mode mode : {Mode::kernel, Mode::pipelined, Mode::fused, Mode::role_split}) {
    add_run(report_, mode, microseconds(1000), {.computing = 50, .exposed = 45, .link = 90})
        .fingerprint = 7;
  }
  Candidate pair;
  pair.bulk = microseconds(40);
  pair.fused = pair.role_split = microseconds(41);
  pair.obstacle = "7 columns do not divide";
  report_.candidates = {pair};
  EXPECT_TRUE(
      says(" The same as bulk, because nothing could be overlapped: kernel, pipelined, fused, "
           "role_split."))
      << why(report_);
  report_.candidates[0].obstacle = "";
  EXPECT_TRUE(says(" The same as bulk, because nothing could be overlapped: kernel, pipelined."))
      << why(report_);
  EXPECT_TRUE(
      says(" The same as bulk, because no pair that could be overlapped was faster so: fused, "
           "role_split."))
      << why(report_);
  report_.scenario.workload.fuse = {.automatic = false, .patterns = {}};
  EXPECT_TRUE(says(
      " The same as bulk, because workload.fuse names no pair that could be overlapped: fused, "
      "role_split."))
      << why(report_);
}

TEST_F(WhyAgainstBulk, slower_because_computing_grew) {
  RunResult& fused =
      add_run(report_, Mode::fused, microseconds(1200), {.computing = 90, .exposed = 5});
  wait_of(fused, Wait::post) = microseconds(30'000);  // against 120 ms at work
  EXPECT_TRUE(
      says("fused is slower by 20 %: computing takes 580.000 us longer (7 WGs per CU "
           "instead of 8; WGs spend 20 % of their time posting); it hides 87 % of the exposed"))
      << why(report_);
}

TEST_F(WhyAgainstBulk, what_fusing_brings_over_the_best_of_whole_kernels) {
  add_run(report_, Mode::kernel, microseconds(900), {.computing = 70, .exposed = 25});
  EXPECT_FALSE(says("the best without"));  // nothing is fused
  add_run(report_, Mode::pipelined, microseconds(800), {.computing = 70, .exposed = 25});
  RunResult& fused = add_run(report_, Mode::fused, microseconds(640), {.computing = 80});
  EXPECT_TRUE(says(" Over pipelined, the best without fusing, fused is 1.25x as fast. The price"))
      << why(report_);
  fused.time = microseconds(801);
  EXPECT_TRUE(says(" Fusing takes as long as pipelined, the best without it."));
  fused.time = microseconds(880);
  EXPECT_TRUE(says(" Fusing is slower by 10 % than pipelined, the best without it."));
}

TEST_F(WhyAgainstBulk, the_best_of_whole_kernels_may_not_have_been_run) {
  report_.scenario.cluster.nodes = 1;  // copy engines reach all GPUs
  add_run(report_, Mode::kernel, microseconds(800), {.computing = 70, .exposed = 25});
  add_run(report_, Mode::fused, microseconds(640), {.computing = 80});
  EXPECT_TRUE(
      says(" Over kernel, the best without fusing of the modes that were run (pipelined was not), "
           "fused is 1.25x as fast."))
      << why(report_);
  add_run(report_, Mode::pipelined, microseconds(900), {.computing = 70, .exposed = 25});
  EXPECT_TRUE(says(" Over kernel, the best without fusing, fused is 1.25x as fast."))
      << why(report_);
}

// 800 us of the best without fusing, 640 of the best with it.
TEST_F(WhyAgainstBulk, the_best_of_several_that_fuse_is_named) {
  report_.runs.reserve(5);
  add_run(report_, Mode::kernel, microseconds(800), {.computing = 70, .exposed = 25});
  add_run(report_, Mode::fused, microseconds(900), {.computing = 80});
  RunResult& best = add_run(report_, Mode::copy_fed, microseconds(640), {.computing = 80});
  EXPECT_TRUE(
      says(" Over kernel, the best without fusing, copy_fed, the best with it, is 1.25x as "
           "fast."))
      << why(report_);
  best.time = microseconds(880);
  EXPECT_TRUE(
      says(" Fusing at its best, copy_fed, is slower by 10 % than kernel, the best without "
           "it."))
      << why(report_);
}

TEST_F(WhyAgainstBulk, role_split_alone_is_compared_with_the_best_of_whole_kernels_too) {
  add_run(report_, Mode::kernel, microseconds(800), {.computing = 70, .exposed = 25});
  add_run(report_, Mode::role_split, microseconds(640), {.computing = 80});
  EXPECT_TRUE(
      says(" Over kernel, the best without fusing, role_split is 1.25x as fast. The price of "
           "fusing: 7 WGs"))
      << why(report_);
}

// WGs of fused work for 100 x 500 us and wait for as long.
TEST_F(WhyAgainstBulk, each_of_several_that_fuse_has_its_price) {
  RunResult& fused = add_run(report_, Mode::fused, microseconds(500), {.link = 90});
  wait_of(fused, Wait::post) = microseconds(50'000);
  add_run(report_, Mode::copy_fed, microseconds(500), {.link = 90});
  EXPECT_TRUE(
      says(" The price of fused: 7 WGs per CU instead of 8; WGs spend 50 % of their time "
           "posting. The price of copy_fed: 7 WGs per CU instead of 8."))
      << why(report_);
}

TEST_F(WhyAgainstBulk, registers_that_are_spilled) {
  // 2 WGs of 256 threads x 256 registers fill a CU; with 8 more it would hold one.
  report_.scenario.workload.embedding.wg.registers_per_thread = 256;
  add_run(report_, Mode::fused, microseconds(500), {.computing = 80});
  EXPECT_TRUE(
      says("The price of fusing: 8 registers a thread are spilled, or a CU would hold fewer "
           "WGs."))
      << why(report_);
}

TEST_F(WhyAgainstBulk, slower_because_smaller_kernels_compute_longer) {
  add_run(report_, Mode::kernel, microseconds(1200), {.computing = 90, .exposed = 5});
  EXPECT_TRUE(
      says("computing takes 580.000 us longer (smaller kernels, or more load on HBM from "
           "communication)"))
      << why(report_);
}

TEST_F(WhyAgainstBulk, slower_because_more_is_exposed) {
  add_run(report_, Mode::fused, microseconds(2000), {.computing = 25, .exposed = 70});
  EXPECT_TRUE(
      says("fused is slower by 100 %: its communication is exposed for 950.000 us longer; "
           "it exposes more communication (450.000 us in bulk, 1.400 ms here)"))
      << why(report_);
}

TEST_F(WhyAgainstBulk, slower_because_of_gaps) {
  add_run(report_, Mode::fused, microseconds(2000), {.computing = 25, .exposed = 10});
  EXPECT_TRUE(says(
      "fused is slower by 100 %: GPUs have no kernel for 1.250 ms longer (launches, or waiting "
      "for other GPUs)"))
      << why(report_);
}

TEST_F(WhyAgainstBulk, slower_because_gpus_end_further_apart) {
  RunResult& fused =
      add_run(report_, Mode::fused, microseconds(2000), {.computing = 25, .exposed = 10});
  fused.gpus.front().end = SimTime{} + microseconds(200);  // half of 1800 us, mean of two GPUs
  EXPECT_TRUE(
      says("fused is slower by 100 %: GPUs finish less evenly, and wait 900.000 us longer for the "
           "last one"))
      << why(report_);
}

TEST_F(WhyAgainstBulk, as_long_within_half_a_percent) {
  add_run(report_, Mode::fused, microseconds(1004), {.computing = 50, .exposed = 30});
  EXPECT_TRUE(says("Against bulk, fused takes as long and hides 33 % of the exposed"))
      << why(report_);
}

TEST(Why, compares_nothing_without_bulk) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::kernel, microseconds(10), {.link = 90});
  add_run(report, Mode::fused, microseconds(10), {.link = 85});
  EXPECT_EQ(why(report),
            "kernel is bound by scale_out_x+ (90 % busy); fused is bound by scale_out_x+ (85 % "
            "busy).");
}

TEST(Why, nothing_to_hide_where_bulk_exposes_nothing) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(10), {.computing = 100});
  add_run(report, Mode::fused, microseconds(10), {.computing = 100});
  EXPECT_NE(why(report).find("takes as long and has nothing to hide, as bulk exposes no"),
            std::string::npos)
      << why(report);
}

}  // namespace
}  // namespace weft::why_says_what_fusing_hid_and_cost_test
