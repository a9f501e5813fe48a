// The yardstick for whole runs: the least that any event simulator of this work does, so that a run
// of weft can be given as a ratio to it on the same machine.
//
//   bare_loop [--x=16] [--y=8] [--wgs=16384] [--jitter=10] [--load=80]
//
// x x y GPUs on a torus. On each GPU 832 WGs at a time compute (100 us, +- jitter %), read the HBM
// first come first served, and send one message to another GPU: NIC, links in dimension order,
// arrival. One event for each of these steps and each hop, 16 bytes, in a plain 4-ary heap. No
// statistics, no flags, no residency, no checks. The busiest links are busy `load` % of the time
// that the HBM takes; beyond 100 the messages pile up in the network, and the heap with them.
//
// Options of Google Benchmark are taken too: with any of them it runs small, as a smoke test.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/rng.h"
#include "tests/bench/four_heap.h"

namespace {

struct Options {
  std::uint32_t x = 16;
  std::uint32_t y = 8;
  std::uint32_t wgs = 16'384;
  std::uint32_t jitter_percent = 10;
  std::uint32_t load_percent = 80;
};

// content: number of the WG in the whole cluster (32 bits), what happens (8), where (24). The order
// of events is (time, content): two runs are the same run.
using Event = weft::bench::Key;

enum Step : std::uint64_t { computed, read, at_vertex, arrived };

// Picoseconds; a WG of the 128-node scenario reads 412 KB at 1.4 TB/s.
constexpr std::uint64_t kCompute = 100'000'000;
constexpr std::uint64_t kRead = 294'400;
constexpr std::uint64_t kNicLatency = 600'000;
constexpr std::uint64_t kLinkLatency = 700'000;
constexpr std::uint64_t kReceive = 2'800'000;
constexpr std::uint32_t kResident = 832;

class BareLoop {
 public:
  explicit BareLoop(const Options& options)
      : options_(options),
        gpus_(options.x * options.y),
        serialise_(serialisation(options)),
        memory_free_(gpus_, 0),
        nic_free_(gpus_, 0),
        next_wg_(gpus_, 0),
        link_free_(std::size_t{gpus_} * 4, 0) {}

  void run() {
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      for (std::uint32_t i = 0; i < kResident; ++i) begin_next_wg(0, gpu);
    }
    while (!queue_.empty()) {
      const Event event = queue_.pop();
      ++events_;
      handle(event);
      end_ps_ = event.at_ps;
      checksum_ = (checksum_ ^ event.at_ps ^ event.content) * 0x9E3779B97F4A7C15ULL;
    }
  }

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t end_ps() const { return end_ps_; }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_; }

 private:
  void push(std::uint64_t at_ps, std::uint64_t wg, Step step, std::uint32_t where) {
    queue_.push({at_ps, (wg << 32U) | (std::uint64_t{step} << 24U) | where});
  }

  // Of n GPUs in a ring a message crosses 1 + 2 + .. + n/2 links upwards, over all n destinations;
  // ties go upwards, so these are the busiest links.
  static std::uint64_t serialisation(const Options& options) {
    const std::uint64_t n = options.x > options.y ? options.x : options.y;
    const std::uint64_t crossings = n / 2 * (n / 2 + 1) / 2;
    return kRead * n * options.load_percent / 100 / crossings;
  }

  static std::uint64_t serve(std::uint64_t& free_at, std::uint64_t now, std::uint64_t busy) {
    const std::uint64_t start = now > free_at ? now : free_at;
    free_at = start + busy;
    return start;
  }

  void begin_next_wg(std::uint64_t now, std::uint32_t gpu) {
    if (next_wg_[gpu] == options_.wgs) return;
    const std::uint64_t wg = std::uint64_t{gpu} * options_.wgs + next_wg_[gpu]++;
    const std::uint64_t span = kCompute / 100 * options_.jitter_percent;
    const std::uint64_t jitter = span == 0 ? 0 : weft::mix64(wg) % (2 * span + 1);
    push(now + kCompute - span + jitter, wg, computed, gpu);
  }

  void handle(const Event& event) {
    const std::uint64_t wg = event.content >> 32U;
    const auto where = static_cast<std::uint32_t>(event.content & 0xFFFFFFU);
    switch (static_cast<Step>((event.content >> 24U) & 0xFFU)) {
      case computed:
        push(serve(memory_free_[where], event.at_ps, kRead) + kRead, wg, read, where);
        return;
      case read:
        push(serve(nic_free_[where], event.at_ps, serialise_) + kNicLatency, wg, at_vertex, where);
        begin_next_wg(event.at_ps, where);
        return;
      case at_vertex:
        hop(event.at_ps, wg, where);
        return;
      case arrived:
        return;
    }
  }

  // Own + 1, own + 2, ...: everyone in turn.
  [[nodiscard]] std::uint32_t destination(std::uint64_t wg) const {
    const std::uint64_t from = wg / options_.wgs;
    return static_cast<std::uint32_t>((from + 1 + wg % options_.wgs % (gpus_ - 1)) % gpus_);
  }

  void hop(std::uint64_t now, std::uint64_t wg, std::uint32_t here) {
    const std::uint32_t to = destination(wg);
    if (here == to) {
      push(now + serialise_ + kReceive, wg, arrived, here);
      return;
    }
    const std::uint32_t x = here % options_.x;
    const std::uint32_t y = here / options_.x;
    const std::uint32_t to_x = to % options_.x;
    std::uint32_t link = here * 4;
    std::uint32_t next = 0;
    if (x != to_x) {
      const std::uint32_t forward = to_x > x ? to_x - x : to_x + options_.x - x;
      const bool up = 2 * forward <= options_.x;
      link += up ? 0 : 1;
      next = y * options_.x + (up ? (x + 1) % options_.x : (x + options_.x - 1) % options_.x);
    } else {
      const std::uint32_t to_y = to / options_.x;
      const std::uint32_t forward = to_y > y ? to_y - y : to_y + options_.y - y;
      const bool up = 2 * forward <= options_.y;
      link += up ? 2 : 3;
      next = x + options_.x * (up ? (y + 1) % options_.y : (y + options_.y - 1) % options_.y);
    }
    push(serve(link_free_[link], now, serialise_) + kLinkLatency, wg, at_vertex, next);
  }

  Options options_;
  std::uint32_t gpus_;
  std::uint64_t serialise_;
  std::vector<std::uint64_t> memory_free_;
  std::vector<std::uint64_t> nic_free_;
  std::vector<std::uint32_t> next_wg_;
  std::vector<std::uint64_t> link_free_;
  weft::bench::FourHeap<Event> queue_;
  std::uint64_t events_ = 0;
  std::uint64_t end_ps_ = 0;
  std::uint64_t checksum_ = 0;
};

bool take(std::string_view argument, std::string_view name, std::uint32_t& value) {
  if (!argument.starts_with(name)) return false;
  value = static_cast<std::uint32_t>(
      std::strtoul(std::string(argument.substr(name.size())).c_str(), nullptr, 10));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--benchmark")) {
      options.wgs = 256;
    } else if (!take(argument, "--x=", options.x) && !take(argument, "--y=", options.y) &&
               !take(argument, "--wgs=", options.wgs) &&
               !take(argument, "--jitter=", options.jitter_percent) &&
               !take(argument, "--load=", options.load_percent)) {
      std::fprintf(stderr,
                   "usage: bare_loop [--x=16] [--y=8] [--wgs=16384] [--jitter=10] [--load=80]\n");
      return 1;
    }
  }
  const std::uint64_t gpus = std::uint64_t{options.x} * options.y;
  if (gpus < 2 || gpus >= (1U << 24U) || options.wgs == 0 || options.jitter_percent > 100 ||
      gpus * options.wgs > UINT32_MAX) {
    std::fprintf(stderr, "bare_loop: 2 to 2^24 GPUs, 1 WG or more, fewer than 2^32 in all\n");
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  BareLoop loop(options);
  loop.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const auto events = static_cast<double>(loop.events());
  // CPU time, because other work on the machine moves the wall time.
  std::printf(
      "bare_loop %ux%u, %u WGs: %.1f M events, wall %.3f s, CPU %.3f s, %.1f ns an event, "
      "end %.1f us, checksum %016llx\n",
      options.x, options.y, options.wgs, events * 1e-6, wall.count(), cpu, cpu * 1e9 / events,
      static_cast<double>(loop.end_ps()) * 1e-6, static_cast<unsigned long long>(loop.checksum()));
  return 0;
}
