// The HBM of one GPU with all its WGs resident: 832 jobs (104 CUs x 8) of lengths that differ by
// 10 %. The time reported is that of one job ending and the next beginning.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "sim/core/rng.h"
#include "sim/core/shared_server.h"

namespace {

using weft::picoseconds;
using weft::SharedServer;
using weft::SimTime;

void job_ends_and_next_begins(benchmark::State& state) {
  const auto jobs = static_cast<std::uint32_t>(state.range(0));
  const weft::Bend bend(2.0);
  SharedServer server(1'400'000'000, &bend);  // kB/s: 1.4 TB/s
  weft::Rng rng(1, "bench/jobs");
  std::vector<weft::Duration> alone;
  for (int i = 0; i < 4'096; ++i)
    alone.push_back(picoseconds(rng.between(90'000'000, 110'000'000)));
  constexpr std::uint32_t kDemand = 4'000'000;  // together 2.4 times the capacity
  std::size_t next = 0;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    server.add(SimTime{}, job, alone[next++ % alone.size()], kDemand);
  }
  SimTime now = server.settle(SimTime{});
  std::int64_t ended = 0;
  for (auto _ : state) {
    server.advance(now);
    for (auto job = server.take_done(); job != SharedServer::kNoJob; job = server.take_done()) {
      server.add(now, job, alone[next++ % alone.size()], kDemand);
      ++ended;
    }
    now = server.settle(now);
    // The virtual clock holds 18 minutes: a longer benchmark begins anew.
    if (now.count() > 1'000'000'000'000'000) {
      state.PauseTiming();
      server = SharedServer(1'400'000'000, &bend);
      for (std::uint32_t job = 0; job < jobs; ++job) {
        server.add(SimTime{}, job, alone[next++ % alone.size()], kDemand);
      }
      now = server.settle(SimTime{});
      state.ResumeTiming();
    }
  }
  state.SetItemsProcessed(ended);
}

BENCHMARK(job_ends_and_next_begins)->Arg(8)->Arg(104)->Arg(832)->Arg(8'192);

}  // namespace
