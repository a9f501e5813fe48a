// A run in windows: shares of the cluster, a simulator each, on as many cores.
//
// In a window no share has anything to expect from the others, so they run concurrently; what they
// send each other in it lies in boxes until all have ended it. Each share has the history that it
// has if they run one after another, so the number of cores changes nothing
// (docs/decisions/0015-cores.md).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "sim/engine/crew.h"
#include "sim/engine/shares.h"
#include "sim/engine/simulate.h"
#include "sim/engine/simulator.h"

namespace weft {

class WindowedRun {
 public:
  // With fewer pending events, a core has done its part of a window before another has begun.
  static constexpr std::size_t kWorthACore = 16;

  // `record`: null if nothing is to be recorded. All arguments must exist until the run ends.
  WindowedRun(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
              Shares shares, const RecordOptions* record, std::size_t worth_a_core = kWorthACore);

  // None: the run has to be repeated in one queue.
  std::optional<Recorded> run(const OnProgress& on_progress);

 private:
  // What one share has sent another in a window; on cache lines of its own.
  struct alignas(64) Box {
    std::vector<Transport::HandedOver> messages;
  };
  // What a share has still to do, what it has sent included; on a cache line of its own too.
  struct alignas(64) Left {
    SimTime first;  // kNever: nothing
    std::size_t events = 0;
    std::uint64_t done = 0;
    bool must_be_repeated = false;
  };
  [[nodiscard]] Box& box(unsigned turn, std::uint32_t from, std::uint32_t to) {
    return boxes_[turn][std::size_t{from} * shares_.count + to];
  }
  std::optional<Ending> run_windows(const OnProgress& on_progress);
  [[nodiscard]] Left of_all() const;
  void run_window(const Left& left, SimTime stop);
  struct Window {
    SimTime first;
    SimTime stop;
  };
  void run_share(std::uint32_t share, const Window& window);
  void look_at(std::uint32_t share);
  SimTime record_until(SimTime at);
  [[nodiscard]] Progress progress() const;
  Recorded collect(Ending ending);

  const RunOptions& options_;
  const TaskGraph& graph_;
  Shares shares_;
  bool records_;
  std::size_t worth_a_core_;
  std::vector<std::unique_ptr<Simulator>> simulators_;  // by share
  // Of this window and of the last one, whose boxes are emptied meanwhile.
  std::array<std::vector<Box>, 2> boxes_;
  unsigned turn_ = 0;
  std::vector<Left> left_;  // by share
  Crew crew_;
};

}  // namespace weft
