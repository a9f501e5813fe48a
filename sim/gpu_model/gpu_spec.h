// What one GPU is, as far as the simulator asks. Plain data; every number comes from a file of
// configs/gpus, where it stands with its source.
#pragma once

#include <string>

#include "sim/core/quantity.h"

namespace weft {

// What a CU can hold at once, and what one work-group (WG) of a kernel asks of it.
struct CuResources {
  int waves = 0;      // wavefronts (warps)
  int registers = 0;  // 32-bit vector registers of the whole CU; a WG takes threads x registers
  Bytes lds;          // local data share (shared memory)
  int wgs = 0;        // WG slots
};

struct MemorySpec {
  Bandwidth bandwidth;  // what streams reach with many WGs, not the data sheet's peak
  Duration latency;     // of one load on an idle memory system
  double bend = 0;      // exponent of the bend near saturation (docs/model.md, "Memory")
  Bytes capacity;
};

// What stands between a kernel and the one before it.
struct LaunchSpec {
  Duration host;         // launched by the host after it saw the previous one end
  Duration queue;        // already waiting in the stream's queue when the previous one ends
  Duration graph;        // node of a graph launched as a whole
  Duration wg_interval;  // the dispatcher starts one WG per interval
};

// Copy engines: they use neither CUs nor caches, but HBM and links.
struct DmaSpec {
  int engines = 0;
  Bandwidth rate;    // of one engine
  Duration command;  // fixed cost of one copy: schedule and signal
};

// Stores of a kernel into a peer's memory.
struct PeerStoreSpec {
  Bandwidth wg_rate;  // what one WG's stores reach alone
  Duration fence;     // release: until what is outstanding is known to have arrived
  Duration flag;      // from the flag's arrival to the waiter seeing it (polling)
};

// The library's collective kernels on this GPU (docs/model.md, "Collective kernels").
struct CollectiveSpec {
  Duration startup;        // launch of the kernel to its first byte moving, and the last handshake
  int channels = 0;        // WGs of the kernel
  Bandwidth channel_rate;  // what one of them copies
  Bytes chunk;             // the most that one step of a channel moves
};

struct GpuSpec {
  std::string name;
  int cus = 0;
  int wave_size = 0;  // lanes of a wave
  CuResources cu;
  FlopRate fp32_vector;  // peak of the whole GPU
  MemorySpec memory;
  LaunchSpec launch;
  DmaSpec dma;
  PeerStoreSpec peer_store;
  CollectiveSpec collective;
};

}  // namespace weft
