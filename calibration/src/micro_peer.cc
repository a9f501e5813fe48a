// Stores of kernels into the memory of peers, against the number of WGs.

#include "buffers.h"
#include "data.h"
#include "kernels.h"
#include "streaming.h"
#include "suite.h"

namespace calibration {
namespace {

// Stores what registers hold: no load is waited for.
__global__ void fill_words(uint4* to, std::size_t words) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const uint4 word = make_uint4(threadIdx.x, blockIdx.x, 1, 2);
#pragma unroll 1
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    to[i] = word;
  }
}

// Copies to all peers at once: a WG's next 256 words go to the next peer. `words` is for each peer.
__global__ void copy_to_peers(const uint4* from, PerGpu<uint4> to, int me, int gpus,
                              std::size_t words) {
  const auto peers = static_cast<std::size_t>(gpus - 1);
  const std::size_t chunks = words / blockDim.x;
#pragma unroll 1
  for (std::size_t chunk = blockIdx.x; chunk < chunks * peers; chunk += gridDim.x) {
    const int peer = (me + 1 + static_cast<int>(chunk % peers)) % gpus;
    const std::size_t word = chunk / peers * blockDim.x + threadIdx.x;
    to.at[peer][word] = from[word];
  }
}

enum class Source { memory, registers };

std::vector<double> measure_one_peer(const Bench& bench, int wgs, std::size_t stored_bytes,
                                     Source source) {
  const Machine& machine = bench.machine;
  const std::size_t words = stored_bytes / sizeof(uint4);
  const Buffers<uint4> from(machine, words, Reach::local);
  const Buffers<uint4> to(machine, words, Reach::peers);
  for (int g = 0; g < machine.size(); ++g) {
    fill_test_data(machine.gpu(g), reinterpret_cast<float*>(from[g]), stored_bytes / 4,
                   static_cast<std::uint32_t>(g));
  }
  const auto verify = [&] {
    for (int g = 0; g < machine.size(); ++g) {
      const Gpu& gpu = machine.gpu(machine.next(g));
      gpu.use();
      expect_equal(gpu, reinterpret_cast<const float*>(to[machine.next(g)]),
                   reinterpret_cast<const float*>(from[g]), stored_bytes / 4, 0,
                   "stores to a peer");
    }
  };
  const auto queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      machine.gpu(g).use();
      uint4* peer = to[machine.next(g)];
      if (source == Source::memory) {
        launch(copy_words, {.wgs = wgs}, machine.gpu(g).main, from[g], peer, words);
      } else {
        launch(fill_words, {.wgs = wgs}, machine.gpu(g).main, peer, words);
      }
    }
  };
  if (source == Source::registers) {
    return bench.timer.behind_gate({.queue = queue});
  }
  return bench.timer.behind_gate(
      {.queue = queue, .prepare = [&] { to.fill_bytes(0xFF); }, .verify = verify});
}

std::vector<double> measure_all_peers(const Bench& bench, int wgs, std::size_t bytes_per_peer) {
  const Machine& machine = bench.machine;
  const std::size_t words = bytes_per_peer / sizeof(uint4);
  const Buffers<uint4> from(machine, words, Reach::local);
  const Buffers<uint4> to(machine, words * static_cast<std::size_t>(machine.size()), Reach::peers);
  return bench.timer.behind_gate({.queue = [&](unsigned) {
    for (int g = 0; g < machine.size(); ++g) {
      PerGpu<uint4> mine = to.all();  // the part of each peer's buffer that is for this sender
      for (int peer = 0; peer < machine.size(); ++peer) {
        mine.at[peer] += words * static_cast<std::size_t>(g);
      }
      machine.gpu(g).use();
      launch(copy_to_peers, {.wgs = wgs}, machine.gpu(g).main, from[g], mine, g, machine.size(),
             words);
    }
  }});
}

}  // namespace

void add_peer_stores(const Plan& plan, Cases& cases) {
  const std::size_t stored_bytes = plan.at_most(std::size_t{64} << 20U, std::size_t{1} << 20U);
  const std::size_t per_peer = stored_bytes / 2;
  for (const int wgs : {1, 2, 4, 8, 16, 32, 64, plan.units, 2 * plan.units, 4 * plan.units}) {
    JsonLine line = line_of("micro.p2p_store_one_peer", plan);
    line.set("wgs", wgs).set("bytes", static_cast<std::int64_t>(stored_bytes));
    cases.push_back({line, Depth::quick, [=](const Bench& bench) {
                       return measure_one_peer(bench, wgs, stored_bytes, Source::memory);
                     }});
    JsonLine stores = line_of("micro.p2p_store_registers", plan);
    stores.set("wgs", wgs).set("bytes", static_cast<std::int64_t>(stored_bytes));
    cases.push_back({stores, Depth::full, [=](const Bench& bench) {
                       return measure_one_peer(bench, wgs, stored_bytes, Source::registers);
                     }});
    JsonLine all = line_of("micro.p2p_store_all_peers", plan);
    all.set("wgs", wgs).set("bytes_per_peer", static_cast<std::int64_t>(per_peer));
    cases.push_back({all, Depth::quick,
                     [=](const Bench& bench) { return measure_all_peers(bench, wgs, per_peer); }});
  }
}

}  // namespace calibration
