// Residents: the WGs of one kernel that are on the CUs at a time, with those of concurrent kernels,
// and the order of their requests.
//
// A WG that can issue its next instruction joins the queue of its CU, whose L1 takes the requests
// one by one, in order. The CU whose L1 is free first goes first, and the WG that is ready first;
// within the same 16 ns they go by their numbers, so that WGs that are equally fast take turns. A
// WG whose slot becomes free starts the next of the grid there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cache/memory_path.h"
#include "sim/cache/wg_walk.h"
#include "sim/core/event_queue.h"

namespace weft::cache {

class Residents {
 public:
  struct Running {
    const Kernel& kernel;
    const WgWalk& walk;
    std::int64_t wgs;  // only the first so many
  };
  // Others are cut off when the first one ends.
  Residents(std::span<const Running> kernels, int cus, MemoryPath& path);

  // When the first kernel's last WG has ended.
  Ps run(Ps start);
  // Of lines, by all kernels but the first.
  [[nodiscard]] std::int64_t loads_beside() const { return loads_beside_; }

 private:
  struct Slot {
    WgWalk::Cursor cursor;
    Ps at = 0;                 // when it can issue
    Ps last = 0;               // when all it has issued is done
    Ps turn_done = 0;          // the same for what of this turn is
    std::uint32_t issued = 0;  // requests of this turn
    std::uint32_t oldest = 0;  // of its instructions in flight
    std::uint32_t cu = 0;
    std::uint32_t next = 0;  // slot behind it in the queue of the CU
    std::uint32_t grid = 0;  // its kernel
    std::uint32_t done = 0;  // where its part of `done_` begins
    Turn turn;
  };
  struct Cu {
    std::uint32_t first = 0;  // slots whose requests wait for the L1
    std::uint32_t last = 0;
    std::uint32_t waiting = 0;
    bool scheduled = false;  // the L1 goes on at `at`
    Ps at = 0;
  };

  // A kernel and how far its grid has been started.
  struct Grid {
    const WgWalk* walk = nullptr;
    std::int64_t wgs = 0;
    std::int64_t next_wg = 0;
    Ps compute = 0;
    std::uint32_t in_flight = 0;
  };

  void add(const Running& running, int cus);
  void wake_slot(std::uint32_t s);
  void wake_cu(std::uint32_t c, Ps now);
  // Whether all requests of the slot's turn have been issued.
  bool issue_turn(Slot& slot, Ps now);
  void end_turn(std::uint32_t s, Ps now);
  void start_next_wg(std::uint32_t s);
  void push_slot(std::uint32_t s, Ps at);
  void push_cu(std::uint32_t c, Ps at);

  MemoryPath& path_;
  std::vector<Grid> grids_;
  std::uint32_t left_ = 0;  // slots of the first kernel that are at work
  std::int64_t loads_beside_ = 0;
  EventQueue queue_;
  std::vector<Slot> slots_;
  std::vector<Cu> cus_;
  std::vector<Ps> done_;  // of each slot's instructions in flight, a ring
};

}  // namespace weft::cache
