// What a WG of the embedding bag does, by hand.
#include <gtest/gtest.h>

#include "sim/workloads/embedding.h"
#include "tests/unit/engine/simulated.h"

namespace weft::embedding_work_test {
namespace {

Scenario mi210(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: embedding
cluster: {base: clusters/node_4x_mi210}
workload:
  kind: embedding_all_to_all
  batch: 2048
  tables_per_gpu: 64
  rows_per_table: 1000000
  dim: 92
  pooling: 70
  rows_per_wg: 16
)",
                     sets);
}

Work work_of(const Scenario& scenario, int wgs_on_cu, Result result, const RowsFound& found = {}) {
  return embedding_work(scenario.workload.embedding, scenario.cluster.gpu,
                        {.wgs_on_cu = wgs_on_cu, .result = result, .found = found});
}

TEST(EmbeddingWork, reads_its_rows_and_their_indices) {
  // 16 x 70 lookups of 92 x 4 B and an index of 8 B; the 16 pooled rows are written unless they go
  // straight to a peer.
  const Scenario scenario = mi210();
  EXPECT_EQ(work_of(scenario, 8, Result::stored_at_peer).traffic, bytes(16 * 70 * (368 + 8)));
  EXPECT_EQ(work_of(scenario, 8, Result::written_here).traffic,
            bytes(16 * 70 * (368 + 8) + 16 * 368));
}

TEST(EmbeddingWork, adds_each_element_of_each_row) {
  EXPECT_EQ(work_of(mi210(), 8, Result::written_here).flops, flops(16 * 70 * 92));
}

TEST(EmbeddingWork, alone_waits_for_rows_and_for_lines_of_indices) {
  // A row is 23 loads of 16 B; 256 threads read 11 rows at once, so 16 rows are 2 rounds. 70 rows
  // by 4 in flight are 18 steps, and 70 indices of 8 B are 5 lines of 128 B.
  // 2 x (18 + 5) x 700 ns = 32.2 us.
  EXPECT_EQ(work_of(mi210(), 8, Result::written_here).memory_alone, nanoseconds(32'200));
}

TEST(EmbeddingWork, waits_as_often_as_its_loads_of_indices_bring_new_ones) {
  // As above; 560 B of indices are 9 reads of 64 B: 2 x (18 + 9) x 700 ns.
  EXPECT_EQ(work_of(mi210({"workload.index_read=64 B"}), 8, Result::written_here).memory_alone,
            nanoseconds(2 * (18 + 9) * 700));
}

TEST(EmbeddingWork, of_few_lookups_shares_lines_of_indices_among_its_rows) {
  // 16 rows of one lookup are one line of indices; 2 rounds of one step.
  EXPECT_EQ(work_of(mi210({"workload.pooling=1"}), 8, Result::written_here).memory_alone,
            nanoseconds(700) * (2 + 1));
  // Of four loads only one is made, but a wave of 64 has two rows of 23 loads: it waits for the
  // later one of two.
  EXPECT_EQ(work_of(mi210({"workload.pooling=1",
                           "cluster.gpu.gather={latency: 400 ns, doubling: 50 ns, cached: 200 ns, "
                           "unfairness: 0}"}),
                    8, Result::written_here)
                .memory_alone,
            nanoseconds(2 * 450 + 400));
}

TEST(EmbeddingWork, whose_loads_wait_for_one_another_takes_more_steps) {
  // Three waits for each 4 of 70 rows: ceil(70 x 3 / 4) = 53, not 18.
  EXPECT_EQ(work_of(mi210({"workload.chain=3"}), 8, Result::written_here).memory_alone,
            nanoseconds(700) * (2 * (53 + 5)));
}

TEST(EmbeddingWork, waits_longer_for_the_last_of_several_rows) {
  // 400 ns for one row, 50 more for each doubling: 550 of a wave's two times four.
  const Scenario scenario = mi210(
      {"cluster.gpu.gather={latency: 400 ns, doubling: 50 ns, cached: 200 ns, unfairness: 0}"});
  EXPECT_EQ(work_of(scenario, 8, Result::written_here).memory_alone,
            nanoseconds(2 * (18 * 550 + 5 * 400)));
}

TEST(EmbeddingWork, finds_rows_in_caches) {
  // Half of the rows in the L2, a quarter in the side cache: a quarter comes from the HBM. Of a
  // wave's eight rows all are in the L2 one time in 256: 550 ns - 350 ns / 256 = 548.633 ns a step.
  const Scenario scenario = mi210(
      {"cluster.gpu.gather={latency: 400 ns, doubling: 50 ns, cached: 200 ns, unfairness: 0}"});
  const RowsFound found{.in_l2 = 0.5, .in_side_cache = 0.25};
  const Work work = work_of(scenario, 8, Result::stored_at_peer, found);
  EXPECT_EQ(work.traffic, bytes(16 * 70 * (368 / 4 + 8)));
  EXPECT_EQ(work.memory_alone, picoseconds(2 * (18 * 548'633 + 5 * 400'000)));
}

TEST(EmbeddingWork, shares_the_l2_with_all_that_run_at_once) {
  // By itself 2 x (18 x 300 + 5 x 700) ns for 16 x 70 rows of 368 B; 104 CUs x 8 WGs run at once.
  const Scenario scenario = mi210({"cluster.gpu.l2.bandwidth=1 TB/s"});
  const EmbeddingWork& bag = scenario.workload.embedding;
  const std::int64_t wgs = bag.batch / 16 * bag.tables_per_gpu;
  EXPECT_EQ(work_of(scenario, 8, Result::written_here, {.in_l2 = 1}).memory_alone,
            shared_l2_time(scenario.cluster.gpu, nanoseconds(2 * (18 * 300 + 5 * 700)),
                           16 * 70 * 368, wgs, 104 * 8));
}

TEST(EmbeddingWork, counts_written_bytes_for_more_where_writes_are_slower) {
  const Scenario scenario = mi210({"cluster.gpu.memory.write_cost=2"});
  EXPECT_EQ(work_of(scenario, 8, Result::written_here).written_more, bytes(16 * 368));
  EXPECT_EQ(work_of(mi210(), 8, Result::written_here).written_more, bytes(0));
}

TEST(EmbeddingWork, of_half_precision_reads_half) {
  const Scenario scenario = mi210({"workload.dtype=fp16"});
  EXPECT_EQ(work_of(scenario, 8, Result::stored_at_peer).traffic, bytes(16 * 70 * (184 + 8)));
  // 12 loads a row, 21 rows at once: one round.
  EXPECT_EQ(work_of(scenario, 8, Result::stored_at_peer).memory_alone, nanoseconds(700 * (18 + 5)));
}

TEST(EmbeddingWork, of_narrow_loads_has_fewer_rows_at_once) {
  // 4 B a load: 92 threads a row, 2 rows at once, so 16 are 8 rounds; a wave has one row.
  const Scenario scenario = mi210(
      {"workload.load=4 B",
       "cluster.gpu.gather={latency: 400 ns, doubling: 50 ns, cached: 200 ns, unfairness: 0}"});
  EXPECT_EQ(work_of(scenario, 8, Result::written_here).memory_alone,
            nanoseconds(8 * (18 * 500 + 5 * 400)));
}

TEST(EmbeddingWork, of_rows_longer_than_a_wg_needs_several_passes) {
  // 4096 x 4 B = 1024 loads for 256 threads: 4 passes, one row at a time: 16 x 4 x 18 latencies,
  // and 16 x 5 lines of indices, but 16 x 560 B are 70 in all.
  const Scenario scenario = mi210({"workload.dim=4096", "workload.rows_per_table=1000"});
  EXPECT_EQ(work_of(scenario, 8, Result::written_here).memory_alone,
            nanoseconds(700) * (16 * 4 * 18 + 70));
}

TEST(EmbeddingWork, is_never_faster_alone_than_the_whole_memory) {
  // With 1024 loads in flight a WG would draw more than there is: bytes / bandwidth holds.
  const Scenario scenario =
      mi210({"workload.wg.loads_in_flight=1024", "cluster.gpu.memory.latency=1 ns"});
  const Work work = work_of(scenario, 8, Result::written_here);
  EXPECT_EQ(work.memory_alone, transfer_time(work.traffic, gigabytes_per_second(1392)));
}

TEST(EmbeddingWork, that_the_memory_always_bounds_has_no_arithmetic) {
  EXPECT_EQ(work_of(mi210(), 8, Result::written_here).arithmetic_alone, Duration{});
}

TEST(EmbeddingWork, on_weak_cus_is_bound_by_arithmetic) {
  // 104 CUs of 10 MFLOP/s, half of it for adds: 103,040 adds at 5 M/s = 20.6 ms.
  const Scenario scenario = mi210({"cluster.gpu.fp32_vector=1040 MFLOP/s"});
  const Work work = work_of(scenario, 8, Result::written_here);
  EXPECT_EQ(work.arithmetic_share, 1000U);
  EXPECT_EQ(work.arithmetic_alone, picoseconds(103'040LL * 200'000));
}

TEST(EmbeddingWork, takes_as_long_as_its_instructions) {
  // 16 x 70 lookups of 23 loads, 100 instructions each: 2,576,000 at 5 M/s on a CU of 10 MFLOP/s.
  const Scenario scenario =
      mi210({"cluster.gpu.fp32_vector=1040 MFLOP/s", "workload.instructions=100"});
  const Work work = work_of(scenario, 8, Result::written_here);
  EXPECT_EQ(work.arithmetic_alone, picoseconds(2'576'000LL * 200'000));
  EXPECT_EQ(work.flops, flops(16 * 70 * 92));
}

TEST(EmbeddingWork, on_cus_of_any_strength_has_a_time) {
  // A CU of 500 PFLOP/s adds for nothing; one of 1 MFLOP/s takes 2 us for each add (half its
  // peak).
  const Scenario strong = mi210({"cluster.gpu.fp32_vector=1000 PFLOP/s", "cluster.gpu.cus=2"});
  EXPECT_EQ(work_of(strong, 8, Result::written_here).arithmetic_alone, Duration{});
  const Scenario weak = mi210({"cluster.gpu.fp32_vector=104 MFLOP/s"});
  EXPECT_EQ(work_of(weak, 8, Result::written_here).arithmetic_alone,
            microseconds(1) * (2 * 16 * 70 * 92));
}

TEST(EmbeddingBackward, reads_gradients_and_reads_and_writes_the_rows_they_are_added_to) {
  // 16 x 70 rows of 368 B and their indices of 8 B read; the rows written; 16 gradients read.
  const Scenario scenario = mi210({"cluster.gpu.l2.capacity=0 B"});
  const Grid grid =
      embedding_backward_grid(scenario.workload.embedding, scenario.cluster.gpu,
                              static_cast<std::uint32_t>(scenario.cluster.gpus()), {});
  EXPECT_EQ(grid.written.traffic, bytes(16 * 70 * (368 + 8 + 368) + 16 * 368));
  EXPECT_EQ(grid.written.flops, flops(16 * 70 * 92));
  EXPECT_EQ(grid.stored, grid.written);
  // Writes are posted: it takes what reading takes.
  EXPECT_EQ(grid.written.memory_alone, nanoseconds(32'200));
}

TEST(EmbeddingBackward, gets_the_gradients_of_a_table_together) {
  // 512 samples of a peer in WGs of 16: 32 WGs a table; their gradients are 512 x 368 B.
  const Scenario scenario = mi210();
  const Grid grid =
      embedding_backward_grid(scenario.workload.embedding, scenario.cluster.gpu,
                              static_cast<std::uint32_t>(scenario.cluster.gpus()), {});
  EXPECT_EQ(grid.unit, 32U);
  EXPECT_EQ(grid.units(), 64U);
  EXPECT_EQ(grid.input_bytes, 512 * 368);
}

// 1,000 lookups in a table of 1,000 rows find 1,000 (1 - 0.999^1000) = 632.3 of them, less four
// deviations 531.7; 256 B each, and 8 B for each index. Backward also a gradient for each of 100
// pooled rows and what is added to each row that was looked up.
TEST(LeastTraffic, is_that_of_the_rows_that_differ) {
  EmbeddingWork work;
  work.batch = 100;
  work.tables_per_gpu = 3;
  work.rows_per_table = 1000;
  work.dim = 64;
  work.pooling = 10;
  work.index_bytes = 8;
  work.rows_per_wg = 1;
  const double rows = 1000 * (1 - std::pow(0.999, 1000));
  const double of_a_table = (rows - 4 * std::sqrt(rows)) * 256 + 8000;
  EXPECT_NEAR(least_traffic(work, false), 3 * of_a_table, 1e-3 * of_a_table);
  EXPECT_NEAR(least_traffic(work, true), 3 * (of_a_table + 1100 * 256), 1e-3 * of_a_table);
  work.l2_is_warm = true;
  EXPECT_NEAR(least_traffic(work, false), 3 * 8000, 1e-6);
  work.l2_is_warm = false;
  work.zipf = 1.2;
  const double skewed = least_traffic(work, false);
  EXPECT_LT(skewed, 2 * of_a_table);
  EXPECT_GT(skewed, 3 * 8000);
}

}  // namespace
}  // namespace weft::embedding_work_test
