// A server shared by all of its jobs: an HBM, or the arithmetic of a CU.
//
// Every job has a demand (the rate it would draw alone) and a duration alone. While the sum D of
// the demands loads the server of capacity C, all jobs are slowed by the same factor
//
//   slowdown m = g(D / C),   g(x) = (1 + x^p)^(-1/p)
//
// so that the delivered rate C x g(x) bends smoothly from D (idle) to C (saturated); p -> infinity
// is the sharp corner min(D, C). For memory this is Little's law with a latency that grows with
// load: all loads in flight are delayed by the same factor.
//
// As the factor is common, one virtual clock advancing at rate m serves all jobs: a job is done
// when the clock has advanced by its duration alone. There is one pending event per server, not one
// per job.
// The clock is an integer, so progress is exact to 2^-14 ps and the same on every compiler.
//
// Background traffic (NIC reads, arriving messages) is served first: it takes its rate off C until
// a given time; its bytes are exact, rate x time. It gets up to fifteen sixteenths of C. What
// exceeds that queues, first come first served, and takes that share until all is served.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/core/sorted_batches.h"

namespace weft {

// The same law for one kind of job that always runs: what takes `alone` by itself, and `share`
// if the server alone is the limit, takes (alone^p + share^p)^(1/p), in the unit of both.
double bent(double alone, double share, double exponent);

// The function g, tabulated once: g(x) for x in [0, 1]; above, g(x) = g(1/x) / x.
class Bend {
 public:
  static constexpr unsigned kOneBits = 30;
  static constexpr std::uint64_t kOne = 1ULL << kOneBits;

  // From kCorner on, the curve is a corner: g(x) = 1 up to x = 1 exactly.
  static constexpr double kCorner = 100;
  explicit Bend(double exponent);

  // Slowdown, as a fraction of kOne, of jobs that together demand `demand` of `capacity`.
  [[nodiscard]] std::uint64_t slowdown(std::uint64_t demand, std::uint64_t capacity) const;

 private:
  static constexpr unsigned kSteps = 1024;
  [[nodiscard]] std::uint64_t at(std::uint64_t x20) const;  // x in units of 2^-20, at most 1
  std::array<std::uint32_t, kSteps + 1> table_{};
};

class SharedServer {
 public:
  // Capacity and demands are in one unit of the caller's choice.
  SharedServer(std::uint64_t capacity, const Bend* bend) : capacity_(capacity), bend_(bend) {
    of_background_ = capacity - (capacity + 15) / 16;
    if (of_background_ == 0) of_background_ = 1;
  }

  // A job that would take `alone` by itself while drawing `demand`.
  void add(SimTime now, std::uint32_t job, Duration alone, std::uint32_t demand);

  // Traffic of `source` that draws `rate` for `time`, after what `source` already draws. True if
  // that begins a new load, so that settle() is due; an extended load is noticed when the old one
  // would have ended.
  bool add_background(SimTime now, std::uint32_t source, std::uint64_t rate, Duration time);

  // Whether the background sources could together draw more than there is for them.
  [[nodiscard]] bool can_fall_behind() const { return all_rates_ > of_background_ || backlog_ > 0; }
  // How long it takes from `now` on to serve the background traffic that has come by then.
  [[nodiscard]] Duration behind(SimTime now) const;

  // Moves the clock to `now`; afterwards take_done() yields the jobs done by then, by (end, job).
  void advance(SimTime now);
  static constexpr std::uint32_t kNoJob = UINT32_MAX;
  std::uint32_t take_done();

  // The time at which something happens if nothing is added before: the next end of a job, or an
  // end of background traffic that speeds the jobs up. kNever without jobs. Recomputes the
  // slowdown, so call it once per instant, after all changes.
  static constexpr SimTime kNever = SimTime::from_count(INT64_MAX);
  SimTime settle(SimTime now);

  // The one that is done next, if nothing is added before; kNoJob without jobs.
  [[nodiscard]] std::uint32_t next_job() const { return jobs_.empty() ? kNoJob : jobs_.top().id; }
  [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

  // What background traffic, and jobs, still have to draw if nothing is added: rate x picoseconds.
  __extension__ using Drawn = unsigned __int128;
  [[nodiscard]] Drawn background_left(SimTime now) const;
  [[nodiscard]] Drawn jobs_left(SimTime now) const;

 private:
  static constexpr unsigned kClockBits = 14;
  [[nodiscard]] std::uint64_t clock_at(SimTime now) const;
  [[nodiscard]] Drawn backlog_at(SimTime now) const;
  void catch_up(SimTime now);
  SimTime settle_background(SimTime now);
  struct Job {
    std::uint64_t end = 0;  // on the virtual clock
    std::uint32_t id = 0;
    std::uint32_t demand = 0;
    // Ids differ. As of one number of 128 bits: without a branch that nobody can predict.
    bool operator<(const Job& other) const { return as_one() < other.as_one(); }
    [[nodiscard]] Drawn as_one() const { return Drawn{end} << 64U | id; }
  };
  struct Background {
    std::uint32_t source;
    std::uint64_t rate;
    SimTime until;
  };

  std::uint64_t capacity_;
  std::uint64_t of_background_;  // the most that background traffic gets of the capacity
  const Bend* bend_;
  std::uint64_t clock_ = 0;  // virtual time, ps x 2^14
  std::uint64_t slowdown_ = Bend::kOne;
  std::uint64_t demand_ = 0;
  SimTime last_;
  std::uint64_t slowed_by_ = 0;      // the demand for which slowdown_ was computed ...
  std::uint64_t slowed_beside_ = 0;  // ... beside background traffic of this rate
  SortedBatches<Job> jobs_;
  std::vector<Background> background_;
  std::uint64_t all_rates_ = 0;  // of background_, including what has ended
  std::uint64_t served_ = 0;     // the rate at which background traffic is served
  Drawn backlog_ = 0;            // arrived by `caught_up_` and not yet served
  SimTime caught_up_;
};

}  // namespace weft
