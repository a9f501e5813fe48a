// The cache model against a slow, obvious one on random streams of requests: every answer, every
// count, every row.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sim/cache/memory_path.h"
#include "tests/property/cache_reference_path.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::cache_reference_test {
namespace {

constexpr int kLines = 4096;  // eight times what the L2 of small_machine() holds

struct Step {
  Op op = Op::load;
  int line = 0;
  int sectors = 1;
  int instruction = 0;
  int cu = 0;
  int wait_ns = 0;  // before it
};

std::ostream& operator<<(std::ostream& out, const Step& s) {
  return out << (s.op == Op::load ? "load " : "store ") << s.line << " sectors " << s.sectors
             << " instruction " << s.instruction << " cu " << s.cu << " after " << s.wait_ns;
}

// Lines from anywhere, and from a few that come again and again.
rc::Gen<int> any_line() {
  return rc::gen::weightedOneOf<int>({{1, rc::gen::inRange(0, kLines)},
                                      {2, rc::gen::inRange(0, 64)},
                                      {1, rc::gen::inRange(1000, 1600)}});
}

rc::Gen<Step> any_step() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::op, rc::gen::element(Op::load, Op::load, Op::store)),
      rc::gen::set(&Step::line, any_line()),
      rc::gen::set(&Step::sectors, rc::gen::element(15, 15, 1, 2, 3, 12, 6)),
      rc::gen::set(&Step::instruction, rc::gen::inRange(0, 3)),
      rc::gen::set(&Step::cu, rc::gen::inRange(0, 4)),
      rc::gen::set(&Step::wait_ns, rc::gen::element(0, 0, 0, 1, 3, 40, 700)));
}

Hierarchy any_machine() {
  Hierarchy machine = small_machine();
  machine.l1.mshrs = *rc::gen::element(1, 3, 64);
  machine.l2.mshrs = *rc::gen::element(1, 4, 64);
  machine.l1.ways = *rc::gen::element(1, 2, 16);
  machine.l1.capacity = machine.line * machine.l1.ways * *rc::gen::element(1, 4);
  machine.l2.ways = *rc::gen::element(2, 15, 16);
  machine.l2.slices = *rc::gen::element(1, 2, 4);
  machine.l2.capacity = machine.line * (machine.l2.ways * machine.l2.slices * 8);
  machine.dram.channels = *rc::gen::element(8, 24);
  machine.dram.queue = *rc::gen::element(1, 2, 32);
  machine.dram.row = *rc::gen::element(kibibytes(1), bytes(128));  // long lists of dirty rows
  machine.dies = *rc::gen::element(1, 2);
  machine.l2_dies = *rc::gen::element(Dies::home, Dies::apart);
  if (*rc::gen::element(false, true)) {
    machine.side = machine.l2;
    machine.side->ways = 16;
    machine.side->slices = 4;
    machine.side->capacity = kibibytes(128);
    machine.side->latency = nanoseconds(200);
  }
  return machine;
}

Policy any_policy() {
  Policy policy = kPolicies[*rc::gen::inRange<std::size_t>(0, kPolicies.size())].policy;
  if (*rc::gen::inRange(0, 8) == 0) policy.stores = Stores::write_through;
  return policy;
}

// Both models, request by request. A load that is to be asked for again is, at that time.
class Both {
 public:
  Both(const Hierarchy& machine, const Policy& policy)
      : fast_(machine, kLines), slow_(machine, policy) {
    fast_.start_kernel(policy);
  }

  void take(const Step& step) {
    now_ += nanoseconds(step.wait_ns).count();
    const Request request{.line = static_cast<Line>(step.line),
                          .sectors = static_cast<std::uint8_t>(step.sectors),
                          .instruction = static_cast<std::uint8_t>(step.instruction),
                          .cu = static_cast<std::uint32_t>(step.cu)};
    const reference::Ask ask{.line = step.line,
                             .sectors = reference::sectors_of(static_cast<unsigned>(step.sectors)),
                             .instruction = step.instruction,
                             .cu = step.cu};
    const MemoryPath::Places places = fast_.places(request.cu, request.line);
    if (step.op == Op::store) {
      RC_ASSERT(fast_.store(request, places, now_) == slow_.store(ask, now_));
      return;
    }
    for (;;) {
      const Ps patience = now_ + nanoseconds(20).count();
      const Answer fast = fast_.load(request, places, now_, patience);
      const reference::Outcome slow = slow_.load(ask, now_, patience);
      RC_ASSERT(fast.at == slow.at);
      RC_ASSERT(fast.retry == slow.retry);
      if (!fast.retry) return;
      now_ = std::max(now_, fast.at);
    }
  }

  void end() {
    RC_ASSERT(fast_.end_kernel(now_) == slow_.end_kernel(now_));
    RC_ASSERT(fast_.counts() == slow_.result());
  }

 private:
  MemoryPath fast_;
  reference::Path slow_;
  Ps now_ = 0;
};

TEST(CacheReference, every_answer_and_every_count_agree) {
  // The same cases each time; RC_PARAMS asks for others, or for the one that a failure prints.
  setenv("RC_PARAMS", "seed=1 max_success=500 max_size=300", 0);
  const bool holds = rc::check("the cache model is its reference", [] {
    const Hierarchy machine = any_machine();
    const Policy policy = any_policy();
    const auto steps = *rc::gen::scale(12.0, rc::gen::container<std::vector<Step>>(any_step()));
    Both both(machine, policy);
    for (const Step& step : steps) both.take(step);
    both.end();
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace weft::cache::cache_reference_test
