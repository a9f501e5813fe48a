#include "sim/spec/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace weft::units_test {
namespace {

TEST(Units, quantities_are_exact) {
  EXPECT_EQ(parse_duration("700 ns").value, nanoseconds(700));
  EXPECT_EQ(parse_duration("1.5us").value, nanoseconds(1500));
  EXPECT_EQ(parse_duration("0 ns").value, picoseconds(0));
  EXPECT_EQ(parse_bytes("64 KiB").value, bytes(65'536));
  EXPECT_EQ(parse_bytes("64 kB").value, bytes(64'000));
  EXPECT_EQ(parse_bandwidth("400 Gb/s").value, gigabytes_per_second(50));
  EXPECT_EQ(parse_bandwidth("4.1 TB/s").value, bytes_per_second(4'100'000'000'000));
  EXPECT_EQ(parse_bandwidth("1.6384 TB/s").value, bytes_per_second(1'638'400'000'000));
  EXPECT_EQ(parse_flop_rate("22.6 TFLOP/s").value, gigaflops(22'600));
}

TEST(Units, what_is_not_a_whole_number_of_the_smallest_step_is_rounded_once_to_the_nearest) {
  EXPECT_EQ(parse_duration("0.5884 ns").value, picoseconds(588));
  EXPECT_EQ(parse_duration("0.5885 ns").value, picoseconds(589));
  // 0.4999999999999999 as a double would be 0.5 after one multiplication too many.
  EXPECT_EQ(parse_duration("1.4999999999999999 ps").value, picoseconds(1));
  EXPECT_EQ(parse_bandwidth("12 b/s").value, bytes_per_second(2));  // 1.5, halves up
}

TEST(Units, nothing_becomes_zero_unless_it_is_written_so) {
  EXPECT_FALSE(parse_duration("0.49 ps").ok());
  EXPECT_EQ(parse_duration("0.5 ps").value, picoseconds(1));
  EXPECT_TRUE(parse_duration("0.000 ps").ok());
}

TEST(Units, a_number_without_a_unit_is_refused_zero_too) {
  for (const char* text : {"0", "700", "1.5", "700 "}) {
    EXPECT_NE(parse_duration(text).problem.find("missing unit"), std::string::npos) << text;
  }
}

TEST(Units, the_largest_values_do_not_wrap) {
  EXPECT_EQ(parse_bytes("9223372036854.775 MB").value, bytes(9'223'372'036'854'775'000));
  EXPECT_FALSE(parse_bytes("9223372036855 MB").ok());
  EXPECT_FALSE(parse_bytes("999999999999999999 TiB").ok());
  EXPECT_FALSE(parse_bytes("1234567890123456789 B").ok());
}

TEST(Units, odd_spellings_are_refused) {
  for (const char* text : {"", " 1 ns", "+1 ns", "-1 ns", "1e3 ns", "1. ns", ".5 ns", "01 ns",
                           "1,000 ns", "1 000 ns", "1 NS", "0x10 ns", "1 ns ", ".inf ns", "nan"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
}

TEST(Units, a_message_rate_is_the_time_between_two_messages) {
  EXPECT_EQ(parse_message_rate("200 M/s").value, picoseconds(5'000));
  EXPECT_EQ(parse_message_rate("215 M/s").value, picoseconds(4'651));  // 4651.16
  EXPECT_EQ(parse_message_rate("1000 G/s").value, picoseconds(1));
  EXPECT_FALSE(parse_message_rate("0 /s").ok());
  EXPECT_FALSE(parse_message_rate("3000 G/s").ok());
}

TEST(Units, integers_are_plain_digits) {
  EXPECT_EQ(parse_integer("0").value, 0);
  EXPECT_EQ(parse_integer("999999999999999999").value, 999'999'999'999'999'999);
  for (const char* text : {"", "010", "1e3", "1.0", ".inf", "-1", "1 ", "4 GPUs", "0x10", "1_0"}) {
    EXPECT_FALSE(parse_integer(text).ok()) << text;
  }
}

TEST(Units, fractions_may_be_percentages) {
  EXPECT_EQ(parse_fraction("0.05").value, 0.05);
  EXPECT_EQ(parse_fraction("5 %").value, 0.05);
  EXPECT_EQ(parse_fraction("12.5%").value, 0.125);
  EXPECT_FALSE(parse_fraction("5 per cent").ok());
  EXPECT_FALSE(parse_number("5 %").ok());
  EXPECT_EQ(parse_number("2.6").value, 2.6);
}

TEST(Units, texts_are_short_and_read_back_as_the_same_value) {
  EXPECT_EQ(to_text(nanoseconds(700)), "700 ns");
  EXPECT_EQ(to_text(picoseconds(0)), "0 ps");
  EXPECT_EQ(to_text(bytes(65'536)), "64 KiB");
  EXPECT_EQ(to_text(gigabits_per_second(200)), "25 GB/s");
  EXPECT_EQ(message_rate_text(picoseconds(5'000)), "200 M/s");
  EXPECT_EQ(message_rate_text(picoseconds(4'651)), "215 M/s");
  for (std::int64_t count = 1; count < 1'000'000'000; count = count * 3 + 1) {
    EXPECT_EQ(parse_duration(to_text(picoseconds(count))).value, picoseconds(count));
    EXPECT_EQ(parse_bytes(to_text(bytes(count))).value, bytes(count));
    EXPECT_EQ(parse_bandwidth(to_text(bytes_per_second(count))).value, bytes_per_second(count));
    EXPECT_EQ(parse_message_rate(message_rate_text(picoseconds(count))).value, picoseconds(count))
        << message_rate_text(picoseconds(count));
  }
  for (const double number : {0.1, 2.6, 0.05, 1.0 / 3, 1e-7, 12345.678}) {
    EXPECT_EQ(std::stod(number_text(number)), number);
  }
}

}  // namespace
}  // namespace weft::units_test
