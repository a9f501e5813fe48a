// Files of results read back, and what is said of broken ones.
#include "sim/html/read_file.h"

#include <gtest/gtest.h>

namespace weft::read_file_test {
namespace {

TEST(Csv, reads_quoted_fields_with_commas_quotes_and_line_breaks) {
  Diagnostics problems;
  const CsvTable table =
      parse_csv("a.csv", "name,us\r\n\"x, \"\"y\"\"\nz\",1.5\nplain,\n", problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(table.columns, (std::vector<std::string>{"name", "us"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].fields, (std::vector<std::string>{"x, \"y\"\nz", "1.5"}));
  EXPECT_EQ(table.rows[1].fields, (std::vector<std::string>{"plain", ""}));
  EXPECT_EQ(table.rows[1].line, 4) << "the first row takes lines 2 and 3";
}

TEST(Csv, names_the_line_of_every_row_that_does_not_fit) {
  Diagnostics problems;
  parse_csv("a.csv", "a,b\n1\n1,2\n1,2,3\n", problems);
  EXPECT_EQ(problems.to_text(),
            "a.csv:2:1: error: 1 fields, but there are 2 columns\n"
            "a.csv:4:1: error: 3 fields, but there are 2 columns\n");
}

TEST(Csv, says_that_a_quote_is_not_closed_and_that_nothing_is_there) {
  Diagnostics problems;
  parse_csv("open.csv", "a\n\"1\n2\n", problems);
  parse_csv("none.csv", "", problems);
  EXPECT_EQ(problems.to_text(),
            "none.csv: error: is empty; its first line should name the columns\n"
            "open.csv:2:1: error: a quote is not closed\n");
}

TEST(Csv, a_number_is_the_whole_field_and_finite) {
  EXPECT_EQ(number_of("1e-05"), 1e-5);
  EXPECT_EQ(number_of("-2"), -2.0);
  for (const char* text : {"", "1 ", "1us", "nan", "inf", "0x10", "1e999"}) {
    EXPECT_EQ(number_of(text), std::nullopt) << text;
  }
}

TEST(Csv, needed_columns_come_in_the_order_asked_for) {
  Diagnostics problems;
  const CsvTable table = parse_csv("a.csv", "us,more,mode\n1,x,bulk\n", problems);
  const auto rows = cells(table, {{"mode", Holds::text}, {"us"}}, problems);
  ASSERT_TRUE(rows);
  EXPECT_EQ(*rows, (std::vector<std::vector<JsonValue>>{{"bulk", 1.0}}));
}

TEST(Csv, every_column_that_lacks_and_every_text_in_place_of_a_number_is_named) {
  Diagnostics problems;
  const CsvTable table = parse_csv("a.csv", "mode,time_u\nbulk,1\nfused,2\n", problems);
  EXPECT_EQ(cells(table, {{"time_us"}, {"class", Holds::text}, {"mode"}}, problems), std::nullopt);
  EXPECT_EQ(problems.to_text(),
            "a.csv:1:1: error: class: no such column\n"
            "a.csv:1:1: error: time_us: no such column; is 'time_u' a misspelling?\n"
            "a.csv:2:1: error: mode: 'bulk' is not a number\n"
            "a.csv:3:1: error: mode: 'fused' is not a number\n");
}

}  // namespace
}  // namespace weft::read_file_test
