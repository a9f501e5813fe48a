// Transport: messages over links, first come first served at every port, cut-through.
//
// Assumptions. A message waits at each link for those before it, then its head moves on after the
// link's latency while its tail follows; a link is occupied for its own serialisation time, so a
// slow link upstream delays a message's tail but not the messages after it (packets interleave).
// Ports have unbounded buffers: back-pressure exists only at the sender (NIC queue, or the WG that
// stores). Messages are moved whole, or in segments of FabricSpec::segment.
//
// The transport owns no clock and no event queue. Every link keeps its messages in a FIFO and asks
// to be woken once, for the first of them: post() and arrive() return at most two such Wakes.
//
// Paths.  Same node:    the links of the node's scale-up fabric.
//         Other node:   NIC send port, links of the scale-out fabric, NIC receive port.
//
// In the switch (post_in_switch). Reduces: each member's part crosses its own link up; the last one
// to arrive goes down to the requesting member as the sum, and the others end. Multicasts: one
// crosses up, and a copy goes down to each. The member that reduces or multicasts is treated like
// the others: its own part and its own copy cross its links too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/quantity.h"
#include "sim/core/ring_queue.h"
#include "sim/network/network_spec.h"
#include "sim/network/representatives.h"
#include "sim/network/shape.h"

namespace weft {

using LinkId = StrongId<struct LinkTag>;

// "Call arrive(link) at that time."
struct Wake {
  LinkId link = LinkId::none();
  SimTime at;
};

enum class LinkRole : std::uint8_t { inner, nic_send, nic_receive };

// What a link did, for reports.
struct LinkUse {
  Bytes carried;
  std::uint64_t messages = 0;
  Duration busy;
  Duration queued;  // sum over messages of the time waited for the link
  Duration queued_max;
};

// Adds what another link has done, or the same one at another time.
void add(LinkUse& sum, const LinkUse& use);

// A message to send. `tag` and `traffic`, of 4 bits, come back on delivery. `entries` work-queue
// entries go with it.
struct Outgoing {
  static constexpr std::uint32_t kTag = UINT32_MAX;
  std::uint32_t tag = 0;
  std::uint32_t number = kTag;  // of this message alone: chooses among equal ways. kTag: its tag
  std::uint32_t traffic = 0;
  std::uint32_t from_gpu = 0;
  std::uint32_t to_gpu = 0;
  Bytes size;
  int entries = 1;
  bool ordered = false;       // stays after all ordered messages of its pair: same NIC, same route
  bool more_follows = false;  // a part of a transfer; a later part reports the delivery
  bool from_engine = false;   // copied by an engine, not stored by a WG
};

// A message that the switch of the node adds up or copies, between `gpu` and all of a group.
struct OutgoingInSwitch {
  std::uint32_t tag = 0;
  std::uint32_t gpu = 0;  // one of the group: gets the sum, or sends what is copied
  InSwitch op = InSwitch::reduces;
  Bytes size;                            // that each member sends or gets
  bool more_follows = false;             // as above
  std::span<const std::uint32_t> group;  // GPUs of the node; must exist until all is delivered
};

// A link that one of several parts or copies of a message has entered.
struct Fanned {
  Wake wake;
  LinkId link;
  std::uint32_t gpu = 0;  // at the end away from the switch
};

struct Posted {
  SimTime queued_at;          // when the NIC's queue had room: the sender stalls until then
  SimTime accepted_at;        // when the last byte has left the sender
  LinkId link;                // the first link of the route ...
  bool on_last_link = false;  // ... which may be the only one
  Wake wake;
};

// What arrive() did: the message moved on to its next link, or was delivered.
struct Arrived {
  std::array<Wake, 2> wakes;
  std::uint32_t tag = 0;  // of the message, or message segment, that this is about
  Bytes size;
  bool ended = false;             // it has reached the end of its route
  bool delivered = false;         // all of the message has now arrived
  bool enters_last_link = false;  // it begins to cross the last link of its route:
  LinkId last_link;
  std::uint32_t member = 0;  // ended copy: index in the group
  // It has ended at, or begins to cross, the receive port of a NIC that belongs to one GPU:
  bool by_nic = false;
  std::uint32_t traffic = 0;  // as in Outgoing
  std::uint32_t gpu = 0;      // the NIC's
  bool fanned = false;        // the switch has copied it: see fan()
};

class Transport {
 public:
  // On a link.
  struct Message {
    SimTime due;   // head (on the last link: tail) at the end of the link it is on
    Duration lag;  // of the tail behind the head
    std::uint32_t tag;
    std::uint32_t to : 26;          // endpoint in its fabric
    std::uint32_t traffic : 4;      // as in Outgoing
    std::uint32_t from_engine : 1;  // a copy engine's
    std::uint32_t last_segment : 1;
    std::uint32_t size;
    std::uint32_t hash;  // chooses among equal routes
  };
  static_assert(sizeof(Message) == 32);  // two per cache line: queues of them outgrow the caches

  explicit Transport(const NetworkSpec& spec);

  [[nodiscard]] bool same_node(std::uint32_t gpu_a, std::uint32_t gpu_b) const {
    return gpu_a / gpus_per_node_ == gpu_b / gpus_per_node_;
  }

  // Puts a message on its first link. Messages leave one queue in the order of the calls.
  Posted post(SimTime now, const Outgoing& message);

  // As post(), but the links that it enters, one or several, are in fan().
  Posted post_in_switch(SimTime now, const OutgoingInSwitch& message);

  // The links that the last call's messages entered, if its result refers to fan().
  [[nodiscard]] const std::vector<Fanned>& fan() const { return fan_; }

  // The first message of `link` has reached the link's end.
  Arrived arrive(SimTime now, LinkId link);

  // Bring a link, and the messages that leave it and enter it next, into the caches; without an
  // effect on anything else.
  void fetch(LinkId link) const {
    const Link& it = links_[link];
    __builtin_prefetch(&it, 1);
    __builtin_prefetch(&it.cached_size, 1);  // in its second line
  }
  void fetch_first(LinkId link) const { links_[link].queue.fetch_first(); }
  void fetch_end(LinkId link) const { links_[link].queue.fetch_end(); }

  // What chooses among a GPU's NICs and among equal routes: the pair if order matters, otherwise
  // the message, so that messages use all of them.
  static std::uint64_t lane(const Outgoing& message);

  // The NIC through which a message of this lane leaves or enters a GPU.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t gpu, std::uint64_t lane) const;

  // Whether each NIC belongs to one GPU, and to which.
  [[nodiscard]] bool nics_have_one_gpu() const { return nics_per_node_ >= gpus_per_node_; }
  [[nodiscard]] std::uint32_t gpu_of_nic(std::uint32_t nic) const {
    if (nics_per_node_ == gpus_per_node_) return nic;
    const std::uint32_t each = nics_per_node_ / gpus_per_node_;
    return nic / nics_per_node_ * gpus_per_node_ + nic % nics_per_node_ / each;
  }

  // The link on which a message inside a node leaves its GPU.
  [[nodiscard]] LinkId first_inside(const Outgoing& message) const;

  // The only link on which a GPU on a switch sends inside its node.
  [[nodiscard]] LinkId scale_up_link(std::uint32_t gpu) const;

  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] const LinkUse& use(LinkId link) const { return links_[link].use; }
  // How long it has been in use until `now`; use() includes the time its queue will still take.
  [[nodiscard]] Duration busy_until(LinkId link, SimTime now) const;
  // If the link is degraded, what is left of its bandwidth.
  [[nodiscard]] Bandwidth bandwidth(LinkId link) const {
    return bytes_per_second(links_[link].bytes_per_second);
  }
  [[nodiscard]] Duration latency(LinkId link) const { return links_[link].latency; }
  [[nodiscard]] std::string name(LinkId link) const;  // "3->4", "nic3 send"
  // Whether messages behave the same if shifted by this many nodes, on other links.
  [[nodiscard]] static bool can_move(const NetworkSpec& spec, std::uint32_t nodes);
  // The link that then takes the place of `link`.
  [[nodiscard]] LinkId moved(LinkId link, std::uint32_t nodes) const;

  // Whether the first of a row of nodes can stand for all (TopologySpec::stands_for_row); and the
  // links, by link, of their own network that then stand for this one's.
  [[nodiscard]] static bool stands_for_row(const NetworkSpec& spec, std::uint32_t nodes);
  [[nodiscard]] std::vector<LinkId> represented_by(const Transport& smaller,
                                                   const Representatives& which) const;

  // The parts of the cluster that it joins: nodes and, numbered after them, switches between nodes.
  struct Ends {
    std::uint32_t from;
    std::uint32_t to;
  };
  [[nodiscard]] Ends ends(LinkId link) const;
  // The node whose GPUs it connects; empty if it connects nodes or is a NIC's port.
  [[nodiscard]] std::optional<std::uint32_t> node_of(LinkId link) const;
  // Whether everything that a GPU or NIC sends over this fabric crosses it.
  [[nodiscard]] bool is_only_way_out(LinkId link) const;
  [[nodiscard]] LinkId named(std::string_view name) const;  // the first one, or none()
  [[nodiscard]] std::string link_class(LinkId link) const;  // "scale_out_x+"
  // A cluster in shares, each with a transport of its own. Of a link whose messages arrive in
  // another share, this one has the beginning: what enters it is handed over instead.
  void ends_elsewhere(LinkId link) { links_[link].ends_elsewhere = true; }
  struct HandedOver {
    LinkId link;
    Message message;
  };
  // What has entered such links, in this order; to be taken from here.
  [[nodiscard]] std::vector<HandedOver>& handed_over() { return handed_over_; }
  // Puts such a message into this transport's link.
  Wake take_over(const HandedOver& entered);
  // Adds what links of another share's transport have done.
  void add_uses(const Transport& other);

  [[nodiscard]] const Shape* scale_up() const { return scale_up_.get(); }
  [[nodiscard]] const Shape* scale_out() const { return scale_out_.get(); }
  // Between shares: what one has sent less what it has received, modulo 2^64.
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }

  // Memory that a transport of this spec takes without messages, and per message in flight: a ring
  // of them may be half empty.
  static Bytes memory(const NetworkSpec& spec);
  static Bytes memory_per_message() { return bytes(2 * sizeof(Message)); }

 private:
  // Two cache lines: what every message touches, then rates, statistics and what NICs need.
  struct alignas(128) Link {
    RingQueue<Message, RingStore<Message>> queue;
    SimTime free_at;
    SimTime last_due;
    Duration latency;
    std::uint32_t to = 0;    // vertex in its fabric
    std::uint32_t base = 0;  // first link of its fabric's instance
    Duration cached_time;    // serialisation time of the last size: sizes repeat
    std::uint32_t cached_size = 0;
    bool cached_engine = false;
    LinkRole role = LinkRole::inner;
    bool is_scale_up = false;
    bool ends_elsewhere = false;
    std::int64_t bytes_per_second = 1;
    Duration interval;  // least time between two work-queue entries; 0 except at NIC send ports
    LinkUse use;
  };
  struct Crossing {
    SimTime until;  // the link is free again
    SimTime due;    // of the message, at the link's end
    bool wake;
    bool last;
  };
  // A message that will be added to others, or copied, at the switch it is bound for.
  struct AtSwitch {
    std::span<const std::uint32_t> group;
    std::uint32_t to = 0;    // endpoint that the sum is for, in its fabric
    std::uint32_t left = 0;  // parts that have not arrived
    SimTime tail;            // the latest tail of the parts so far
  };
  static constexpr std::uint32_t kToSwitch = 0x3FFFFFF;  // not an endpoint
  std::uint32_t new_at_switch(const AtSwitch& what);
  void arrive_at_switch(SimTime now, const Link& link, Message message, Arrived& arrived);
  void copy_to_all(SimTime now, const Link& link, Message message, Arrived& arrived);
  void add_node_fabrics(const NetworkSpec& spec);
  void add_network(const NetworkSpec& spec);
  void degrade(const DegradedLink& degraded);
  [[nodiscard]] Bandwidth on(const Link& link, Bandwidth rate) const;
  void add_fabric(const FabricSpec& spec, const Shape& shape, bool is_scale_up);
  SimTime room_in_queue(SimTime now, std::uint32_t nic, std::size_t entries);
  Crossing cross(SimTime now, LinkId link, const Message& message, int entries);
  Crossing cross_in_switch(SimTime now, LinkId link, const Message& message);
  Crossing enter(SimTime now, LinkId link, const Message& message, int entries, Duration time);
  void say_gpu(const Message& message, Arrived& arrived) const;
  // The message that has just entered a link.
  Message& last_of(Link& link);
  [[nodiscard]] LinkId onward(const Link& link, const Message& message) const;
  // What chooses among equal routes inside a node.
  [[nodiscard]] std::uint32_t hash_inside(const Outgoing& message) const;
  [[nodiscard]] static std::uint32_t route_hash(RouteBy routing, std::uint32_t from,
                                                std::uint32_t to, std::uint64_t lane);

  std::uint32_t gpus_per_node_;
  std::uint32_t nics_per_node_ = 0;
  std::unique_ptr<const Shape> scale_up_;
  std::unique_ptr<const Shape> scale_out_;
  bool reduces_ = false;
  Bandwidth in_switch_bandwidth_;
  std::int64_t up_bytes_per_second_ = 0;
  Bandwidth engine_bandwidth_;  // on a link inside a node
  Bytes segment_up_;
  Bytes segment_out_;
  std::uint32_t scale_out_base_ = 0;
  std::uint32_t send_base_ = 0;     // NIC send ports, one per NIC
  std::uint32_t receive_base_ = 0;  // NIC receive ports
  IdVector<LinkId, Link> links_;
  std::size_t queue_depth_ = 0;
  std::vector<RingQueue<SimTime>> departures_;  // of the entries in each NIC's send queue
  RouteBy route_by_inside_ = RouteBy::destination;
  RouteBy route_by_ = RouteBy::destination;
  std::size_t in_flight_ = 0;
  std::vector<AtSwitch> at_switch_;  // the hash of a message bound for the switch is its index
  std::vector<std::uint32_t> free_at_switch_;
  std::vector<Fanned> fan_;
  std::vector<HandedOver> handed_over_;
  RingStore<Message> rings_;  // of all links
};

}  // namespace weft
