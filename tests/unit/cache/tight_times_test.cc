// Single requests: the earliest time at which they can be done, to the picosecond.
#include <gtest/gtest.h>

#include "sim/cache/dram.h"
#include "sim/cache/memory_path.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::tight_times_test {
namespace {

// A bank of small_machine(): activate 14 ns, precharge 12 ns; a line takes the bus 1 ns.
class Bank {
 public:
  explicit Bank(const Hierarchy& machine = small_machine()) : dram_(machine) {}

  // Line `column` of the n-th row of one bank.
  Ps write(std::uint32_t row, std::uint32_t column, Ps now) {
    return dram_.write({.part = 0, .local = nth_row(row) * 8 + column}, 15,
                       {.joined = now, .through = now});
  }
  [[nodiscard]] DramCounts counts() const { return dram_.counts(); }

 private:
  // The four banks take turns in a rotated order: the rows of bank 0.
  static std::uint32_t nth_row(std::uint32_t n) {
    const Spread banks(4);
    for (std::uint32_t row = n * 4;; ++row) {
      if (banks.part(row) == 0) return row;
    }
  }
  Dram dram_;
};

TEST(CacheDram, the_first_access_opens_the_row_and_the_next_finds_it_open) {
  Bank bank;
  EXPECT_EQ(bank.write(0, 0, 0), 15'000);
  EXPECT_EQ(bank.write(0, 1, 0), 16'000);  // behind it
  EXPECT_EQ(bank.write(0, 2, 20'000), 21'000);
  EXPECT_EQ(bank.counts().row_misses, 1);
  EXPECT_EQ(bank.counts().row_hits, 2);
}

TEST(CacheDram, another_row_of_the_bank_closes_the_one_that_is_open) {
  Bank bank;
  bank.write(0, 0, 0);
  EXPECT_EQ(bank.write(1, 0, 100'000), 127'000);  // 12 + 14 + 1
  EXPECT_EQ(bank.write(0, 1, 200'000), 227'000);
  EXPECT_EQ(bank.counts().row_conflicts, 2);
}

TEST(CacheDram, a_bank_that_idles_closes_its_row) {
  Bank bank;
  bank.write(0, 0, 0);  // free at 15 ns, closed 1 us later
  EXPECT_EQ(bank.write(0, 1, 1'015'000), 1'016'000);
  EXPECT_EQ(bank.write(0, 2, 2'016'001), 2'031'001);  // 14 + 1
  EXPECT_EQ(bank.counts().row_misses, 2);
  EXPECT_EQ(bank.counts().row_hits, 1);
}

TEST(CacheDram, the_scheduler_groups_rows_within_its_queue) {
  Hierarchy machine = small_machine();
  machine.dram.queue = 3;
  Bank bank(machine);
  bank.write(0, 0, 0);
  bank.write(1, 0, 0);
  bank.write(0, 1, 0);  // two requests after the first of its row: grouped
  EXPECT_EQ(bank.counts().row_hits, 1);
  bank.write(2, 0, 0);
  bank.write(3, 0, 0);
  bank.write(0, 2, 0);  // three after: its row has been closed
  EXPECT_EQ(bank.counts().row_hits, 1);
  EXPECT_EQ(bank.counts().row_conflicts, 4);
}

TEST(CacheDram, activations_of_a_channel_keep_their_distance) {
  Dram dram(small_machine());
  // Rows 0 to 3 of channel 0 are in four banks: 2 ns from one activation to the next.
  for (std::uint32_t row = 0; row < 4; ++row) {
    const Ps done = dram.write({.part = 0, .local = row * 8}, 15, {});
    EXPECT_EQ(done, 15'000 + row * 2'000);
  }
}

class OneCu {
 public:
  explicit OneCu(const Hierarchy& machine, const Policy& policy = kPolicies[1].policy)
      : path_(machine, 1U << 16U) {
    path_.start_kernel(policy);
  }
  Answer load(Line line, Ps now, Ps patience = kForEver) {
    return path_.load({.line = line, .sectors = 15}, path_.places(0, line), now, patience);
  }
  Ps store(Line line, Ps now) {
    return path_.store({.line = line, .sectors = 15}, path_.places(0, line), now);
  }
  [[nodiscard]] Sample counts() const { return path_.counts(); }

 private:
  MemoryPath path_;
};

TEST(CacheTimes, each_level_answers_after_its_latency) {
  OneCu cu(small_machine());
  EXPECT_EQ(cu.load(0, 0).at, 315'000);  // the row is opened in 14 ns, moved in 1; latency 300
  EXPECT_EQ(cu.load(0, 400'000).at, 410'000);
}

TEST(CacheTimes, a_load_of_data_on_their_way_waits_for_them) {
  OneCu cu(small_machine());
  cu.load(0, 0);
  // 315 ns, rounded up to a tick of 1.024 ns: 308 ticks.
  EXPECT_EQ(cu.load(0, 100'000).at, 315'392);
  EXPECT_EQ(cu.counts().l1.merged, 1);
  EXPECT_EQ(cu.load(0, 315'392).at, 325'392);
  EXPECT_EQ(cu.counts().l1.hits, 1);
}

TEST(CacheTimes, a_miss_without_an_mshr_waits_for_the_first_that_is_free) {
  Hierarchy machine = small_machine();
  machine.l1.mshrs = 1;
  OneCu cu(machine);
  EXPECT_EQ(cu.load(0, 0).at, 315'000);
  // Data at 315 ns: free with the tick of 8.192 ns they come in, the 39th: 319.488 ns.
  const Answer early = cu.load(64, 10'000, 20'000);
  EXPECT_TRUE(early.retry);
  EXPECT_EQ(early.at, 319'488);
  EXPECT_EQ(cu.counts().l1.stalled, picoseconds(309'488));
  EXPECT_EQ(cu.counts().l1.misses, 1);
  EXPECT_FALSE(cu.load(64, 319'488, 320'000).retry);
  EXPECT_EQ(cu.counts().l1.misses, 2);
}

TEST(CacheTimes, a_miss_without_a_line_bypasses_where_the_policy_says_so) {
  Hierarchy machine = small_machine();
  machine.l1.ways = 1;
  machine.l1.capacity = machine.line;  // one line in all
  OneCu cu(machine, kPolicies[3].policy);
  cu.load(0, 0);
  const Answer second = cu.load(64, 10'000, 20'000);
  EXPECT_FALSE(second.retry);
  EXPECT_LT(second.at, 400'000);
  EXPECT_EQ(cu.counts().l1.stalled, Duration());
  EXPECT_EQ(cu.counts().l1.bypasses, 1);
}

TEST(CacheTimes, a_set_whose_lines_are_all_on_their_way_takes_no_further_line) {
  Hierarchy machine = small_machine();
  machine.l1.ways = 1;
  machine.l1.capacity = machine.line;  // one line in all
  OneCu cu(machine);
  cu.load(0, 0);
  const Answer second = cu.load(64, 10'000, 20'000);
  EXPECT_TRUE(second.retry);
  EXPECT_EQ(second.at, 315'392);  // the tick of 1.024 ns after the data
}

TEST(CacheTimes, stores_are_taken_by_the_l2_or_by_the_dram) {
  OneCu combining(small_machine(), kPolicies[2].policy);
  EXPECT_EQ(combining.store(0, 0), 100'000);
  OneCu bypassing(small_machine());
  EXPECT_EQ(bypassing.store(0, 0), 15'000);
}

}  // namespace
}  // namespace weft::cache::tight_times_test
