// Lines of CSV files, as a spreadsheet reads them.
#include "sim/report/csv_line.h"

#include <gtest/gtest.h>

namespace weft::csv_line_test {
namespace {

TEST(CsvLine, fields_with_commas_and_quotes_are_quoted) {
  EXPECT_EQ(csv_line({"a", "b, c", "d \"e\""}), "a,\"b, c\",\"d \"\"e\"\"\"\n");
}

TEST(CsvLine, text_that_would_be_a_formula_begins_with_an_apostrophe) {
  EXPECT_EQ(csv_line({"=1+1", "+a", "-a", "@SUM(A1)"}), "'=1+1,'+a,'-a,'@SUM(A1)\n");
  EXPECT_EQ(csv_line({"=HYPERLINK(\"x\",1)"}), "\"'=HYPERLINK(\"\"x\"\",1)\"\n");
}

TEST(CsvLine, numbers_keep_their_sign) {
  EXPECT_EQ(csv_line({"-1", "-0.25", "+3", "-1e-07"}), "-1,-0.25,+3,-1e-07\n");
}

}  // namespace
}  // namespace weft::csv_line_test
