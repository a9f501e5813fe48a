// Stores into a peer's memory, their fences and flags, and copies by engines (docs/model.md,
// "Fences" and "Copy engines").
//
//   a WG's stores alone  = bytes / peer_store.wg_rate; by single threads a quarter of that rate
//   a fence              = the path to the peer + peer_store.fence
//   a flag is seen       = the path to the peer + peer_store.flag
//   fences of all CUs    end peer_store.fence_gap apart
//   a CU's next fence    takes peer_store.fence_more longer for each WG that has waited for it
//   n copies of an engine = dma.schedule + n x bytes / dma.rate + (n - 1) x dma.next + dma.signal
//
// A path (`way`) takes a link's latency times the links it crosses. The closed forms are in
// seconds.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// The rate of one WG's stores where they leave from single threads.
Bandwidth store_rate_of_threads(const PeerStoreSpec& peer);

// From a fence, whose stores are still in flight, to the confirmation that they have arrived.
// `waited`: WGs that came while the CU's last fence was in progress, and share this one.
Duration fence_time(const PeerStoreSpec& peer, Duration way, std::int64_t waited = 0);
// From a flag's store to its reader continuing.
Duration flag_time(const PeerStoreSpec& peer, Duration way);

// When a fence ends that could end at `at`, where the last one of its GPU ended at `last`.
SimTime fence_ends(const PeerStoreSpec& peer, SimTime last, SimTime at);

// The time of `size` bytes stored to a peer, an equal part by each WG, where the link is not the
// limit.
double store_seconds(const PeerStoreSpec& peer, std::int64_t size, std::int64_t wgs);

// A turn: one WG stores this much, fences and sets a flag, once.
double turn_seconds(const PeerStoreSpec& peer, std::int64_t stored, Duration way);

// WGs on CUs of their own that each take `turns` turns, of length `turn` alone, where fences end
// one after another: a gap apart, or as the link, which each turn occupies for `on_link`, allows.
struct Turns {
  double turn = 0;
  double on_link = 0;
  std::int64_t wgs = 1;
  std::int64_t turns = 1;
};
double turns_seconds(const PeerStoreSpec& peer, const Turns& turns);

// From the commands' arrival at an engine to the waiter seeing the last copy.
double copies_seconds(const DmaSpec& dma, std::int64_t size, std::int64_t copies);

}  // namespace weft
