// Quantities: one integer type per dimension, units only as factories.
//
//   Duration d = nanoseconds(700) + transfer_time(kibibytes(64), gigabits_per_second(200));
//
// Duration counts picoseconds, Bytes bytes, Bandwidth bytes per second (decimal), Flops floating
// point operations, FlopRate operations per second. Arithmetic is checked for overflow in release
// builds too. SimTime is a point on the simulated clock: points cannot be added, only moved.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "sim/core/assert.h"

namespace weft {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity from_count(std::int64_t count) { return Quantity(count); }
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    std::int64_t sum = 0;
    SIM_ASSERT(!__builtin_add_overflow(a.count_, b.count_, &sum));
    return Quantity(sum);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    std::int64_t difference = 0;
    SIM_ASSERT(!__builtin_sub_overflow(a.count_, b.count_, &difference));
    return Quantity(difference);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t factor) {
    std::int64_t product = 0;
    SIM_ASSERT(!__builtin_mul_overflow(a.count_, factor, &product));
    return Quantity(product);
  }
  friend constexpr Quantity operator*(std::int64_t factor, Quantity a) { return a * factor; }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 private:
  explicit constexpr Quantity(std::int64_t count) : count_(count) {}
  std::int64_t count_ = 0;
};

using Duration = Quantity<struct DurationTag>;    // picoseconds; 2^63 ps is 106 days
using Bytes = Quantity<struct BytesTag>;          // bytes
using Bandwidth = Quantity<struct BandwidthTag>;  // bytes per second
using Flops = Quantity<struct FlopsTag>;          // floating point operations
using FlopRate = Quantity<struct FlopRateTag>;    // floating point operations per second

constexpr Duration picoseconds(std::int64_t n) { return Duration::from_count(n); }
constexpr Duration nanoseconds(std::int64_t n) { return picoseconds(1'000) * n; }
constexpr Duration microseconds(std::int64_t n) { return picoseconds(1'000'000) * n; }
constexpr Bytes bytes(std::int64_t n) { return Bytes::from_count(n); }
constexpr Bytes kibibytes(std::int64_t n) { return bytes(1024) * n; }
constexpr Bytes mebibytes(std::int64_t n) { return bytes(1024 * 1024) * n; }
constexpr Bandwidth bytes_per_second(std::int64_t n) { return Bandwidth::from_count(n); }
constexpr Bandwidth gigabytes_per_second(std::int64_t n) {
  return bytes_per_second(1'000'000'000) * n;
}
constexpr Bandwidth gigabits_per_second(std::int64_t n) {
  return bytes_per_second(125'000'000) * n;
}
// A share of a time or a rate, rounded to the nearest picosecond or byte per second.
inline Duration fraction_of(Duration time, double share) {
  return Duration::from_count(std::llround(static_cast<double>(time.count()) * share));
}
inline Bandwidth fraction_of(Bandwidth rate, double share) {
  return Bandwidth::from_count(std::llround(static_cast<double>(rate.count()) * share));
}
constexpr Flops flops(std::int64_t n) { return Flops::from_count(n); }
constexpr FlopRate gigaflops(std::int64_t n) { return FlopRate::from_count(1'000'000'000) * n; }

// A point on the simulated clock, in picoseconds since the start of the run.
class SimTime {
 public:
  constexpr SimTime() = default;
  static constexpr SimTime from_count(std::int64_t ps) { return SimTime(ps); }
  [[nodiscard]] constexpr std::int64_t count() const { return ps_; }
  constexpr auto operator<=>(const SimTime&) const = default;

  friend constexpr SimTime operator+(SimTime t, Duration d) {
    return SimTime((picoseconds(t.ps_) + d).count());
  }
  friend constexpr SimTime operator-(SimTime t, Duration d) {
    return SimTime((picoseconds(t.ps_) - d).count());
  }
  friend constexpr Duration operator-(SimTime a, SimTime b) {
    return picoseconds(a.ps_) - picoseconds(b.ps_);
  }
  constexpr SimTime& operator+=(Duration d) { return *this = *this + d; }

 private:
  explicit constexpr SimTime(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

constexpr SimTime later(SimTime a, SimTime b) { return a < b ? b : a; }
constexpr Duration longer(Duration a, Duration b) { return a < b ? b : a; }

// The time for `amount` at `per_second`, in picoseconds, rounded up: nothing ever ends before its
// last part is done. A single division, so nothing is rounded twice.
constexpr Duration time_for(std::int64_t amount, std::int64_t per_second) {
  SIM_ASSERT(amount >= 0);
  SIM_ASSERT(per_second > 0);
  constexpr std::int64_t kPsPerSecond = 1'000'000'000'000;
  if (amount <= 9'000'000) {  // the product fits 63 bits: a 64-bit division is several times faster
    // Both summands are below 2^63: their sum fits 64 unsigned bits.
    const auto rate = static_cast<std::uint64_t>(per_second);
    return picoseconds(static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(amount * kPsPerSecond) + rate - 1) / rate));
  }
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = static_cast<Wide>(amount) * static_cast<Wide>(kPsPerSecond);
  const Wide rate = static_cast<Wide>(per_second);
  const Wide ps = (scaled + rate - 1) / rate;
  SIM_ASSERT(ps <= static_cast<Wide>(INT64_MAX));
  return picoseconds(static_cast<std::int64_t>(ps));
}
constexpr Duration transfer_time(Bytes size, Bandwidth rate) {
  return time_for(size.count(), rate.count());
}
constexpr Duration compute_time(Flops work, FlopRate rate) {
  return time_for(work.count(), rate.count());
}

// For sums over very many things, which may overflow: stays at the largest value.
constexpr void add_saturating(Duration& sum, Duration more) {
  std::int64_t count = 0;
  const bool over = __builtin_add_overflow(sum.count(), more.count(), &count);
  sum = picoseconds(over ? INT64_MAX : count);
}

constexpr void add_saturating(std::int64_t& sum, std::int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = INT64_MAX;
}
// Of what is not negative.
constexpr std::int64_t times_saturating(std::int64_t count, std::int64_t times) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(count, times, &product) ? INT64_MAX : product;
}
template <class Tag>
constexpr Quantity<Tag> times_saturating(Quantity<Tag> each, std::int64_t times) {
  return Quantity<Tag>::from_count(times_saturating(each.count(), times));
}

constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-12; }
constexpr double to_bytes_per_second(Bandwidth b) { return static_cast<double>(b.count()); }
constexpr double to_microseconds(Duration d) { return static_cast<double>(d.count()) * 1e-6; }

static_assert(transfer_time(bytes(9), gigabytes_per_second(900)) == picoseconds(10));
static_assert(transfer_time(bytes(1), gigabytes_per_second(3350)) == picoseconds(1));  // not 0
static_assert(gigabits_per_second(400) == gigabytes_per_second(50));

}  // namespace weft
