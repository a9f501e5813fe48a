// A WG that stores its result in parts, after each part of its work. one_node(): 50 GB/s (20 ps a
// byte), 500 ns.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::shares_test {
namespace {

// GPU 0: one WG of 4 x 10 us that stores 4 MB; GPU 1 ends when all is there.
struct InParts {
  HandMade made;
  explicit InParts(std::uint32_t shares, Bandwidth store_rate = {}) {
    Work work;
    work.memory_alone = microseconds(40);
    work.traffic = bytes(1000);
    work.shares = shares;
    const std::uint32_t index = made.add(work);
    const std::uint32_t nothing = made.takes({});
    const LatchId arrived = made.graph.add_latch(1);
    Kernel sender = persistent(0, 1);
    sender.fenced = true;
    sender.store_rate = store_rate;
    made.kernel(sender, {HandMade::item(
                            index, made.sends({.to = 1, .size = 4'000'000, .arrives = arrived}))});
    Kernel receiver = persistent(1, 1);
    receiver.finish = arrived;
    made.kernel(receiver, {HandMade::item(nothing)});
  }
};

TEST(Shares, hide_all_but_the_last_store_behind_the_work) {
  // 1 MB takes 20 us, longer than the 10 us of work before the next: work 10 us, then 4 x 20 us on
  // the link. In one part: 40 us of work, then 80 us.
  EXPECT_EQ(run(one_node(), InParts(4).made.graph).time, microseconds(90) + nanoseconds(500));
  EXPECT_EQ(run(one_node(), InParts(1).made.graph).time, microseconds(120) + nanoseconds(500));
}

TEST(Shares, are_stored_at_the_rate_of_the_wg) {
  // 200 GB/s: faster than the link, nothing changes. 25 GB/s: 40 us each, after 10 us of work.
  EXPECT_EQ(run(one_node(), InParts(4, gigabytes_per_second(200)).made.graph).time,
            microseconds(90) + nanoseconds(500));
  EXPECT_EQ(run(one_node(), InParts(4, gigabytes_per_second(25)).made.graph).time,
            microseconds(170) + nanoseconds(500));
}

TEST(Shares, together_are_all_bytes_and_one_message) {
  const RunResult result = run(one_node(), InParts(3).made.graph);  // 3 does not divide 4,000,000
  EXPECT_TRUE(result.ledger.balanced());
  EXPECT_EQ(result.ledger.messages.done, 1);
  EXPECT_EQ(result.gpus[1].received, bytes(4'000'000));
  EXPECT_EQ(result.links[0].use.carried, bytes(4'000'000));
}

TEST(Shares, are_of_the_result_and_not_of_the_flag_behind_it) {
  // The flag of a peer follows when the result is out: 8 B, whole.
  HandMade made;
  Work work;
  work.memory_alone = microseconds(40);
  work.traffic = bytes(1000);
  work.shares = 4;
  const std::uint32_t index = made.add(work);
  const std::uint32_t nothing = made.takes({});
  const LatchId arrived = made.graph.add_latch(1);
  const LatchId done = made.graph.add_latch(1);
  made.graph.add_send({.to = 1, .size = 8, .arrives = arrived});
  Kernel sender = persistent(0, 1);
  sender.fenced = true;
  made.kernel(sender,
              {HandMade::item(index, made.sends({.to = 1, .size = 4'000'000, .issued = done}))});
  Kernel receiver = persistent(1, 1);
  receiver.finish = arrived;
  made.kernel(receiver, {HandMade::item(nothing)});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.links[0].use.carried, bytes(4'000'008));
}

}  // namespace
}  // namespace weft::shares_test
