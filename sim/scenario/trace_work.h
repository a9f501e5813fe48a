// A recorded trace as a workload: where it is, and what its numbers mean where writers differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/scenario/workload_kinds.h"

namespace weft {

enum class CommSizeUnit : std::uint8_t { bytes, elements };
// An all-gather's comm_size: what each rank puts in, or what it has in the end.
enum class AllGatherSize : std::uint8_t { per_rank, total };
enum class CpuOps : std::uint8_t {
  drop,  // take no time; those behind them wait for those before them
  run    // as kernels of one WG, on a stream of their own
};
// Recorders say what waits for operators of the CPU, each of which stands for what it launched.
enum class WaitFor : std::uint8_t {
  data,                  // data dependencies; collectives are only started by the CPU
  blocking_collectives,  // and whoever comes behind an operator that started one waits for it
  data_and_control
};

// What becomes of the time in which the host, not the GPU, was at work.
enum class HostTime : std::uint8_t {
  drop,     // the GPU never waits for it
  recorded  // kernels wait until the host, which took its recorded time, has launched them
};

// What several profiled steps become.
enum class StepsAs : std::uint8_t { in_a_row, mean };

// What is absent follows from who wrote the trace; the choice is printed.
struct TraceWork {
  WorkloadKind format = WorkloadKind::chakra;
  std::string path;
  std::string execution_traces;  // pytorch; empty: the profiles say the sizes
  std::int64_t step = -1;        // of a profile's steps this one, or the first; -1: all
  std::int64_t last_step = -1;   // the last; -1: step is the only one
  StepsAs steps = StepsAs::in_a_row;
  HostTime host = HostTime::drop;
  std::string collective_sizes;  // nsys, rocprof: file of sizes that the profile lacks, or empty
  std::string groups;            // chakra: file of process groups, or empty
  bool one_for_all = false;      // rank 0's trace stands for all GPUs
  std::optional<CommSizeUnit> comm_size_unit;
  int element_bytes = 2;
  std::optional<AllGatherSize> allgather_size_is;
  std::optional<CpuOps> cpu_ops;
  std::optional<WaitFor> waits_for;
  bool find_blocks = false;            // what recurs is simulated once
  int copies = 1;                      // data-parallel replicas in the cluster ...
  int recorded_copies = 1;             // ... and in the trace
  std::optional<GpuSpec> recorded_on;  // none: on the cluster's GPU
};

}  // namespace weft
