// Runs a Transport without the engine: posts messages, delivers its wakes in the order of (time,
// link), and writes down when each message was there.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/network/transport.h"
#include "tests/unit/network/fabric_of.h"

namespace weft {

class Drive {
 public:
  explicit Drive(const NetworkSpec& spec) : transport_(spec) {}

  // Everything before `at` happens first, so posts are given in the order of their times.
  Posted post(SimTime at, const Outgoing& message) {
    while (!pending_.empty() && pending_.begin()->at < at) step();
    const Posted posted = transport_.post(at, message);
    wake(posted.wake);
    return posted;
  }

  // The same of what the switch adds up or copies.
  Posted post_in_switch(SimTime at, const OutgoingInSwitch& message) {
    while (!pending_.empty() && pending_.begin()->at < at) step();
    const Posted posted = transport_.post_in_switch(at, message);
    wake_fan();
    if (message.op == InSwitch::multicasts) copied_.insert(message.tag);
    return posted;
  }

  // Until nothing moves any more.
  void run() {
    while (!pending_.empty()) step();
  }

  // When the last byte of `tag` was there; fails the test if it never was.
  [[nodiscard]] SimTime delivered(std::uint32_t tag) const { return delivered_.at(tag); }
  // When the copy of `tag` for this member of the group was there.
  [[nodiscard]] SimTime copy_delivered(std::uint32_t tag, std::uint32_t member) const {
    return copies_.at({tag, member});
  }
  [[nodiscard]] std::size_t copies() const { return copies_.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] const Transport& transport() const { return transport_; }

 private:
  struct Pending {
    SimTime at;
    LinkId link;
    auto operator<=>(const Pending&) const = default;
  };

  void wake(const Wake& wake) {
    if (!wake.link.is_none()) pending_.insert({wake.at, wake.link});
  }

  void wake_fan() {
    for (const Fanned& part : transport_.fan()) wake(part.wake);
  }

  void step() {
    const Pending next = *pending_.begin();
    pending_.erase(pending_.begin());
    ++events_;
    const Arrived arrived = transport_.arrive(next.at, next.link);
    for (const Wake& w : arrived.wakes) wake(w);
    if (arrived.fanned) wake_fan();
    if (!arrived.delivered) return;
    if (copied_.count(arrived.tag) > 0) {
      EXPECT_TRUE(copies_.emplace(std::pair{arrived.tag, arrived.member}, next.at).second);
      return;
    }
    EXPECT_TRUE(delivered_.emplace(arrived.tag, next.at).second) << "delivered twice";
    order_.push_back(arrived.tag);
  }

  Transport transport_;
  std::multiset<Pending> pending_;
  std::map<std::uint32_t, SimTime> delivered_;
  std::set<std::uint32_t> copied_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SimTime> copies_;
  std::vector<std::uint32_t> order_;
  std::size_t events_ = 0;
};

inline SimTime at(Duration since_start) { return SimTime{} + since_start; }

// A NIC as fast as such a link, with room for everything.
inline NicSpec plain_nic() {
  NicSpec nic;
  nic.per_node = 1;
  nic.bandwidth = gigabytes_per_second(1);
  nic.latency = nanoseconds(600);
  nic.receive = nanoseconds(50);
  nic.queue_depth = 1'000;
  return nic;
}

inline NetworkSpec one_gpu_nodes(int nodes, const FabricSpec& scale_out, const NicSpec& nic) {
  NetworkSpec spec;
  spec.nodes = nodes;
  spec.gpus_per_node = 1;
  spec.scale_out = scale_out;
  spec.nic = nic;
  return spec;
}

inline NetworkSpec one_node(int gpus, const FabricSpec& scale_up) {
  NetworkSpec spec;
  spec.nodes = 1;
  spec.gpus_per_node = gpus;
  spec.scale_up = scale_up;
  return spec;
}

}  // namespace weft
