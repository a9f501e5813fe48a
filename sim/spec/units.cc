#include "sim/spec/units.h"

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {
namespace {

__extension__ using Wide128 = unsigned __int128;

struct Unit {
  std::string_view name;
  std::int64_t numerator;  // base units in one of these
  std::int64_t denominator = 1;
};

constexpr std::int64_t kKilo = 1'000;
constexpr std::int64_t kMega = 1'000'000;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t kTera = 1'000'000'000'000;
constexpr std::int64_t kPeta = 1'000'000'000'000'000;

// Each from small to large.
constexpr std::array kDurations = {Unit{"ps", 1}, Unit{"ns", kKilo}, Unit{"us", kMega},
                                   Unit{"ms", kGiga}, Unit{"s", kTera}};
constexpr std::array kSizes = {Unit{"B", 1},         Unit{"kB", kKilo},    Unit{"MB", kMega},
                               Unit{"GB", kGiga},    Unit{"TB", kTera},    Unit{"KiB", 1 << 10},
                               Unit{"MiB", 1 << 20}, Unit{"GiB", 1 << 30}, Unit{"TiB", 1LL << 40}};
constexpr std::array kBandwidths = {
    Unit{"B/s", 1},         Unit{"kB/s", kKilo},    Unit{"MB/s", kMega},
    Unit{"GB/s", kGiga},    Unit{"TB/s", kTera},    Unit{"KiB/s", 1 << 10},
    Unit{"MiB/s", 1 << 20}, Unit{"GiB/s", 1 << 30}, Unit{"TiB/s", 1LL << 40},
    Unit{"b/s", 1, 8},      Unit{"kb/s", kKilo, 8}, Unit{"Mb/s", kMega, 8},
    Unit{"Gb/s", kGiga, 8}, Unit{"Tb/s", kTera, 8}};
constexpr std::array kFlops = {Unit{"FLOP", 1}, Unit{"MFLOP", kMega}, Unit{"GFLOP", kGiga},
                               Unit{"TFLOP", kTera}, Unit{"PFLOP", kPeta}};
constexpr std::array kFlopRates = {Unit{"FLOP/s", 1}, Unit{"MFLOP/s", kMega},
                                   Unit{"GFLOP/s", kGiga}, Unit{"TFLOP/s", kTera},
                                   Unit{"PFLOP/s", kPeta}};
constexpr std::array kMessageRates = {Unit{"/s", 1}, Unit{"k/s", kKilo}, Unit{"M/s", kMega},
                                      Unit{"G/s", kGiga}};

// What people write elsewhere for the same thing, or for one of two things.
struct Habit {
  std::string_view written;
  std::string_view meant;
};
constexpr std::array kHabits = {Habit{"KB", "'kB' (1000 B) or 'KiB' (1024 B)"},
                                Habit{"KB/s", "'kB/s' (1000 B/s) or 'KiB/s' (1024 B/s)"},
                                Habit{"k", "'kB' (1000 B) or 'KiB' (1024 B)"},
                                Habit{"Gbps", "'Gb/s'"},
                                Habit{"Gbit/s", "'Gb/s'"},
                                Habit{"GBps", "'GB/s'"},
                                Habit{"TBps", "'TB/s'"},
                                Habit{"TFLOPS", "'TFLOP/s'"},
                                Habit{"TFLOPs", "'TFLOP/s'"},
                                Habit{"TFLOPS/s", "'TFLOP/s'"},
                                Habit{"TFlop/s", "'TFLOP/s'"},
                                Habit{"\xc2\xb5s", "'us'"},  // micro sign
                                Habit{"\xce\xbcs", "'us'"},  // Greek mu
                                Habit{"sec", "'s'"}};

std::string names_of(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) text += (text.empty() ? "" : " ") + std::string(unit.name);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number as it is written: digits / 10^decimals.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

struct NumberAndRest {
  Decimal number{};
  std::string_view rest{};
  std::string problem{};
};

Wide128 power_of_ten(int exponent) {
  Wide128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  if (text.size() > kShown) return '\'' + std::string(text.substr(0, kShown)) + "...'";
  return '\'' + std::string(text) + '\'';
}

NumberAndRest split_number(std::string_view text, int max_digits) {
  NumberAndRest split{.rest = text};
  if (text.empty() || !is_digit(text.front())) {
    split.problem = !text.empty() && text.front() == '-'
                        ? quoted(text) + " is negative"
                        : quoted(text) + " does not start with a number";
    return split;
  }
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1])) {
    split.problem = quoted(text) + " starts with 0, which some would read as octal";
    return split;
  }
  std::size_t used = 0;
  int digits = 0;
  bool in_fraction = false;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    if (c == '.' && !in_fraction && used + 1 < text.size() && is_digit(text[used + 1])) {
      in_fraction = true;
      continue;
    }
    if (!is_digit(c)) break;
    if (++digits > max_digits) {
      split.problem = quoted(text) + " has more than " + std::to_string(max_digits) + " digits";
      return split;
    }
    split.number.digits = split.number.digits * 10 + (c - '0');
    if (in_fraction) ++split.number.decimals;
  }
  text.remove_prefix(used);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  split.rest = text;
  return split;
}

std::string unknown_unit(std::string_view written, std::span<const Unit> units) {
  std::string problem = "unknown unit " + quoted(written);
  std::vector<std::string> known;
  for (const Unit& unit : units) known.emplace_back(unit.name);
  std::string guess;
  for (const Habit& habit : kHabits) {
    const auto first = habit.meant.substr(1, habit.meant.find('\'', 1) - 1);
    bool fits = false;
    for (const Unit& unit : units) fits = fits || unit.name == first;
    if (habit.written == written && fits) guess = habit.meant;
  }
  if (guess.empty()) {
    guess = nearest(written, known);
    if (!guess.empty()) guess = '\'' + guess + '\'';
  }
  problem += guess.empty() ? "; use one of " : "; did you mean " + guess + "? Use one of ";
  return problem + names_of(units);
}

struct Measured {
  Decimal number{};
  Unit unit{"", 1};
  std::string problem{};
};

Measured measure(std::string_view text, std::span<const Unit> units) {
  constexpr int kMaxDigits = 18;  // digits x the largest unit stays below 2^127
  const NumberAndRest split = split_number(text, kMaxDigits);
  if (!split.problem.empty()) return {.problem = split.problem};
  if (split.rest.empty()) {
    return {.problem = "missing unit; use one of " + names_of(units)};
  }
  for (const Unit& unit : units) {
    if (unit.name == split.rest) return {.number = split.number, .unit = unit};
  }
  return {.problem = unknown_unit(split.rest, units)};
}

// numerator / denominator to the nearest whole number, halves up; nothing where it does not fit.
std::optional<std::int64_t> nearest_whole(Wide128 numerator, Wide128 denominator) {
  const Wide128 quotient = (numerator + denominator / 2) / denominator;
  if (quotient > static_cast<Wide128>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(quotient);
}

template <class Q>
Parsed<Q> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const Measured measured = measure(text, units);
  if (!measured.problem.empty()) return {.problem = measured.problem};
  const auto count = nearest_whole(
      static_cast<Wide128>(measured.number.digits) * static_cast<Wide128>(measured.unit.numerator),
      power_of_ten(measured.number.decimals) * static_cast<Wide128>(measured.unit.denominator));
  if (!count) return {.problem = quoted(text) + " is too large"};
  if (*count == 0 && measured.number.digits != 0) {
    return {.problem = quoted(text) + " is less than half a " + std::string(units[0].name) +
                       ", the smallest step; it would become 0"};
  }
  return {.value = Q::from_count(*count)};
}

// In the largest unit that gives a whole number.
std::string quantity_text(std::int64_t count, std::span<const Unit> units) {
  std::string best = std::to_string(count) + ' ' + std::string(units[0].name);
  if (count == 0) return best;
  for (const Unit& unit : units) {
    const Wide128 scaled = static_cast<Wide128>(count) * static_cast<Wide128>(unit.denominator);
    if (scaled % static_cast<Wide128>(unit.numerator) != 0) continue;
    const auto whole = static_cast<std::int64_t>(scaled / static_cast<Wide128>(unit.numerator));
    std::string text = std::to_string(whole) + ' ' + std::string(unit.name);
    if (std::to_string(whole).size() < best.find(' ')) best = std::move(text);
  }
  return best;
}

Parsed<double> to_double(const NumberAndRest& split, int extra_decimals) {
  // Both are exact in a double (15 digits, 10^22), so the quotient is rounded once.
  const int decimals = split.number.decimals + extra_decimals;
  return {.value = static_cast<double>(split.number.digits) /
                   static_cast<double>(power_of_ten(decimals)),
          .problem = ""};
}

constexpr int kMaxDoubleDigits = 15;

}  // namespace

Parsed<Duration> parse_duration(std::string_view text) {
  return parse_quantity<Duration>(text, kDurations);
}
Parsed<Bytes> parse_bytes(std::string_view text) { return parse_quantity<Bytes>(text, kSizes); }
Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
  return parse_quantity<Bandwidth>(text, kBandwidths);
}
Parsed<Flops> parse_flops(std::string_view text) { return parse_quantity<Flops>(text, kFlops); }
Parsed<FlopRate> parse_flop_rate(std::string_view text) {
  return parse_quantity<FlopRate>(text, kFlopRates);
}

Parsed<Duration> parse_message_rate(std::string_view text) {
  const Measured measured = measure(text, kMessageRates);
  if (!measured.problem.empty()) return {.problem = measured.problem};
  if (measured.number.digits == 0)
    return {.problem = "with a rate of 0 nothing would ever be sent"};
  // interval = 1 / rate; 10^12 x 10^18 stays below 2^127.
  const auto interval = nearest_whole(
      static_cast<Wide128>(kTera) * power_of_ten(measured.number.decimals),
      static_cast<Wide128>(measured.number.digits) * static_cast<Wide128>(measured.unit.numerator));
  if (!interval) return {.problem = quoted(text) + " is too small"};
  if (*interval == 0) {
    return {.problem = quoted(text) + " is more than one per picosecond; at most 1000 G/s"};
  }
  return {.value = picoseconds(*interval)};
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
  constexpr int kMaxDigits = 18;
  const NumberAndRest split = split_number(text, kMaxDigits);
  if (!split.problem.empty()) return {.problem = split.problem};
  if (split.number.decimals > 0 || !is_digit(text.back()) || !split.rest.empty()) {
    return {.problem = quoted(text) + " is not a whole number in plain digits"};
  }
  return {.value = split.number.digits};
}

Parsed<double> parse_number(std::string_view text) {
  const NumberAndRest split = split_number(text, kMaxDoubleDigits);
  if (!split.problem.empty()) return {.problem = split.problem};
  if (!split.rest.empty()) return {.problem = quoted(text) + " is not a plain number such as 2.5"};
  return to_double(split, 0);
}

Parsed<double> parse_fraction(std::string_view text) {
  const NumberAndRest split = split_number(text, kMaxDoubleDigits);
  if (!split.problem.empty()) return {.problem = split.problem};
  if (split.rest == "%") return to_double(split, 2);
  if (!split.rest.empty()) {
    return {.problem = quoted(text) + " is not a fraction; write 0.05 or 5 %"};
  }
  return to_double(split, 0);
}

std::string duration_units() { return names_of(kDurations); }
std::string byte_units() { return names_of(kSizes); }
std::string bandwidth_units() { return names_of(kBandwidths); }
std::string flop_units() { return names_of(kFlops); }
std::string flop_rate_units() { return names_of(kFlopRates); }
std::string message_rate_units() { return names_of(kMessageRates); }

std::string to_text(Duration duration) { return quantity_text(duration.count(), kDurations); }
std::string to_text(Bytes size) { return quantity_text(size.count(), kSizes); }
std::string to_text(Bandwidth rate) { return quantity_text(rate.count(), kBandwidths); }
std::string to_text(Flops operations) { return quantity_text(operations.count(), kFlops); }
std::string to_text(FlopRate rate) { return quantity_text(rate.count(), kFlopRates); }

// In M/s, with as many decimals as it takes for the inverse to round back to the same picosecond.
std::string message_rate_text(Duration interval) {
  constexpr int kDecimalsOfOne = 6;  // 10^6 ps between two is 1 M/s
  const auto between = static_cast<Wide128>(interval.count());
  std::string text;
  for (int decimals = 0; decimals <= 12; ++decimals) {
    const Wide128 scaled = (power_of_ten(kDecimalsOfOne + decimals) + between / 2) / between;
    text = std::to_string(static_cast<std::int64_t>(scaled));
    const auto after_point = static_cast<std::size_t>(decimals);
    if (text.size() <= after_point) text.insert(0, after_point + 1 - text.size(), '0');
    if (decimals > 0) text.insert(text.size() - after_point, ".");
    text += " M/s";
    const Parsed<Duration> back = parse_message_rate(text);
    if (back.ok() && back.value == interval) break;
  }
  return text;
}

std::string number_text(double number) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return {buffer.data(), end.ptr};
}

}  // namespace weft
