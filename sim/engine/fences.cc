// Release fences: a WG that has stored into a peer continues when it has confirmation that the
// stores have arrived, so that its flag cannot overtake them.
//
// `independent`: each WG waits for its own stores. `one_a_cu`: a CU has one fence in progress for
// all its WGs; those that fence meanwhile wait and share the next one (docs/model.md, "Fences"), to
// which each adds peer_store.fence_more. WGs whose results stay may fence like the others
// (Work::fenced).

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"
#include "sim/gpu_model/peer_law.h"

namespace weft {

// A store that a fence waits for has been posted.
void Simulator::awaits_arrival(std::uint32_t gpu, std::uint32_t w) {
  const Send& send = graph_.sends[gpus_[gpu].workers[w].send];
  const bool copied = send.in_switch == InSwitch::multicasts;
  const std::size_t copies = copied ? graph_.groups[send.group].size() : 1;
  fenced_.emplace(gpus_[gpu].workers[w].send, Fenced{.worker = worker_id(gpu, w),
                                                     .copies = static_cast<std::uint32_t>(copies)});
  stores_of(gpu, w).on_the_way += 1;
}

// The WG has posted its last store, or made a result that stays, and fences all that are in flight.
bool Simulator::fence(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  Stores& stores = stores_of(gpu, w);
  worker.waits = true;
  worker.waiting_for = Wait::store;
  worker.since = now_;
  const std::uint32_t id = worker_id(gpu, w);
  stores.fencing = true;
  if (fences_.empty()) return false;
  const std::uint32_t cu = gpu * cus_[gpu].cus() + worker.cu;
  Fence& fence = fences_[cu];
  const bool idle = fence.under_way == kNone;
  // Where each wave fences for itself, the first finds the CU idle; the others come while that
  // fence is in progress.
  stores.fences_again = idle && graph_.kernels[KernelId(worker.kernel)].waves_fence;
  stores.next_fenced = fence.waiting;
  fence.waiting = id;
  if (idle) start_fence(cu, Waited::no);
  return false;
}

void Simulator::start_fence(std::uint32_t cu, Waited waited) {
  Fence& fence = fences_[cu];
  SIM_ASSERT(fence.under_way == kNone);
  fence.under_way = fence.waiting;
  fence.waiting = kNone;
  fence.outstanding = 0;
  Duration way;
  std::int64_t served = 0;
  for (std::uint32_t id = fence.under_way; id != kNone;) {
    const std::uint32_t gpu = id / worker_stride_;
    const Stores& stores = stores_of(gpu, id % worker_stride_);
    if (stores.on_the_way > 0) fence.outstanding += 1;
    way = longer(way, way_of_fence(gpu, gpus_[gpu].workers[id % worker_stride_]));
    served += 1;
    id = stores.next_fenced;
  }
  const std::int64_t more = waited == Waited::yes ? served : 0;
  fence.least = now_ + fence_time(cluster_.spec.gpu.peer_store, way, more);
  if (fence.outstanding == 0) end_fence(cu, fence.least);
}

// The fences of all CUs of a GPU pass one point, one after another.
void Simulator::end_fence(std::uint32_t cu, SimTime at) {
  SimTime& last = gpus_[cu / cus_[0].cus()].last_fence;
  at = fence_ends(cluster_.spec.gpu.peer_store, last, at);
  last = at;
  schedule(at, EventKind::fence, cu);
}

// The path of a store that leaves with the fence: to its peer, or to any where all get a copy or
// the result stays.
Duration Simulator::way_of_fence(std::uint32_t gpu, const Worker& worker) const {
  const auto per_node = static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
  const std::uint32_t from = gpu % per_node;
  const std::uint32_t any = from == 0 ? 1 : 0;
  if (worker.phase == Phase::made) {
    return cluster_.spec.scale_up->link.latency * transport_.scale_up()->hops(from, any, 0);
  }
  const Send& send = graph_.sends[worker.send];
  const std::uint32_t to = send.in_switch == InSwitch::nothing ? send.to % per_node : any;
  const int hops = transport_.scale_up()->hops(from, to, worker.send);
  return cluster_.spec.scale_up->link.latency * hops;
}

void Simulator::store_arrived(std::uint32_t id) {
  const std::uint32_t gpu = id / worker_stride_;
  Stores& stores = stores_of(gpu, id % worker_stride_);
  SIM_ASSERT(stores.on_the_way > 0);
  stores.on_the_way -= 1;
  if (!stores.fencing || stores.on_the_way > 0) return;
  const Duration word = cluster_.spec.gpu.peer_store.fence;
  if (fences_.empty()) {
    stores.fencing = false;
    return schedule(now_ + word, EventKind::worker, id);
  }
  const std::uint32_t cu = gpu * cus_[gpu].cus() + gpus_[gpu].workers[id % worker_stride_].cu;
  Fence& fence = fences_[cu];
  bool served = false;
  for (std::uint32_t i = fence.under_way; i != kNone && !served;) {
    served = i == id;
    i = stores_of(gpu, i % worker_stride_).next_fenced;
  }
  if (!served || --fence.outstanding > 0) return;
  end_fence(cu, later(fence.least, now_ + word));
}

void Simulator::fence_event(std::uint32_t cu) {
  Fence& fence = fences_[cu];
  const std::uint32_t gpu = cu / cus_[0].cus();
  std::uint32_t done = kNone;
  for (std::uint32_t id = fence.under_way; id != kNone;) {
    Stores& stores = stores_of(gpu, id % worker_stride_);
    const std::uint32_t next = stores.next_fenced;
    std::uint32_t& list = stores.fences_again ? fence.waiting : done;
    stores.fences_again = false;
    stores.next_fenced = list;
    list = id;
    id = next;
  }
  fence.under_way = kNone;
  if (fence.waiting != kNone) start_fence(cu, Waited::yes);
  for (std::uint32_t id = done; id != kNone;) {
    Stores& stores = stores_of(gpu, id % worker_stride_);
    const std::uint32_t next = stores.next_fenced;
    stores.fencing = false;
    resume(gpu, id % worker_stride_);
    id = next;
  }
}

}  // namespace weft
