// The shared server against a slow simulation of the same rule in floating point, job by job.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/rng.h"
#include "sim/core/shared_server.h"

namespace weft::shared_server_reference_test {
namespace {

struct Job {
  std::int64_t start_ps = 0;
  std::int64_t alone_ps = 0;
  std::uint32_t demand = 0;
};

struct Load {
  std::int64_t start_ps = 0;
  std::int64_t time_ps = 0;
  std::uint64_t rate = 0;
};

struct System {
  std::uint64_t capacity = 0;
  double exponent = 1;
  std::vector<Job> jobs;
  std::vector<Load> loads;  // each from a source of its own
};

// Every job has what is left of it; between two starts or ends, all progress at m = g(D / C).
std::vector<double> ends_of_the_reference(const System& system) {
  std::vector<double> left;
  for (const Job& job : system.jobs) left.push_back(static_cast<double>(job.alone_ps));
  std::vector<double> end(system.jobs.size(), -1);
  double now = 0;
  for (std::size_t done = 0; done < system.jobs.size();) {
    double demand = 0;
    double capacity = static_cast<double>(system.capacity);
    double next = std::numeric_limits<double>::infinity();
    const auto change_at = [&](double time) {
      if (time > now) next = std::min(next, time);
    };
    for (const Load& load : system.loads) {
      const auto from = static_cast<double>(load.start_ps);
      const double until = from + static_cast<double>(load.time_ps);
      change_at(from);
      change_at(until);
      if (from <= now && now < until) capacity -= static_cast<double>(load.rate);
    }
    for (std::size_t i = 0; i < system.jobs.size(); ++i) {
      const auto from = static_cast<double>(system.jobs[i].start_ps);
      change_at(from);
      if (end[i] < 0 && from <= now) demand += system.jobs[i].demand;
    }
    const double x = demand / capacity;
    const double m = std::pow(1 + std::pow(x, system.exponent), -1 / system.exponent);
    for (std::size_t i = 0; i < system.jobs.size(); ++i) {
      const bool runs = end[i] < 0 && static_cast<double>(system.jobs[i].start_ps) <= now;
      if (runs) next = std::min(next, now + left[i] / m);
    }
    for (std::size_t i = 0; i < system.jobs.size(); ++i) {
      if (end[i] >= 0 || static_cast<double>(system.jobs[i].start_ps) > now) continue;
      const double needs = left[i] / m;
      left[i] -= (next - now) * m;
      if (now + needs <= next) {
        end[i] = next;
        ++done;
      }
    }
    now = next;
  }
  return end;
}

// The same with the server, driven as the engine drives it: advance to each instant, take what is
// done, add what begins, then settle once.
std::vector<double> ends_of_the_server(const System& system) {
  const Bend bend(system.exponent);
  SharedServer server(system.capacity, &bend);
  std::vector<double> end(system.jobs.size(), -1);
  std::vector<std::int64_t> starts;
  for (const Job& job : system.jobs) starts.push_back(job.start_ps);
  for (const Load& load : system.loads) starts.push_back(load.start_ps);
  std::sort(starts.begin(), starts.end());
  std::size_t next_start = 0;
  SimTime wake = SharedServer::kNever;
  while (next_start < starts.size() || server.jobs() > 0) {
    SimTime now = wake;
    if (next_start < starts.size()) now = std::min(now, SimTime::from_count(starts[next_start]));
    while (next_start < starts.size() && starts[next_start] <= now.count()) ++next_start;
    server.advance(now);
    for (auto job = server.take_done(); job != SharedServer::kNoJob; job = server.take_done()) {
      end[job] = static_cast<double>(now.count());
    }
    for (std::uint32_t i = 0; i < system.jobs.size(); ++i) {
      const Job& job = system.jobs[i];
      if (job.start_ps == now.count()) server.add(now, i, picoseconds(job.alone_ps), job.demand);
    }
    for (std::uint32_t i = 0; i < system.loads.size(); ++i) {
      const Load& load = system.loads[i];
      if (load.start_ps == now.count()) {
        server.add_background(now, i, load.rate, picoseconds(load.time_ps));
      }
    }
    wake = server.settle(now);
  }
  return end;
}

System random_system(std::uint64_t seed, double exponent, int jobs) {
  Rng rng(seed, "test/shared_server");
  System system{.capacity = 1'000'000, .exponent = exponent, .jobs = {}, .loads = {}};
  for (int i = 0; i < jobs; ++i) {
    system.jobs.push_back({.start_ps = rng.between(0, 400'000'000),
                           .alone_ps = rng.between(1'000'000, 900'000'000),
                           .demand = static_cast<std::uint32_t>(rng.between(0, 200'000))});
  }
  for (int i = 0; i < 6; ++i) {
    system.loads.push_back({.start_ps = rng.between(0, 900'000'000),
                            .time_ps = rng.between(1, 300'000'000),
                            .rate = static_cast<std::uint64_t>(rng.between(1, 100'000))});
  }
  return system;
}

TEST(SharedServerReference, random_jobs_end_when_a_slow_simulation_in_floating_point_says) {
  // With up to 20 jobs of 0.2 C at most, D / C stays below 5. What the server may lose: 2^-20 of
  // x = C / D (5e-6 of m at D / C = 5, half of it on average), 1.2e-7 x p between the steps of its
  // table, and 1 ps at each of up to 32 instants. So: 1e-6 while D is at most C, x D / C above it.
  for (const double exponent : {1.0, 1.7, 3.0, 6.0}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      SCOPED_TRACE("exponent " + std::to_string(exponent) + ", seed " + std::to_string(seed));
      const int jobs = seed % 2 == 0 ? 4 : 20;
      const System system = random_system(seed, exponent, jobs);
      double demand = 0;
      for (const Job& job : system.jobs) demand += job.demand;
      const double overload = std::max(1.0, demand / 400'000);  // 6 loads leave 0.4 C at least
      const std::vector<double> expected = ends_of_the_reference(system);
      const std::vector<double> got = ends_of_the_server(system);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(got[i] / expected[i], 1.0, 1e-6 * overload) << "job " << i;
      }
    }
  }
}

TEST(SharedServerReference, all_work_of_a_saturated_corner_takes_its_sum) {
  // Work conserving: 50 jobs that each fill the server, present from the start, keep it full until
  // the sum of their durations, whatever their lengths.
  Rng rng(1, "test/work");
  System system{.capacity = 1'000'000, .exponent = 200, .jobs = {}, .loads = {}};
  double sum = 0;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t alone = rng.between(1'000, 100'000'000);
    system.jobs.push_back({.start_ps = 0, .alone_ps = alone, .demand = 2'000'000});
    sum += static_cast<double>(alone) * 2;  // the demand is twice what the server has
  }
  const std::vector<double> ends = ends_of_the_server(system);
  const double last = *std::max_element(ends.begin(), ends.end());
  // D / C falls from 100 to 2, 51 on average: 1e-6 x 51.
  EXPECT_NEAR(last / sum, 1.0, 51e-6);
}

}  // namespace
}  // namespace weft::shared_server_reference_test
