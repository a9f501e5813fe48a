// A scenario of four GPUs for the trace of a test, t.*.et, that lies beside it.
#pragma once

namespace weft {

inline constexpr const char* kTraceScenario = R"(name: a trace
cluster:
  name: node
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/ideal}
  scale_up: {shape: switch, link: {bandwidth: 25 GB/s, latency: 700 ns}}
workload: {kind: chakra, path: t}
modes: [bulk]
)";

}  // namespace weft
