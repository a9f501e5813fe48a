// Dram: channels with banks, each bank with one row open.
//
// A channel is three queues: its bus, its activations and its banks. A request waits in each for as
// long as what came before it takes there, and is through when the last of them lets it go: a
// scheduler that fills every gap it can. It also groups requests of one row among the last `queue`
// ones of the channel: a request to a row that one of them had opened counts as a hit, as if it had
// been served together with that one. queue = 1 is plain first come, first served.
//
// Left out: refresh, and the turn-round of the bus between reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/cache/sample.h"
#include "sim/cache/sectors.h"
#include "sim/cache/spec.h"

namespace weft::cache {

class Dram {
 public:
  explicit Dram(const Hierarchy& hierarchy);

  // Where a line stands: its channel, and its number among the lines of that.
  [[nodiscard]] Interleave::Place place(Line line) const { return channels_.place(line); }

  // When the data are at the CU.
  Ps read(const Interleave::Place& place, std::uint8_t sectors, Moment when) {
    sectors_read_ += kSectorsOf[sectors];
    return access(place, sectors, when) + latency_;
  }
  // When the data are in the DRAM.
  Ps write(const Interleave::Place& place, std::uint8_t sectors, Moment when) {
    sectors_written_ += kSectorsOf[sectors];
    return access(place, sectors, when);
  }
  // From when on a channel's bus has nothing to do.
  [[nodiscard]] Ps free_at(std::uint32_t channel) const { return channel_[channel].bus_free; }
  // When all that was asked of it is done.
  [[nodiscard]] Ps idle_at() const { return idle_at_; }
  [[nodiscard]] DramCounts counts() const {
    DramCounts all = counts_;
    all.read = sector_ * sectors_read_;
    all.written = sector_ * sectors_written_;
    return all;
  }

  // Rows are numbered through all banks of a channel; at most 64 lines fit one.
  [[nodiscard]] std::uint32_t row_of(const Interleave::Place& place) const {
    return place.local >> row_bits_;
  }
  [[nodiscard]] std::uint32_t line_in_row(const Interleave::Place& place) const {
    return place.local & (lines_per_row() - 1);
  }
  [[nodiscard]] Line line_at(const Interleave::Place& place) const {
    return channels_.line_at(place);
  }
  [[nodiscard]] std::uint32_t lines_per_row() const { return 1U << row_bits_; }
  [[nodiscard]] std::uint32_t channels() const { return channels_.parts(); }

 private:
  static constexpr std::size_t kRows = 4;  // of a bank that the scheduler may group at once
  struct Bank {
    Ps free = 0;
    std::uint32_t open = 0;                   // index of the row that is open
    std::array<std::uint32_t, kRows> rows{};  // row + 1; 0: none
    std::array<std::uint32_t, kRows> last{};  // request of the channel that used it last
  };
  struct Channel {
    Ps bus_free = 0;
    Ps activate_free = 0;
    std::uint32_t requests = 0;
  };

  Ps access(const Interleave::Place& place, std::uint8_t sectors, Moment when);
  // Whether the scheduler groups the request with an earlier one of its row.
  bool is_grouped(Bank& bank, std::uint32_t row, std::uint32_t request) const;
  // What the bank needs before the data; more than 0 is an activation.
  Ps open_row(Bank& bank, std::uint32_t row, std::uint32_t request, Ps now);

  Interleave channels_;
  Spread banks_;
  unsigned row_bits_;
  Ps latency_;
  Ps activate_;
  Ps precharge_;
  Ps activate_interval_;
  Ps close_after_;
  std::uint32_t queue_;
  Bytes sector_;
  std::array<Ps, kMasks> burst_{};  // of the bus, for these sectors
  std::vector<Channel> channel_;
  std::vector<Bank> bank_;
  Ps idle_at_ = 0;
  std::int64_t sectors_read_ = 0;
  std::int64_t sectors_written_ = 0;
  DramCounts counts_;  // of rows
};

}  // namespace weft::cache
