#include "sim/core/shared_server.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft {
namespace {

// Rounded up; at most what can still be added to any time of a run.
Duration time_of(SharedServer::Drawn amount, std::uint64_t rate) {
  constexpr SharedServer::Drawn kMost = INT64_MAX / 4;
  return picoseconds(static_cast<std::int64_t>(std::min((amount + rate - 1) / rate, kMost)));
}

}  // namespace

double bent(double alone, double share, double exponent) {
  const double longer = std::max(alone, share);
  if (longer <= 0) return 0;
  return longer * std::pow(1 + std::pow(std::min(alone, share) / longer, exponent), 1 / exponent);
}

Bend::Bend(double exponent) {
  SIM_ASSERT(exponent >= 1.0);
  for (unsigned i = 0; i <= kSteps; ++i) {
    const double x = static_cast<double>(i) / kSteps;
    const double g =
        exponent >= kCorner ? 1.0 : std::pow(1.0 + std::pow(x, exponent), -1.0 / exponent);
    // Rounded to 2^-30, so that another libm's pow(), which may differ in the last bit, changes
    // nothing.
    table_[i] = static_cast<std::uint32_t>(std::llround(g * static_cast<double>(kOne)));
  }
}

std::uint64_t Bend::at(std::uint64_t x20) const {
  const std::uint64_t step = x20 >> 10U;
  const std::uint64_t fraction = x20 & 1023U;
  if (fraction == 0) return table_[step];
  const std::uint64_t low = table_[step];
  const std::uint64_t high = table_[step + 1];  // g falls: low >= high
  return low - (((low - high) * fraction) >> 10U);
}

std::uint64_t Bend::slowdown(std::uint64_t demand, std::uint64_t capacity) const {
  // Both are shifted left by 20 bits of fraction below.
  const auto width = static_cast<unsigned>(std::bit_width(std::max(demand, capacity)));
  const unsigned drop = width > 43 ? width - 43 : 0;
  demand >>= drop;
  capacity = std::max<std::uint64_t>(capacity >> drop, 1);
  if (demand <= capacity) return at((demand << 20U) / capacity);
  const std::uint64_t inverse = (capacity << 20U) / demand;
  const std::uint64_t g = at(inverse);
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t slowed =
      capacity < (1ULL << 33U)
          ? g * capacity / demand  // the product fits 64 bits
          : static_cast<std::uint64_t>(static_cast<Wide>(g) * capacity / demand);
  return std::max<std::uint64_t>(slowed, 1);
}

void SharedServer::add(SimTime now, std::uint32_t job, Duration alone, std::uint32_t demand) {
  advance(now);
  SIM_ASSERT(alone.count() >= 0);
  SIM_ASSERT(alone.count() < (1LL << 49));
  const std::uint64_t end = clock_ + (static_cast<std::uint64_t>(alone.count()) << kClockBits);
  SIM_ASSERT(end >= clock_);
  jobs_.push({end, job, demand});
  demand_ += demand;
}

bool SharedServer::add_background(SimTime now, std::uint32_t source, std::uint64_t rate,
                                  Duration time) {
  const auto known = std::find_if(
      background_.begin(), background_.end(),
      [&](const Background& entry) { return entry.source == source && entry.rate == rate; });
  if (can_fall_behind() || all_rates_ + rate > of_background_) [[unlikely]]
    catch_up(now);
  if (known == background_.end()) {
    background_.push_back({source, rate, now + time});
    all_rates_ += rate;
    return true;
  }
  const bool begins = known->until <= now;
  known->until = later(known->until, now) + time;
  return begins;
}

// What has arrived and could not be served yet: grows while sources draw more than they get.
SharedServer::Drawn SharedServer::backlog_at(SimTime now) const {
  if (!can_fall_behind()) return 0;
  Drawn backlog = backlog_;
  for (SimTime at = caught_up_; at < now;) {
    std::uint64_t rate = 0;
    SimTime next = now;
    for (const Background& entry : background_) {
      if (entry.until <= at) continue;
      rate += entry.rate;
      next = std::min(next, entry.until);
    }
    const auto time = static_cast<Drawn>((next - at).count());
    const Drawn comes = rate * time;
    const Drawn goes = of_background_ * time;
    backlog = backlog + comes > goes ? backlog + comes - goes : 0;
    at = next;
  }
  return backlog;
}

void SharedServer::catch_up(SimTime now) {
  backlog_ = backlog_at(now);
  caught_up_ = now;
}

Duration SharedServer::behind(SimTime now) const {
  return time_of(backlog_at(now), of_background_);
}

SharedServer::Drawn SharedServer::background_left(SimTime now) const {
  Drawn left = backlog_at(now);
  for (const Background& entry : background_) {
    if (entry.until <= now) continue;
    left += static_cast<Drawn>(entry.rate) * static_cast<Drawn>((entry.until - now).count());
  }
  return left;
}

SharedServer::Drawn SharedServer::jobs_left(SimTime now) const {
  const std::uint64_t clock = clock_at(now);
  Drawn left = 0;
  jobs_.for_each([&](const Job& job) {
    if (job.end > clock) left += static_cast<Drawn>(job.end - clock) * job.demand;
  });
  return left >> kClockBits;
}

std::uint64_t SharedServer::clock_at(SimTime now) const {
  const auto elapsed = static_cast<std::uint64_t>((now - last_).count());
  constexpr unsigned kShift = Bend::kOneBits - kClockBits;
  if (elapsed < (1ULL << 33U)) return clock_ + ((elapsed * slowdown_) >> kShift);
  __extension__ using Wide = unsigned __int128;
  return clock_ + static_cast<std::uint64_t>((static_cast<Wide>(elapsed) * slowdown_) >> kShift);
}

void SharedServer::advance(SimTime now) {
  SIM_ASSERT(now >= last_);
  if (now == last_) return;
  if (!jobs_.empty()) clock_ = clock_at(now);
  last_ = now;
}

std::uint32_t SharedServer::take_done() {
  if (jobs_.empty() || jobs_.top().end > clock_) return kNoJob;
  const Job done = jobs_.pop();
  demand_ -= done.demand;
  return done.id;
}

// The time at which the background traffic changes next.
SimTime SharedServer::settle_background(SimTime now) {
  if (can_fall_behind()) [[unlikely]]
    catch_up(now);
  SimTime end = kNever;
  std::uint64_t rate = 0;
  for (std::size_t i = 0; i < background_.size();) {
    if (background_[i].until <= now) {
      all_rates_ -= background_[i].rate;
      background_[i] = background_.back();
      background_.pop_back();
      continue;
    }
    rate += background_[i].rate;
    end = std::min(end, background_[i].until);
    ++i;
  }
  if (backlog_ > 0) [[unlikely]] {
    if (rate < of_background_) end = std::min(end, now + time_of(backlog_, of_background_ - rate));
    rate = of_background_;
  }
  served_ = std::min(rate, of_background_);
  return end;
}

SimTime SharedServer::settle(SimTime now) {
  advance(now);
  if (jobs_.empty()) return kNever;

  const SimTime background_end = settle_background(now);
  // Mostly one job has ended and one like it has begun.
  if (demand_ != slowed_by_ || served_ != slowed_beside_) {
    // Background traffic never starves the jobs completely.
    slowdown_ = bend_->slowdown(demand_, std::max<std::uint64_t>(capacity_ - served_, 1));
    slowed_by_ = demand_;
    slowed_beside_ = served_;
  }

  const std::uint64_t end = jobs_.top().end;
  if (end <= clock_) return now;
  const std::uint64_t remaining = end - clock_;
  constexpr unsigned kShift = Bend::kOneBits - kClockBits;
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t elapsed =
      remaining < (1ULL << 47U)
          ? ((remaining << kShift) + slowdown_ - 1) / slowdown_
          : static_cast<std::uint64_t>(((static_cast<Wide>(remaining) << kShift) + slowdown_ - 1) /
                                       slowdown_);
  return std::min(background_end, now + picoseconds(static_cast<std::int64_t>(elapsed)));
}

}  // namespace weft
