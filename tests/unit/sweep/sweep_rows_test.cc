// What is told of rows.
#include "sim/sweep/sweep_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::sweep_rows_test {
namespace {

Row failed(const std::string& why) {
  Row row;
  row.outcome = {.ok = false, .error = why, .exit_code = 1, .summary = ""};
  return row;
}

TEST(FailedRows, are_told_once_for_each_reason) {
  Row fine;
  fine.outcome.ok = true;
  const std::vector<Row> rows{fine, failed("b"), failed("a"), fine, failed("b"), failed("b")};
  const std::vector<FailedRows> failures = failures_of(rows);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].first, &rows[1]);
  EXPECT_EQ(failures[0].rows, 3U);
  EXPECT_EQ(failures[1].first, &rows[2]);
  EXPECT_EQ(failures[1].rows, 1U);
}

TEST(Rows, differ_by_what_they_do_not_share) {
  const std::vector<AxisColumn> axes{{"", "batch"}, {"", "order"}, {"", "wgs"}};
  Row one;
  one.cells = {Cell{"512"}, Cell{"given"}, Cell{"1"}};
  Row other = one;
  EXPECT_EQ(difference_of(one, other, axes), "");
  other.cells[0] = Cell{"64"};
  other.cells[2] = Cell{"2"};
  EXPECT_EQ(difference_of(other, one, axes), "batch=64 wgs=2");
  EXPECT_EQ(difference_of(one, other, axes), "batch=512 wgs=1");
}

}  // namespace
}  // namespace weft::sweep_rows_test
