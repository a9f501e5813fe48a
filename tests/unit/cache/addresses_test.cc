// Where lines go, and which lines a WG asks for.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/cache/wg_walk.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::addresses_test {
namespace {

TEST(CacheAddresses, every_line_has_a_place_of_its_own_and_can_be_found_from_it) {
  for (const std::uint32_t parts : {2U, 24U, 192U}) {
    const Interleave deal(parts, 4);
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    for (Line line = 0; line < 20'000; ++line) {
      const Interleave::Place place = deal.place(line);
      EXPECT_LT(place.part, parts);
      EXPECT_EQ(deal.line_at(place), line);
      EXPECT_TRUE(places.insert({place.part, place.local}).second);
    }
  }
}

TEST(CacheAddresses, no_stride_of_a_power_of_two_keeps_to_a_few_channels) {
  const Interleave deal(32, 4);
  for (const Line stride : {4U, 32U, 128U, 1024U, 4096U}) {
    std::vector<int> requests(32);
    for (Line i = 0; i < 3'200; ++i) ++requests[deal.place(i * stride).part];
    for (const int of_channel : requests) EXPECT_LE(of_channel, 200) << stride;
  }
}

// All lines of a kernel's WGs, in the order of their walk.
std::vector<Line> lines_of(const Kernel& kernel) {
  const std::vector<std::int64_t> begins{0, 1 << 20};
  const WgWalk walk(kernel, begins, {.line = bytes(128), .sector = bytes(32)});
  std::vector<Line> lines;
  Turn turn;
  for (std::int64_t wg = 0; wg < walk.wgs(); ++wg) {
    WgWalk::Cursor cursor = walk.begin(wg);
    while (walk.next(cursor, turn)) {
      lines.insert(lines.end(), turn.lines.begin(), turn.lines.begin() + turn.count);
    }
  }
  return lines;
}

TEST(CacheAddresses, a_tile_is_walked_row_by_row_and_moves_with_the_steps) {
  // Two steps of a tile of 2 rows of 128 B, pitch 1 KiB; WG (i, j) reads its row of tiles.
  Kernel kernel{.grid_rows = 2, .grid_columns = 1, .steps = 2, .instruction = kibibytes(4)};
  kernel.accesses = {
      {.per_row = 2048, .per_step = 128, .rows = 2, .row = bytes(128), .pitch = 1024}};
  EXPECT_EQ(lines_of(kernel), (std::vector<Line>{0, 8, 1, 9, 16, 24, 17, 25}));
}

TEST(CacheAddresses, what_is_read_at_the_start_is_read_once_and_stores_at_the_end_come_last) {
  Kernel kernel{.steps = 2, .instruction = kibibytes(4)};
  kernel.accesses = {{.op = Op::store, .when = When::end, .row = bytes(128)},
                     {.when = When::start, .offset = 1280, .row = bytes(128)},
                     {.per_step = 128, .offset = 128, .row = bytes(128)}};
  EXPECT_EQ(lines_of(kernel), (std::vector<Line>{10, 1, 2, 0}));
}

TEST(CacheAddresses, groups_of_rows_are_walked_column_by_column) {
  // 3 x 2 WGs in groups of 2 rows: (0,0) (1,0) (0,1) (1,1), then (2,0) (2,1).
  Kernel kernel{.grid_rows = 3, .grid_columns = 2, .group = 2, .instruction = kibibytes(4)};
  kernel.accesses = {{.per_row = 1280, .per_column = 128, .row = bytes(128)}};
  EXPECT_EQ(lines_of(kernel), (std::vector<Line>{0, 10, 1, 11, 20, 21}));
  kernel.walk = Walk::by_column;
  EXPECT_EQ(lines_of(kernel), (std::vector<Line>{0, 10, 20, 1, 11, 21}));
}

TEST(CacheAddresses, a_part_of_a_line_asks_for_its_sectors_alone) {
  Kernel kernel{.instruction = kibibytes(4)};
  kernel.accesses = {{.offset = 96, .row = bytes(64)}};
  const std::vector<std::int64_t> begins{0};
  const WgWalk walk(kernel, begins, {.line = bytes(128), .sector = bytes(32)});
  WgWalk::Cursor cursor = walk.begin(0);
  Turn turn;
  ASSERT_TRUE(walk.next(cursor, turn));
  ASSERT_EQ(turn.count, 2U);
  EXPECT_EQ(turn.sectors[0], 0b1000);
  EXPECT_EQ(turn.sectors[1], 0b0001);
}

}  // namespace
}  // namespace weft::cache::addresses_test
