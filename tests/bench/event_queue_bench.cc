// Hold model: n events pending, each step pops the first and pushes one an exponential delay later.
// The time reported is that of one pop and one push.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/core/event_queue.h"
#include "sim/core/rng.h"
#include "tests/bench/four_heap.h"

namespace {

using weft::Event;

struct Radix {
  weft::EventQueue queue;
  void push(const Event& e) {
    queue.push(weft::SimTime::from_count(static_cast<std::int64_t>(e.at_ps)), e.content);
  }
  Event pop() { return queue.pop(); }
};

struct StdPriority {
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
  void push(const Event& e) { queue.push(e); }
  Event pop() {
    const Event first = queue.top();
    queue.pop();
    return first;
  }
};

struct FourAry {
  weft::bench::FourHeap<weft::bench::Key> queue;
  void push(const Event& e) { queue.push({e.at_ps, e.content}); }
  Event pop() {
    const weft::bench::Key first = queue.pop();
    return {first.at_ps, first.content};
  }
};

constexpr std::size_t kDelays = 1U << 16U;

// Exponential delays, 1 us on average, made before the clock starts.
std::vector<std::uint64_t> delays() {
  weft::Rng rng(1, "bench/delays");
  std::vector<std::uint64_t> made;
  made.reserve(kDelays);
  for (std::size_t i = 0; i < kDelays; ++i) {
    const double u = (static_cast<double>(rng() >> 11U) + 1.0) * 0x1p-53;
    made.push_back(static_cast<std::uint64_t>(-1e6 * std::log(u)));
  }
  return made;
}

template <class Queue>
void hold(benchmark::State& state) {
  const std::vector<std::uint64_t> delay = delays();
  const auto pending = static_cast<std::size_t>(state.range(0));
  Queue queue;
  weft::Rng rng(2, "bench/pending");
  for (std::size_t i = 0; i < pending; ++i) {
    queue.push({delay[static_cast<std::size_t>(rng()) % kDelays], i});
  }
  std::size_t next = 0;
  const auto step = [&] {
    const Event event = queue.pop();
    queue.push({event.at_ps + delay[next++ % kDelays], event.content});
  };
  for (std::size_t i = 0; i < pending; ++i) step();  // from the start to the steady state
  for (auto _ : state) step();
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_TEMPLATE(hold, Radix)->RangeMultiplier(10)->Range(100, 1'000'000);
BENCHMARK_TEMPLATE(hold, FourAry)->RangeMultiplier(10)->Range(100, 1'000'000);
BENCHMARK_TEMPLATE(hold, StdPriority)->RangeMultiplier(10)->Range(100, 1'000'000);

}  // namespace
