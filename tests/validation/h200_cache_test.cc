// The cache model against gathers measured on an H200 (calibration/measurements, micro.gather):
// rows at random places of a table, the same ones each time. The hierarchy is that of
// configs/cache/machines/h200.yaml, of which these lines gave the L2's bandwidth (4 MiB) and the
// activation interval (64 B rows of 2 GiB). Everything between, where part of the table fits, is
// prediction.
#include <gtest/gtest.h>

#include <cstdint>

#include "sim/cache/sample.h"
#include "sim/measured/lines.h"
#include "sim/scenario/load_cache.h"

namespace weft::h200_cache_test {
namespace {

constexpr double kClock = 3.0;  // us: in every measured time, configs/gpus/h200.yaml

// A WG of 256 threads reads 4 KiB of rows with each 16-byte load, after their indices; four such
// loads are in flight.
cache::Application gather(const MeasuredLine& line) {
  const std::int64_t row = *line.number("row_bytes");
  const std::int64_t table = *line.number("table_bytes");
  const std::int64_t wgs = *line.number("wgs");
  const std::int64_t rows = *line.number("rows");
  const std::int64_t per_step = 4096 / row;
  const std::int64_t steps = (rows + wgs * per_step - 1) / (wgs * per_step);
  cache::Kernel kernel{.name = "gather",
                       .grid_rows = wgs,
                       .steps = steps,
                       .wgs_per_cu = 6,
                       .in_flight = 5,
                       .instruction = kibibytes(4)};
  kernel.accesses = {{.array = 1,
                      .per_row = per_step * 4,
                      .per_step = per_step * 4 * wgs,
                      .row = bytes(per_step * 4)},
                     {.rows = per_step,
                      .row = bytes(row),
                      .pitch = row,
                      .gather = cache::Gather{.table_rows = table / row}}};
  return {.name = "gather",
          .arrays = {{"table", bytes(table)}, {"indices", bytes(steps * per_step * 4 * wgs)}},
          .kernels = {kernel}};
}

// Those that are simulated here; the others are in docs/cache.md.
bool is_chosen(const MeasuredLine& line) {
  if (line.kind != "micro.gather" || line.number("wgs") != 792) return false;
  const std::int64_t table = *line.number("table_bytes") >> 20U;
  if (line.number("row_bytes") == 64) return table == 16 || table == 40 || table == 256;
  return line.number("row_bytes") == 1024 &&
         (table == 4 || table == 40 || table == 64 || table == 128 || table == 1024);
}

TEST(H200Cache, gathers_take_as_long_as_measured_within_a_fifth) {
  const auto machine =
      load_cache_machine(WEFT_SOURCE_DIR "/configs/cache/machines/h200.yaml").value;
  ASSERT_TRUE(machine);
  int lines = 0;
  for (const MeasuredLine& line :
       read_measured(WEFT_SOURCE_DIR "/calibration/measurements/h200-x2.jsonl").lines) {
    if (!is_chosen(line)) continue;
    // The second pass: the measurement repeats the kernel, and what fits is there already.
    const cache::Sample sample = cache::sum(
        cache::sample(*machine, gather(line), {.policy = cache::kPolicies[1].policy, .passes = 2}));
    const double measured = line.us - kClock;
    EXPECT_NEAR(to_microseconds(sample.time), measured, measured / 5) << line.text();
    ++lines;
  }
  EXPECT_EQ(lines, 8);
}

}  // namespace
}  // namespace weft::h200_cache_test
