// Units: "400 Gb/s" to a count of base units, exactly, and back.
//
// The digits are kept as an integer and a power of ten, so that nothing is rounded before the one
// division at the end: 4.1 TB/s is 4100000000000 B/s. Decimal (kB) and binary (KiB) multiples and
// bits (b) and bytes (B) are different units. A number without a unit is a mistake, zero too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/quantity.h"

namespace weft {

// What a text means, or what is wrong with it.
template <class T>
struct Parsed {
  T value{};
  std::string problem{};  // empty: all is well
  [[nodiscard]] bool ok() const { return problem.empty(); }
};

Parsed<Duration> parse_duration(std::string_view text);      // 700 ns
Parsed<Bytes> parse_bytes(std::string_view text);            // 64 KiB, 64 GB
Parsed<Bandwidth> parse_bandwidth(std::string_view text);    // 400 Gb/s, 1.6 TB/s
Parsed<Flops> parse_flops(std::string_view text);            // 137 GFLOP
Parsed<FlopRate> parse_flop_rate(std::string_view text);     // 22.6 TFLOP/s
Parsed<Duration> parse_message_rate(std::string_view text);  // 215 M/s: the time between two
Parsed<std::int64_t> parse_integer(std::string_view text);   // digits only: no 010, 1e3 or 1.0
Parsed<double> parse_number(std::string_view text);          // 2.6
Parsed<double> parse_fraction(std::string_view text);        // 0.05 or 5 %

// "ps ns us ms s": what the documentation calls the unit of a key.
std::string duration_units();
std::string byte_units();
std::string bandwidth_units();
std::string flop_units();
std::string flop_rate_units();
std::string message_rate_units();

// The shortest text in a whole number of some unit; reading it gives the same value.
std::string to_text(Duration duration);
std::string to_text(Bytes size);
std::string to_text(Bandwidth rate);
std::string to_text(Flops operations);
std::string to_text(FlopRate rate);
std::string message_rate_text(Duration interval);
std::string number_text(double number);

}  // namespace weft
