// Threads of a timeline: what runs at the same time is on different threads.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/recording.h"
#include "sim/report/trace_events.h"

namespace weft {

// A kernel in one replay of its recording.
struct PlayedKernel {
  std::uint32_t play = 0;    // index into RunRecording::played
  std::uint32_t kernel = 0;  // into its recording's kernels
  std::uint32_t gpu = 0;     // of the cluster
  std::uint64_t thread = 0;
  SimTime start;
  SimTime end;
};

// Of the first `gpus` GPUs, by GPU and start; each is on the first thread of its stream that is
// free.
std::vector<PlayedKernel> kernels_on_threads(const RunRecording& run, std::uint32_t gpus);

// "compute", "communication 2", "copy engines".
std::string name_of_stream(std::uint64_t thread);

// Assigns WGs, in the order of their starts, to threads of their CU.
class WgThreads {
 public:
  // `gpu` is its number in the cluster.
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
