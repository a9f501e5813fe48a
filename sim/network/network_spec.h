// Fabrics and NICs, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/network/topology.h"

namespace weft {

// What a switch does with a message, if it can (TopologySpec::sums_on_the_way).
enum class InSwitch : std::uint8_t {
  nothing,    // forwards it
  reduces,    // adds up what all GPUs of a group send to one of them, and forwards the sum
  multicasts  // forwards what one GPU of a group sends to all of them
};

// One direction of one cable. `bandwidth` is that of payload.
struct LinkSpec {
  Bandwidth bandwidth;
  Duration latency;  // first byte in to first byte out, including the switch after it
  // What copy engines reach, as a ratio to `bandwidth`: their packets are larger than those of
  // stores by WGs.
  double engine_ratio = 1;
};

struct FabricSpec {
  Topology topology;
  LinkSpec link;
  Bytes segment;  // messages are cut into pieces of at most this; 0: never cut
};

inline Bandwidth engine_rate(const LinkSpec& link) {
  return fraction_of(link.bandwidth, link.engine_ratio);
}
inline Bandwidth in_switch_rate(const FabricSpec& fabric) {
  return fraction_of(fabric.link.bandwidth, fabric.topology->sums_on_the_way().ratio);
}

enum class InitiatedBy : std::uint8_t {
  gpu,    // the WG writes the work-queue entry and rings the doorbell
  proxy,  // one CPU thread per GPU does this, one operation after another
};

struct NicSpec {
  int per_node = 0;
  Bandwidth bandwidth;
  Duration latency;           // doorbell to first byte on the wire
  Duration message_interval;  // least time between two messages: 1 / message rate
  int queue_depth = 0;        // work-queue entries; a full queue stalls the sender
  Bytes inline_up_to;         // payloads up to this size travel in the entry: no read of HBM
  InitiatedBy initiated_by = InitiatedBy::gpu;
  Duration post;             // the WG's own time to write an entry and ring the doorbell
  Duration flush;            // the WG's time to make its results visible to the NIC
  Duration proxy_operation;  // the proxy's time for one operation
  Duration receive;          // last byte in to data (and flag) visible in the GPU's memory
};

// A link that is slower than the others of its fabric.
struct DegradedLink {
  std::string link;      // its name in links.csv: "nic3 send"
  double bandwidth = 1;  // fraction that is left of its fabric's or NIC's bandwidth
};

struct NetworkSpec {
  int nodes = 1;
  int gpus_per_node = 1;
  std::optional<FabricSpec> scale_up;
  std::optional<FabricSpec> scale_out;
  std::optional<NicSpec> nic;
  std::vector<DegradedLink> degraded;
};

}  // namespace weft
