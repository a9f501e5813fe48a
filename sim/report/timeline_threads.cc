#include "sim/report/timeline_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

// Threads are sorted by number: streams, then what copy engines do, then CU by CU.
constexpr std::uint64_t kPerStream = 10'000;
constexpr std::uint64_t kEngines = 3 * kPerStream;
constexpr std::uint64_t kPerCu = 10'000;
constexpr std::uint64_t kFirstCu = 10 * kPerStream;

std::uint64_t stream_of(const KernelRecord& kernel) {
  if (kernel.executor == Executor::dma) return 2;
  return kernel.role == KernelRole::collective ? 1 : 0;
}

std::string numbered(const char* name, std::uint64_t index) {
  return index == 0 ? name : fmt::format("{} {}", name, index + 1);
}

}  // namespace

std::vector<PlayedKernel> kernels_on_threads(const RunRecording& run, std::uint32_t gpus) {
  std::vector<PlayedKernel> kernels;
  for (std::uint32_t play = 0; play < run.played.size(); ++play) {
    const Played& played = run.played[play];
    const Recording& recording = run.recordings[played.recording];
    for (std::uint32_t k = 0; k < recording.kernels.size(); ++k) {
      const KernelRecord& kernel = recording.kernels[k];
      const std::uint32_t gpu = kernel.gpu + played.first_gpu;
      if (gpu >= gpus) continue;
      kernels.push_back({.play = play,
                         .kernel = k,
                         .gpu = gpu,
                         .thread = stream_of(kernel),
                         .start = played.start + (kernel.start - SimTime{}),
                         .end = played.start + (kernel.end - SimTime{})});
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const PlayedKernel& a, const PlayedKernel& b) {
                     return a.gpu != b.gpu ? a.gpu < b.gpu : a.start < b.start;
                   });
  std::map<std::uint64_t, std::vector<SimTime>> free;  // by GPU and stream
  for (PlayedKernel& kernel : kernels) {
    std::vector<SimTime>& threads = free[3 * std::uint64_t{kernel.gpu} + kernel.thread];
    auto thread = std::find_if(threads.begin(), threads.end(),
                               [&kernel](SimTime until) { return until <= kernel.start; });
    if (thread == threads.end()) thread = threads.insert(thread, SimTime{});
    *thread = kernel.end;
    kernel.thread =
        kernel.thread * kPerStream + 1 + static_cast<std::uint64_t>(thread - threads.begin());
  }
  return kernels;
}

std::string name_of_stream(std::uint64_t thread) {
  constexpr const char* kNames[] = {"compute", "communication", "copies"};
  SIM_ASSERT(thread < kEngines);
  return numbered(kNames[thread / kPerStream], thread % kPerStream - 1);
}

std::uint64_t WgThreads::thread_of(std::uint32_t gpu, const WgRecord& wg) {
  std::vector<Place>& places = places_[(std::uint64_t{gpu} << 32U) | wg.cu];
  // Its own if nobody took it meanwhile.
  auto place = std::find_if(places.begin(), places.end(), [&wg](const Place& other) {
    return other.slot == wg.slot && other.free <= wg.start;
  });
  if (place == places.end()) {
    place = std::find_if(places.begin(), places.end(),
                         [&wg](const Place& other) { return other.free <= wg.start; });
  }
  if (place == places.end()) place = places.insert(place, Place{});
  *place = {.free = wg.end, .slot = wg.slot};
  const auto index = static_cast<std::uint64_t>(place - places.begin());
  return wg.cu == UINT32_MAX ? kEngines + index : kFirstCu + wg.cu * kPerCu + index;
}

std::string WgThreads::name_of(std::uint64_t thread) {
  if (thread < kFirstCu) return fmt::format("copy engine {}", thread - kEngines);
  return fmt::format("CU {} WG {}", (thread - kFirstCu) / kPerCu, (thread - kFirstCu) % kPerCu);
}

}  // namespace weft
