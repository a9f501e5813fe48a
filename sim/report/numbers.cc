#include "sim/report/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace weft {
namespace {

struct Scale {
  double at_least;
  const char* unit;
};

// Three significant digits in the largest unit that leaves a number of at least 1.
template <std::size_t n>
std::string scaled_text(double number, const std::array<Scale, n>& scales) {
  for (const auto& [at_least, unit] : scales) {
    if (number < at_least && at_least > 1) continue;
    const double shown = number / at_least;
    // 99.95 would be printed as 100.0
    const int decimals = at_least <= 1 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}{}", shown, decimals, unit);
  }
  return "";
}

}  // namespace

std::string time_text(Duration duration) {
  const std::int64_t ps = duration.count();
  const auto in = [ps](double unit) { return static_cast<double>(ps) / unit; };
  if (ps == 0) return "0 us";
  if (ps < 999'500) return fmt::format("{:.3g} ns", in(1e3));
  if (ps < 1'000'000'000) return fmt::format("{:.3f} us", in(1e6));
  if (ps < 1'000'000'000'000) return fmt::format("{:.3f} ms", in(1e9));
  return fmt::format("{:.3f} s", in(1e12));
}

std::string percent_text(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.5) return "<1 %";
  return fmt::format("{:.0f} %", percent);
}

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string large_text(double number) {
  return scaled_text<4>(number, {{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}}});
}

std::string bytes_text(std::int64_t size) {
  return scaled_text<5>(static_cast<double>(size),
                        {{{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"}}});
}

std::string rate_text(double bytes_per_s) { return bytes_text(std::llround(bytes_per_s)) + "/s"; }

std::string ratio_text(double ratio) { return fmt::format("{:.2f}x", ratio); }

}  // namespace weft
