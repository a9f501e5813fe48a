// Runs a task graph on a cluster.
#pragma once

#include <functional>
#include <optional>

#include "sim/engine/recording.h"
#include "sim/engine/results.h"
#include "sim/engine/run_key.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct Progress {
  std::uint64_t events = 0;
  SimTime now;
  std::uint64_t wgs_done = 0;
  std::uint64_t wgs = 0;  // this and the next two: totals of the task graph
  std::uint64_t kernels = 0;
  std::uint64_t messages = 0;
};
using OnProgress = std::function<void(const Progress&)>;
constexpr std::uint64_t kProgressEvery = 1U << 18U;  // events, about

// Simulates until everything is done, the run deadlocks, or it reaches a limit of `options`. The
// same arguments give the same result, byte for byte, on any number of `options.cores`.
// `on_progress` is called at the start and about every kProgressEvery events, by the caller's
// thread; a run that is repeated in one queue begins again.
RunResult simulate(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                   const OnProgress& on_progress = {});

// The same, and the key by which it is known from then on: where `options.known` is asked, and the
// run is worth it.
struct KnownRun {
  RunResult result;
  std::optional<RunKey> key;
};
KnownRun simulate_or_know(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                          const OnProgress& on_progress = {});

// The same, with a recording of what happened. Only a run that finished has a recording.
struct Recorded {
  RunResult result;
  Recording recording;
};
Recorded simulate_and_record(const Cluster& cluster, const TaskGraph& graph,
                             const RunOptions& options, const RecordOptions& record,
                             const OnProgress& on_progress = {});

}  // namespace weft
