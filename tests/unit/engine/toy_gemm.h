// A GEMM whose times can be counted by hand, for the modes that overlap it with its collective.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft {

// Two GPUs of 8 CUs that hold one WG of the GEMM each, which needs all of the LDS, and a barrier's;
// a launch takes 1 us, all else but tiles and copies nothing. Each peer's part has 16 tiles of 100
// us: two rounds, 200 us. Of the input a peer has 400 rows of 5,000 elements of 2 B, 4 MB; its
// results are 400 x 400 elements, 320 kB.
inline Scenario toy_gemm(const std::string& kind, std::vector<std::string> sets) {
  sets.push_back("workload.kind=" + kind);
  return scenario_of(R"(
name: a GEMM by hand
cluster:
  name: two GPUs
  nodes: 1
  gpus_per_node: 2
  gpu:
    base: gpus/ideal
    cus: 8
    cu: {wgs: 2}
    bf16_matrix: 8 TFLOP/s
    launch: {queue: 1 us}
    dma: {engines: 1}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 0 ns}}
workload:
  kind: gemm_all_to_all
  gemm:
    {m: 800, n: 400, k: 5000, tile_m: 100, tile_n: 100, efficiency: 1, schedule: tiles,
     wg: {lds: 64 KiB}}
modes: [all]
)",
                     sets);
}

inline double time_us(const Scenario& scenario, Mode mode) {
  const RunResult result = run(scenario, mode);
  EXPECT_TRUE(result.ledger.balanced());
  return to_microseconds(result.time);
}

}  // namespace weft
