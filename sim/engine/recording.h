// Recording: what a run did and when, for over_time.csv and the timeline. Plain data; the Recorder
// fills it in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/intervals.h"
#include "sim/engine/results.h"

namespace weft {

// How much of a run is recorded besides what GPUs and links do in each interval. Each level
// includes those before it.
enum class Detail : std::uint8_t {
  intervals,  // nothing
  kernels,    // kernels, and the last message of each to every GPU; intervals of each GPU
  waves,      // WGs of a few CUs of each GPU, and all that they send
  all         // WGs of all CUs; intervals of each link
};

struct RecordOptions {
  Detail detail = Detail::intervals;
  std::size_t most = 0;  // WGs and messages together
};

// What the tracks of the intervals stand for: CUs (ps, summed) and HBM (bytes) of all GPUs, links
// of each class (ps in use, summed), and then, if requested and if they are not too many, the same
// for each GPU and each link.
struct Tracks {
  struct LinkClass {
    std::string name;
    std::uint32_t links = 0;
  };
  std::vector<LinkClass> classes;
  std::uint32_t gpus = 0;          // with tracks of their own; or 0
  std::vector<std::string> links;  // the same; or empty

  static constexpr std::size_t cu_time() { return 0; }
  static constexpr std::size_t hbm_bytes() { return 1; }
  static std::size_t of_class(std::size_t link_class) { return 2 + link_class; }
  [[nodiscard]] std::size_t cu_time(std::size_t gpu) const {
    return of_class(classes.size()) + gpu;
  }
  [[nodiscard]] std::size_t hbm_bytes(std::size_t gpu) const { return cu_time(gpus) + gpu; }
  [[nodiscard]] std::size_t of_link(std::size_t link) const { return hbm_bytes(gpus) + link; }
  [[nodiscard]] std::size_t size() const { return of_link(links.size()); }
};

struct ChosenTracks {
  Tracks tracks;
  std::vector<std::uint32_t> class_of;  // index into tracks.classes, by link
};
ChosenTracks choose_tracks(const Transport& transport, std::uint32_t gpus, Detail detail);

struct KernelRecord {
  std::uint32_t gpu = 0;
  std::uint32_t op = 0;
  KernelRole role = KernelRole::compute;
  Executor executor = Executor::cu;
  std::uint32_t items = 0;
  SimTime start;
  SimTime end;
};

// A period in which a WG, or copy engine, works on one item or waits.
struct WgRecord {
  static constexpr std::uint32_t kWaits = UINT32_MAX;
  SimTime start;
  SimTime end;
  std::uint32_t kernel = 0;
  std::uint32_t cu = 0;         // UINT32_MAX: a copy engine
  std::uint32_t slot = 0;       // for one WG on the GPU: records of one slot follow one another
  std::uint32_t item = kWaits;  // of its kernel
  Wait waits_for = Wait::post;
};

struct MessageRecord {
  static constexpr std::uint32_t kNoWg = UINT32_MAX;
  SimTime posted;
  SimTime arrived;
  std::uint32_t kernel = 0;  // that sent it
  std::uint32_t wg = kNoWg;  // the work after which it was sent: index into wgs
  std::uint32_t to = 0;      // GPU
  std::uint32_t size = 0;    // bytes
};

struct Recording {
  Tracks tracks;
  Intervals amounts;
  Detail detail = Detail::intervals;
  std::vector<std::string> operators;  // names
  std::vector<KernelRecord> kernels;
  std::vector<WgRecord> wgs;  // by end
  std::vector<MessageRecord> messages;
  std::uint32_t watched = 0;  // how many GPUs' WGs and messages are kept, from the first on
  std::uint32_t gpus = 0;
  bool full = false;  // what happened from `full_at` on is left out
  SimTime full_at;
};

// A replay of a recording in a run. In a whole model one recording may be replayed several times.
struct Played {
  std::uint32_t recording = 0;
  SimTime start;
  std::uint32_t first_gpu = 0;  // added to its GPUs
};

// The recordings of one mode's run.
struct RunRecording {
  std::vector<Recording> recordings;
  std::vector<Played> played;  // by start
  Tracks tracks;               // of the whole run
  Intervals amounts;
};

RunRecording alone(Recording recording);

}  // namespace weft
