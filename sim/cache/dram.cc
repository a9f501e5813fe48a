#include "sim/cache/dram.h"

#include <algorithm>
#include <bit>

#include "sim/core/assert.h"

namespace weft::cache {
namespace {

std::uint32_t power_of_two(std::int64_t whole, std::int64_t part) {
  const auto times = static_cast<std::uint32_t>(whole / part);
  SIM_ASSERT(whole % part == 0);
  SIM_ASSERT(std::has_single_bit(times));
  return times;
}

}  // namespace

Dram::Dram(const Hierarchy& hierarchy)
    : channels_(static_cast<std::uint32_t>(hierarchy.dram.channels),
                power_of_two(hierarchy.interleave.count(), hierarchy.line.count())),
      banks_(static_cast<std::uint32_t>(hierarchy.dram.banks)),
      row_bits_(static_cast<unsigned>(
          std::countr_zero(power_of_two(hierarchy.dram.row.count(), hierarchy.line.count())))),
      latency_(hierarchy.dram.latency.count()),
      activate_(hierarchy.dram.activate.count()),
      precharge_(hierarchy.dram.precharge.count()),
      activate_interval_(hierarchy.dram.activate_interval.count()),
      close_after_(hierarchy.dram.close_after.count()),
      queue_(static_cast<std::uint32_t>(hierarchy.dram.queue)),
      sector_(hierarchy.sector),
      channel_(channels_.parts()),
      bank_(std::size_t{channels_.parts()} * banks_.parts()) {
  SIM_ASSERT(row_bits_ <= 6);
  for (std::size_t mask = 0; mask < kMasks; ++mask) {
    const std::int64_t moved = kSectorsOf[mask] * sector_.count() * hierarchy.dram.channels;
    burst_[mask] = time_for(moved, hierarchy.dram.bandwidth.count()).count();
  }
}

bool Dram::is_grouped(Bank& bank, std::uint32_t row, std::uint32_t request) const {
  for (std::uint32_t i = 0; i < kRows; ++i) {
    if (bank.rows[i] != row + 1 || request - bank.last[i] >= queue_) continue;
    bank.last[i] = request;
    return true;
  }
  return false;
}

Ps Dram::open_row(Bank& bank, std::uint32_t row, std::uint32_t request, Ps now) {
  const bool closed = bank.rows[bank.open] == 0 || now > bank.free + close_after_;
  if (!closed && bank.rows[bank.open] == row + 1) {
    ++counts_.row_hits;
    bank.last[bank.open] = request;
    return 0;
  }
  if (!closed && queue_ > 1 && is_grouped(bank, row, request)) {
    ++counts_.row_hits;
    return 0;
  }
  ++(closed ? counts_.row_misses : counts_.row_conflicts);
  if (closed) bank.rows = {};
  // Of the rows that may be grouped, the one whose last request is longest ago makes room.
  std::uint32_t oldest = 0;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    if (bank.rows[i] == row + 1) bank.last[i] = 0;  // opened again: its old place is free
    if (request - bank.last[i] > request - bank.last[oldest]) oldest = i;
  }
  bank.open = oldest;
  bank.rows[oldest] = row + 1;
  bank.last[oldest] = request;
  return closed ? activate_ : precharge_ + activate_;
}

Ps Dram::access(const Interleave::Place& in_channel, std::uint8_t sectors, Moment when) {
  const std::uint32_t row = row_of(in_channel);
  Channel& channel = channel_[in_channel.part];
  Bank& bank = bank_[in_channel.part * banks_.parts() + banks_.part(row)];
  const Ps burst = burst_[sectors];

  const Ps opening = open_row(bank, banks_.local(row), ++channel.requests, when.joined);
  Ps bank_start = when.joined;
  if (opening > 0) {
    bank_start = std::max(channel.activate_free, when.joined);
    channel.activate_free = bank_start + activate_interval_;
  }
  bank.free = std::max(bank.free, bank_start) + opening + burst;
  channel.bus_free = std::max(channel.bus_free, when.joined) + burst;
  const Ps done = std::max({bank.free, channel.bus_free, when.through + opening + burst});
  idle_at_ = std::max(idle_at_, done);
  return done;
}

}  // namespace weft::cache
