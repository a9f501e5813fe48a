#include "sim/gpu_model/peer_law.h"

#include <algorithm>

#include "sim/core/round_up.h"
#include "sim/gpu_model/memory_law.h"

namespace weft {
namespace {

// Threads that store 16 B each, each to a line of its own, use a quarter of every 64 B.
constexpr std::int64_t kLinesOfThreads = 4;

}  // namespace

Bandwidth store_rate_of_threads(const PeerStoreSpec& peer) {
  return bytes_per_second(peer.wg_rate.count() / kLinesOfThreads);
}

Duration fence_time(const PeerStoreSpec& peer, Duration way, std::int64_t waited) {
  return way + peer.fence + peer.fence_more * waited;
}

Duration flag_time(const PeerStoreSpec& peer, Duration way) { return way + peer.flag; }

SimTime fence_ends(const PeerStoreSpec& peer, SimTime last, SimTime at) {
  return peer.fence_gap.count() > 0 ? later(at, last + peer.fence_gap) : at;
}

double store_seconds(const PeerStoreSpec& peer, std::int64_t size, std::int64_t wgs) {
  return transfer_seconds(static_cast<double>(round_up(size, wgs)), peer.wg_rate);
}

double turn_seconds(const PeerStoreSpec& peer, std::int64_t stored, Duration way) {
  return store_seconds(peer, stored, 1) + to_seconds(fence_time(peer, way));
}

// Fences pass one point in turn. Where it has idle time, a WG queues for it only once; where it has
// none, it is the bottleneck throughout.
double turns_seconds(const PeerStoreSpec& peer, const Turns& turns) {
  const auto wgs = static_cast<double>(turns.wgs);
  const auto each = static_cast<double>(turns.turns);
  const double apart = std::max(to_seconds(peer.fence_gap), turns.on_link);
  return std::max(each * turns.turn + (wgs - 1) * apart, turns.turn + (each * wgs - 1) * apart);
}

double copies_seconds(const DmaSpec& dma, std::int64_t size, std::int64_t copies) {
  const auto n = static_cast<double>(copies);
  return to_seconds(dma.schedule + dma.signal) + (n - 1) * to_seconds(dma.next) +
         n * transfer_seconds(static_cast<double>(size), dma.rate);
}

}  // namespace weft
