// TaskGraph: what the lowered workload asks of the cluster, as plain data.
//
// The three grains of overlap are three lowerings to the same four things:
//
//   Item    one logical work-group (WG): waits for a latch, works, counts a latch down
//   Latch   opens when counted down to 0; the WG that opens it issues the latch's sends.
//           A slice of a fused kernel, a flag at a receiver, an arrival count: all are latches
//   Send    one message; its arrival counts down a latch at the receiver (the flag)
//   Kernel  a list of items on one GPU, run by WGs on CUs or by copy engines
//
// A bulk collective is a kernel too: its items are the chunks that its channels copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/core/ids.h"
#include "sim/gpu_model/law.h"
#include "sim/gpu_model/residency.h"
#include "sim/tasks/item_runs.h"
#include "sim/tasks/latches.h"
#include "sim/tasks/sends.h"

namespace weft {

constexpr std::uint32_t kFlagBytes = 8;  // size of a message that only sets a flag

using KernelId = StrongId<struct KernelTag>;
using OperatorId = StrongId<struct OperatorTag>;

// What one item does. Times are those on an otherwise idle GPU; the engine models sharing.
struct Work {
  Bytes traffic;          // read and written in HBM
  Bytes written_more;     // extra cost of writes over reads in HBM time, as bytes read
  Duration memory_alone;  // what its own loads in flight allow
  Flops flops;
  Duration arithmetic_alone;           // with the CU to itself; 0 if it can never be the limit
  std::uint32_t arithmetic_share = 0;  // thousandths of the CU that it can use alone
  Duration fixed;                      // before the work; nobody else slows it
  // The WG works in so many equal parts and after each stores that part of its result at the peer;
  // its latch then has one send. 1: it stores or sends everything at its end.
  std::uint32_t shares = 1;
  // Its result stays on its GPU, but the WG fences as after a store into a peer, before its latch.
  bool fenced = false;
  bool operator==(const Work&) const = default;
};

enum class KernelRole : std::uint8_t { compute, collective, fused };
enum class Executor : std::uint8_t { cu, dma };

// The first cache line holds what its WGs read for every item.
struct Kernel {
  GpuId gpu{};
  OperatorId op{};
  KernelRole role = KernelRole::compute;
  Executor executor = Executor::cu;
  // Persistent: a grid of at most `max_grid` WGs, each taking items until none is left. Otherwise
  // every item is a WG of its own, dispatched when there is room.
  bool persistent = false;
  bool fenced = false;       // a WG waits until its stores have arrived
  bool waves_fence = false;  // each wave by itself
  WorkList work_list = WorkList::dynamic_list;
  InitiatedBy puts_by = InitiatedBy::gpu;
  Duration handover{};          // to a proxy: from a WG's request until the CPU thread takes it up
  std::uint32_t first_run = 0;  // of its items
  std::uint32_t items = 0;
  std::uint32_t runs = 0;
  std::uint32_t first_work = 0;      // of its works, in TaskGraph::works
  Bandwidth store_rate{};            // of one WG into a peer; 0: only the link limits it
  Duration flag{};                   // from a flag's arrival until its WGs see it
  LatchId finish = LatchId::none();  // must be open before the kernel ends
  LatchId ended = LatchId::none();   // counted down when it has ended
  std::uint32_t first_end = 0;       // of its runs
  std::uint32_t max_grid = 0;
  Duration launch{};   // from the last dependency's end to the first WG
  Duration startup{};  // of each WG, in its slot on the CU, before its first item
  WgFootprint wg{};
  CuRange cus{};
  int priority = 0;                    // of its stream: higher ones get slots first
  std::uint32_t first_dependency = 0;  // into TaskGraph::dependencies
  std::uint32_t dependencies = 0;
  // Kernels that exchange data with it, itself included: `team_size` of them from this one on.
  std::uint32_t team_first = 0;
  std::uint32_t team_size = 0;  // 0: none
  Duration release{};           // from the run's start: its launch does not begin before
};

// The kernels of one operator of the model, on all GPUs.
struct Operator {
  std::string name;
  KernelRole role = KernelRole::compute;
  std::string part = {};  // of the model, for reports: "attention"
  Law law = Law::recorded;
};

struct TaskGraph {
  std::vector<Work> works;  // at most 256 kinds per operator
  IdVector<OperatorId, Operator> operators;
  IdVector<KernelId, Kernel> kernels;
  std::vector<KernelId> dependencies;
  ItemRuns items;
  Latches latches;
  Sends sends;
  std::vector<std::vector<std::uint32_t>> groups;  // GPUs whose messages meet in a switch
  std::vector<std::vector<KernelId>> exits;  // sets of kernels whose last end is to be reported

  // Kernels and works added from now on belong to another operator. If the last one has the same
  // works as the one before, they share them: recorded traces have an operator for each rank.
  void begin_works();
  // The index of this work among its operator's; works recur, so each is kept once.
  std::uint32_t add_work(const Work& work);
  [[nodiscard]] const Work& work_of(const Kernel& kernel, const Item& item) const {
    return works[kernel.first_work + item.work];
  }
  // Where a kernel's item is in `items`, the item, and all of them: use(item, how many of it).
  [[nodiscard]] std::uint32_t run_of(const Kernel& kernel, std::uint32_t item) const {
    return items.run_of(items_of(kernel), item);
  }
  [[nodiscard]] const Item& item(const Kernel& kernel, std::uint32_t item) const {
    return items[run_of(kernel, item)];
  }
  template <class Use>
  void for_each_run(const Kernel& kernel, Use use) const {
    items.for_each(items_of(kernel), use);
  }
  // Of a latch: from `first` on.
  struct SendRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    [[nodiscard]] std::uint32_t end() const { return first + count; }
  };
  [[nodiscard]] SendRange sends_of(LatchId id) const {
    const std::uint32_t first = latches.first_send(id);
    const LatchId next(id.value + 1);
    const std::size_t end = next.value < latches.size() ? latches.first_send(next) : sends.size();
    return {.first = first, .count = static_cast<std::uint32_t>(end) - first};
  }
  // Adds a latch without sends.
  LatchId add_latch(std::uint32_t target);
  // Adds a send to the last latch added.
  void add_send(const Send& send);
  // All sends from this one on belong to this operator.
  void own_sends(std::size_t first, OperatorId op);
  // The index of this group.
  std::uint16_t add_group(const std::vector<std::uint32_t>& gpus);
  // Its items are those added since the last kernel.
  KernelId add_kernel(Kernel kernel, const std::vector<KernelId>& after);

  // Aborts unless the graph makes sense: ids in range, every latch counted down exactly `target`
  // times, dependencies acyclic (they point backwards).
  void verify() const;

  // Whether some item alone takes longer than this.
  [[nodiscard]] bool has_longer_item(Duration limit) const;

  std::uint32_t first_work = 0;  // of the operator that is being added

 private:
  std::uint32_t works_before_ = 0;  // where those of the operator before it begin
  std::uint32_t first_kernel_ = 0;  // that was added since begin_works()
  [[nodiscard]] static ItemRange items_of(const Kernel& kernel) {
    return {.first_run = kernel.first_run,
            .runs = kernel.runs,
            .first_end = kernel.first_end,
            .items = kernel.items};
  }
};

// What --stop-after=tasks prints: kernels by operator, items, sends, bytes; GPU 0 in detail.
std::string to_text(const TaskGraph& graph);

}  // namespace weft
