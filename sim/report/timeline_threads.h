// Threads of a timeline: what is at work at the same time lies on threads of its own.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/recording.h"
#include "sim/report/trace_events.h"

namespace weft {

// A kernel where it is played.
struct PlayedKernel {
  std::uint32_t play = 0;    // index into RunRecording::played
  std::uint32_t kernel = 0;  // into its recording's kernels
  std::uint32_t gpu = 0;     // of the cluster
  std::uint64_t thread = 0;
  SimTime start;
  SimTime end;
};

// All of these GPUs, from the first one on, by GPU and start, on the first thread of their stream
// that is free.
std::vector<PlayedKernel> kernels_on_threads(const RunRecording& run, std::uint32_t gpus);

// "compute", "communication 2", "copy engines".
std::string name_of_stream(std::uint64_t thread);

// Gives WGs, in the order of their starts, threads of their CU.
class WgThreads {
 public:
  // `gpu` is of the cluster.
  std::uint64_t thread_of(std::uint32_t gpu, const WgRecord& wg);
  static std::string name_of(std::uint64_t thread);

 private:
  struct Place {
    SimTime free;
    std::uint32_t slot;
  };
  std::map<std::uint64_t, std::vector<Place>> places_;  // by GPU and CU
};

}  // namespace weft
