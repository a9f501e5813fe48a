#include "sim/report/timeline_memory.h"

#include <algorithm>

namespace weft {
namespace {

// For each byte of text at most, in tenths: the text while it grows (20), its copy in the order of
// time (10), places of its events (4), and records of 40 bytes for each 130 bytes of text (4, or 8
// while they grow), and their order (2).
constexpr std::int64_t kTenthsPerByte = 40;

}  // namespace

Bytes tracks_memory(const Cluster& cluster, Detail detail) {
  const Transport transport(cluster.network);
  const std::size_t tracks = choose_tracks(transport, cluster.gpus(), detail).tracks.size();
  return bytes(static_cast<std::int64_t>(tracks * Intervals::kMost * sizeof(std::int64_t)));
}

Bytes longest_timeline_in(Bytes memory) {
  return bytes(std::max<std::int64_t>(0, memory.count()) / kTenthsPerByte * 10);
}

}  // namespace weft
