// An all-to-all of 128 GPUs on a 16x8 torus, several messages a pair, driven by an event queue and
// nothing else: what a message costs, and what one event of it does (a link handing it on).
#include <benchmark/benchmark.h>

#include <cstdint>

#include "sim/core/event_queue.h"
#include "sim/network/transport.h"
#include "tests/unit/network/fabric_of.h"

namespace {

constexpr std::uint32_t kGpus = 128;

weft::NetworkSpec torus_of_128() {
  weft::NetworkSpec spec;
  spec.nodes = static_cast<int>(kGpus);
  weft::FabricSpec torus = weft::fabric("torus, dims: [16, 8]");
  torus.link = {.bandwidth = weft::gigabits_per_second(200), .latency = weft::nanoseconds(700)};
  spec.scale_out = torus;
  weft::NicSpec nic;
  nic.per_node = 1;
  nic.bandwidth = weft::gigabits_per_second(200);
  nic.latency = weft::nanoseconds(600);
  nic.message_interval = weft::picoseconds(4'652);
  nic.receive = weft::nanoseconds(2'800);
  nic.queue_depth = 1'024;
  spec.nic = nic;
  return spec;
}

void all_to_all_on_a_torus(benchmark::State& state) {
  const auto rounds = static_cast<std::uint32_t>(state.range(0));
  weft::Transport transport(torus_of_128());
  weft::EventQueue queue;
  weft::SimTime now;
  std::int64_t messages = 0;
  std::int64_t events = 0;
  const auto wake = [&](const weft::Wake& w) {
    if (!w.link.is_none()) queue.push(w.at, w.link.value);
  };
  for (auto _ : state) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t step = 1; step < kGpus; ++step) {
        for (std::uint32_t from = 0; from < kGpus; ++from) {
          wake(transport
                   .post(now, {.tag = from,
                               .from_gpu = from,
                               .to_gpu = (from + step) % kGpus,
                               .size = weft::bytes(5'888)})
                   .wake);
          ++messages;
        }
      }
    }
    while (!queue.empty()) {
      const weft::Event event = queue.pop();
      now = weft::SimTime::from_count(static_cast<std::int64_t>(event.at_ps));
      const weft::Arrived arrived =
          transport.arrive(now, weft::LinkId(static_cast<std::uint32_t>(event.content)));
      for (const weft::Wake& w : arrived.wakes) wake(w);
      ++events;
    }
  }
  state.counters["messages/s"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["ns/event"] =
      benchmark::Counter(static_cast<double>(events) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(all_to_all_on_a_torus)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
