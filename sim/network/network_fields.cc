#include "sim/network/network_fields.h"

#include <array>

namespace weft {
namespace {

constexpr std::array kInitiators = {
    Choice<InitiatedBy>{"gpu", InitiatedBy::gpu,
                        "the WG writes the queue entry and rings the doorbell"},
    Choice<InitiatedBy>{"proxy", InitiatedBy::proxy,
                        "one CPU thread per GPU does this, one operation after another"},
};

// Copy engines work only within their node, so `engine_ratio` is no key of scale_out.
void link_fields(Fields& map, LinkSpec& link, Fabric which) {
  map.add("bandwidth", link.bandwidth,
          {.help = "bandwidth that payload reaches on a link, in one direction"});
  map.add("latency", link.latency,
          {.help = "from first byte in to first byte out, including the switch"});
  if (which == Fabric::scale_out) return;
  map.add(
      "engine_ratio", link.engine_ratio,
      {.help =
           "payload bandwidth that a copy engine reaches on the link, as a ratio to link.bandwidth",
       .range = kMeasuredRatio,
       .fallback = 1,
       .quiet = true});
}

}  // namespace

void fields(Fields& map, FabricSpec& fabric, Fabric which) {
  fabric.topology.word_field(map);
  map.map("link", "a link: one direction of one cable",
          [&](Fields& link) { link_fields(link, fabric.link, which); });
  fabric.topology.own_fields(map, which);
  map.add("segment", fabric.segment,
          {.help = "messages are cut into pieces of at most this size; 0 B: never",
           .fallback = bytes(0)});
}

void fields(Fields& map, NicSpec& nic) {
  map.add("per_node", nic.per_node,
          {.help = "NICs per node; kept when another NIC model is given",
           .range = {{1, 1'024}},
           .fallback = 1});
  map.add("bandwidth", nic.bandwidth, {.help = "line rate of one NIC, one direction"});
  map.add("latency", nic.latency, {.help = "from the doorbell to the first byte on the wire"});
  map.message_rate("message_rate", nic.message_interval, "most messages per second");
  map.add(
      "queue_depth", nic.queue_depth,
      {.help = "work-queue entries; a full queue stalls the sender", .range = {{1, 100'000'000}}});
  map.add("inline_up_to", nic.inline_up_to,
          {.help = "payloads up to this size travel in the queue entry"});
  map.choice("initiated_by", nic.initiated_by, kInitiators,
             {.help = "who rings the doorbell", .fallback = InitiatedBy::gpu});
  map.add("post", nic.post, {.help = "the WG's time to write an entry and ring the doorbell"});
  map.add("flush", nic.flush, {.help = "the WG's time to make its results visible to the NIC"});
  map.add("proxy_operation", nic.proxy_operation,
          {.help = "the CPU thread's time for one operation, if it posts"});
  map.add("receive", nic.receive,
          {.help = "from the last byte in to the data being visible in GPU memory"});
}

void fields(Fields& map, DegradedLink& link) {
  map.name("link", link.link, "its name in links.csv: nic3 send, node0 0->1, 5->6");
  map.fraction("bandwidth", link.bandwidth,
               {.help = "fraction of its bandwidth that is left", .range = kShareLeft});
}

}  // namespace weft
