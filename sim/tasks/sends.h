// The sends of a task graph, in twenty bytes each: there are millions, and few kinds of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>  // not iterated
#include <vector>

#include "sim/core/by_index.h"
#include "sim/network/network_spec.h"
#include "sim/tasks/latches.h"

namespace weft {

struct Send {
  std::uint32_t to = 0;                  // GPU
  std::uint32_t size = 0;                // bytes
  LatchId arrives = LatchId::none();     // counted down at the receiver when the last byte is there
  LatchId issued = LatchId::none();      // counted down at the sender once its side is done
  std::uint16_t entries = 1;             // work-queue entries where a NIC sends it
  std::uint16_t op = 0;                  // operator it belongs to, for reports
  std::uint16_t group = 0;               // index into TaskGraph::groups, if done in the switch
  std::uint8_t receive_traffic : 4 = 1;  // HBM bytes moved at the receiver, per byte received
  std::uint8_t ordered : 3 = 0;          // 1: does not overtake earlier ordered sends of its pair
  std::uint8_t from_engine : 1 = 0;      // 1: a copy engine's
  // In the switch, `to` is the GPU that issues it. Reduces: the sum over the group arrives there.
  // Multicasts: a copy arrives at each GPU of the group; their latches are `arrives`, the next ...
  InSwitch in_switch = InSwitch::nothing;
};

class Sends {
 public:
  void push_back(const Send& send) { stored_.push_back(stored(send)); }
  void put(std::size_t at, const Send& send) { stored_[at] = stored(send); }
  // All from this one on belong to this operator.
  void own(std::size_t first, std::uint16_t op);
  void reserve(std::size_t sends) { stored_.reserve(sends); }

  [[nodiscard]] std::size_t size() const { return stored_.size(); }
  [[nodiscard]] bool empty() const { return stored_.empty(); }
  [[nodiscard]] Send operator[](std::size_t at) const {
    const Stored& own = stored_[at];
    const Kind& kind = kinds_[own.kind];
    return {.to = own.to,
            .size = own.size,
            .arrives = own.arrives,
            .issued = own.issued,
            .entries = kind.entries,
            .op = kind.op,
            .group = kind.group,
            .receive_traffic = kind.receive_traffic,
            .ordered = kind.ordered,
            .from_engine = kind.from_engine,
            .in_switch = kind.in_switch};
  }

  using Index = std::size_t;
  using Iterator = ByIndex<Sends>;
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, static_cast<std::uint32_t>(size())}; }

  struct Stored {
    std::uint32_t to;
    std::uint32_t size;
    LatchId arrives;
    LatchId issued;
    std::uint32_t kind;
  };
  struct Kind {
    std::uint16_t entries;
    std::uint16_t op;
    std::uint16_t group;
    std::uint8_t receive_traffic : 4;
    std::uint8_t ordered : 3;
    std::uint8_t from_engine : 1;
    InSwitch in_switch;
  };
  static_assert(sizeof(Kind) == sizeof(std::uint64_t));
  // All that there is, for keys by content: of equal sends added in another order it differs.
  [[nodiscard]] std::span<const Stored> all_stored() const { return stored_; }
  [[nodiscard]] std::span<const Kind> kinds() const { return kinds_; }

 private:
  [[nodiscard]] Stored stored(const Send& send);
  [[nodiscard]] std::uint32_t index_of(const Kind& kind);

  std::vector<Stored> stored_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // of each kind
};

}  // namespace weft
