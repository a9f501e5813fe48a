// Accounts: what the run did, summed up while it happens. They never influence the run.
#pragma once

#include <vector>

#include "sim/engine/results.h"

namespace weft {

class Accounts {
 public:
  Accounts(const Cluster& cluster, const TaskGraph& graph);

  void kernel_started(SimTime now, const Kernel& kernel);
  void wg_placed(SimTime now, const Kernel& kernel) {
    OperatorUse& use = operators_[kernel.op.value];
    if (now < use.first_place) use.first_place = now;
  }
  void kernel_ended(SimTime now, const Kernel& kernel, SimTime start);
  void item_begun(SimTime now, const Kernel& kernel, std::uint32_t cu) {
    item_resumed(now, kernel, cu);
  }
  void item_ended(SimTime now, const Kernel& kernel, std::uint32_t cu, SimTime begun,
                  const Work& work, std::uint32_t scale);
  void waited(std::uint32_t gpu, Wait why, Duration time);
  // An item that waits midway is not at work.
  void item_paused(SimTime now, const Kernel& kernel, std::uint32_t cu);
  void item_resumed(SimTime now, const Kernel& kernel, std::uint32_t cu);
  void bytes_posted(std::uint32_t gpu, std::uint32_t op, Bytes size) {
    bytes_sent(gpu, op, size);
    bytes_to_deliver(size);
  }
  // The same in two calls, for switches that add up or copy: sent and delivered bytes differ.
  void bytes_sent(std::uint32_t gpu, std::uint32_t op, Bytes size);
  void bytes_to_deliver(Bytes size) { done_.message_bytes.asked += size.count(); }
  void message_posted(std::uint32_t op, std::uint32_t deliveries = 1);
  void bytes_delivered(std::uint32_t gpu, Bytes size);
  void message_delivered() { done_.messages.done += 1; }
  void background(std::uint32_t gpu, Bytes size);
  void proxied(std::uint32_t gpu, Duration time) { gpus_[gpu].proxy += time; }

  [[nodiscard]] Duration time() const;  // until the end of the last kernel so far
  [[nodiscard]] std::uint64_t items_done() const { return items_done_; }
  // Of a GPU, up to `now`: time of CUs with a WG at work, summed; HBM bytes.
  [[nodiscard]] Duration cu_time(std::uint32_t gpu, SimTime now) const;
  struct Hbm {
    Bytes all;         // of items that are done, and background
    Bytes background;  // as booked
  };
  [[nodiscard]] Hbm hbm(std::uint32_t gpu) const {
    return {.all = gpus_[gpu].hbm, .background = background_[gpu]};
  }

  // Adds what another share of the cluster has done, to which these GPUs belong.
  void take_over(Accounts& other, const std::vector<std::uint32_t>& gpus);

  // Fills gpus, operators and ledger of the result.
  void close(const TaskGraph& graph, SimTime now, RunResult& result);

 private:
  struct Interval {  // time during which a count is above 0
    std::uint32_t count = 0;
    SimTime since;
  };
  struct ActiveKernel {
    std::uint32_t op;
    bool computes;
    bool operator==(const ActiveKernel&) const = default;
  };
  // A GPU's time is charged to the part that it computes for, the part that it waits for, or none.
  struct Charged {
    std::vector<ActiveKernel> active;  // by start
    SimTime until;
  };
  void charge(std::uint32_t gpu, SimTime now);
  static void enter(Interval& interval, SimTime now);
  // The length of the interval if it ends with this; else 0.
  static Duration leave(Interval& interval, SimTime now);

  std::uint32_t cus_per_gpu_;
  std::vector<GpuUse> gpus_;
  std::vector<Interval> active_;
  std::vector<Interval> computing_;
  std::vector<Interval> cu_busy_;
  std::vector<Bytes> background_;  // of HBM traffic, by GPU
  std::vector<OperatorUse> operators_;
  std::vector<PartUse> parts_;
  std::vector<std::uint32_t> part_of_;  // of each operator
  std::vector<Charged> charged_;        // by GPU
  Duration idle_;
  Ledger done_;
  std::uint64_t items_done_ = 0;
};

// The part of an amount that an item of this scale does.
constexpr std::int64_t scaled(std::int64_t amount, std::uint32_t scale) {
  if (scale == Item::kUnit) return amount;
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(amount) * scale / Item::kUnit);
}

}  // namespace weft
