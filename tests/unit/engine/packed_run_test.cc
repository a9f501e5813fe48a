// Results as bytes and back: every member.
#include "sim/engine/packed_run.h"

#include <gtest/gtest.h>

namespace weft::packed_run_test {
namespace {

// Another value for each number.
class Values {
 public:
  std::int64_t next() {
    next_ = next_ * 0x9E3779B97F4A7C15ULL + 1;
    return static_cast<std::int64_t>(next_);
  }
  SimTime time() { return SimTime::from_count(next()); }
  Duration duration() { return picoseconds(next()); }
  Bytes size() { return bytes(next()); }
  std::uint64_t count() { return static_cast<std::uint64_t>(next()); }
  std::string text() { return "text " + std::to_string(next()); }

 private:
  std::uint64_t next_ = 2;
};

RunResult filled() {
  Values v;
  RunResult result{.mode = Mode::mixed,
                   .ending = Ending::time_limit,
                   .stopped_because = v.text(),
                   .time = v.duration(),
                   .clock = 0.1,
                   .gpus = {},
                   .operators = {},
                   .parts = {{v.text(), v.duration(), v.duration()}},
                   .idle = v.duration(),
                   .path_gaps = v.duration(),
                   .path_from = v.time(),
                   .exits = {{v.time(), {v.duration(), v.duration()}, v.duration(), v.time()}, {}},
                   .links = {},
                   .ledger = {},
                   .events = v.count(),
                   .fingerprint = UINT64_MAX};
  GpuUse gpu{.end = v.time(),
             .computing = v.duration(),
             .active = v.duration(),
             .cu_busy = v.duration(),
             .hbm = v.size(),
             .flops = flops(v.size().count()),
             .sent = v.size(),
             .received = v.size(),
             .proxy = v.duration()};
  for (Duration& wait : gpu.waits) wait = v.duration();
  result.gpus = {gpu, {}};
  result.operators = {{.name = v.text(),
                       .part = v.text(),
                       .role = KernelRole::fused,
                       .law = Law::attention,
                       .first_start = v.time(),
                       .first_place = v.time(),
                       .last_end = v.time(),
                       .longest = v.duration(),
                       .sum = v.duration(),
                       .critical = v.duration(),
                       .kernels = v.count(),
                       .cus = -7,
                       .wgs = v.count(),
                       .messages = v.count(),
                       .sent = v.size(),
                       .hbm = v.size(),
                       .wg_time = v.duration(),
                       .cu_time = v.duration(),
                       .exposed = v.duration()},
                      {}};
  result.links = {{.name = v.text(),
                   .link_class = v.text(),
                   .bandwidth = bytes_per_second(v.next()),
                   .use = {v.size(), v.count(), v.duration(), v.duration(), v.duration()}}};
  for (const auto entry : Ledger::kEntries) result.ledger.*entry = {v.next(), v.next()};
  result.ledger.overdrawn = v.text();
  return result;
}

// Whatever differs between two results differs in their bytes: members are compared one by one.
TEST(PackedRun, gives_back_every_member) {
  const RunResult written = filled();
  const auto read = unpacked_run(packed(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(packed(*read), packed(written));
  EXPECT_EQ(read->mode, written.mode);
  EXPECT_EQ(read->ending, written.ending);
  EXPECT_EQ(read->stopped_because, written.stopped_because);
  EXPECT_EQ(read->time, written.time);
  EXPECT_EQ(read->clock, written.clock);
  EXPECT_EQ(read->idle, written.idle);
  EXPECT_EQ(read->path_gaps, written.path_gaps);
  EXPECT_EQ(read->path_from, written.path_from);
  EXPECT_EQ(read->events, written.events);
  EXPECT_EQ(read->fingerprint, written.fingerprint);
  ASSERT_EQ(read->gpus.size(), 2U);
  EXPECT_EQ(read->gpus[0].end, written.gpus[0].end);
  EXPECT_EQ(read->gpus[0].received, written.gpus[0].received);
  EXPECT_EQ(read->gpus[0].waits, written.gpus[0].waits);
  ASSERT_EQ(read->operators.size(), 2U);
  const OperatorUse& op = read->operators[0];
  EXPECT_EQ(op.name, written.operators[0].name);
  EXPECT_EQ(op.law, Law::attention);
  EXPECT_EQ(op.cus, -7);
  EXPECT_EQ(op.first_place, written.operators[0].first_place);
  EXPECT_EQ(op.exposed, written.operators[0].exposed);
  EXPECT_EQ(read->operators[1].first_start, SimTime::from_count(INT64_MAX));
  EXPECT_EQ(read->parts[0].exposed, written.parts[0].exposed);
  ASSERT_EQ(read->exits.size(), 2U);
  EXPECT_EQ(read->exits[0].critical, written.exits[0].critical);
  EXPECT_EQ(read->links[0].name, written.links[0].name);
  EXPECT_EQ(read->links[0].bandwidth, written.links[0].bandwidth);
  EXPECT_EQ(read->links[0].use.queued_max, written.links[0].use.queued_max);
  for (const auto entry : Ledger::kEntries) {
    EXPECT_EQ((read->ledger.*entry).asked, (written.ledger.*entry).asked);
    EXPECT_EQ((read->ledger.*entry).done, (written.ledger.*entry).done);
  }
  EXPECT_EQ(read->ledger.overdrawn, written.ledger.overdrawn);
}

TEST(PackedRun, is_none_where_bytes_are_missing_or_left) {
  const std::string bytes = packed(filled());
  EXPECT_FALSE(unpacked_run(""));
  EXPECT_FALSE(unpacked_run(bytes + '\0'));
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_FALSE(unpacked_run(bytes.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace weft::packed_run_test
