#include "sim/engine/accounts.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {

Accounts::Accounts(const Cluster& cluster, const TaskGraph& graph)
    : cus_per_gpu_(static_cast<std::uint32_t>(cluster.spec.gpu.cus)),
      gpus_(cluster.gpus()),
      active_(cluster.gpus()),
      computing_(cluster.gpus()),
      cu_busy_(std::size_t{cluster.gpus()} * cus_per_gpu_),
      background_(cluster.gpus()),
      charged_(cluster.gpus()) {
  for (const Operator& op : graph.operators) {
    OperatorUse use;
    use.name = op.name;
    use.part = op.part.empty() ? op.name : op.part;
    use.role = op.role;
    use.law = op.law;
    operators_.push_back(use);
    const auto known = std::find_if(parts_.begin(), parts_.end(),
                                    [&use](const PartUse& part) { return part.name == use.part; });
    part_of_.push_back(static_cast<std::uint32_t>(known - parts_.begin()));
    if (known == parts_.end()) parts_.push_back({.name = use.part, .computing = {}, .exposed = {}});
  }
}

void Accounts::charge(std::uint32_t gpu, SimTime now) {
  Charged& charged = charged_[gpu];
  const Duration time = now - charged.until;
  charged.until = now;
  if (time.count() == 0) return;
  if (charged.active.empty()) return add_saturating(idle_, time);
  if (computing_[gpu].count == 0) {
    const std::uint32_t op = charged.active.front().op;
    add_saturating(operators_[op].exposed, time);
    return add_saturating(parts_[part_of_[op]].exposed, time);
  }
  const auto first = std::find_if(charged.active.begin(), charged.active.end(),
                                  [](const ActiveKernel& kernel) { return kernel.computes; });
  SIM_ASSERT(first != charged.active.end());
  add_saturating(parts_[part_of_[first->op]].computing, time);
}

void Accounts::enter(Interval& interval, SimTime now) {
  if (interval.count++ == 0) interval.since = now;
}

Duration Accounts::leave(Interval& interval, SimTime now) {
  SIM_ASSERT(interval.count > 0);
  return --interval.count == 0 ? now - interval.since : Duration{};
}

Duration Accounts::time() const {
  Duration time;
  for (const GpuUse& gpu : gpus_) time = longer(time, gpu.end - SimTime{});
  return time;
}

Duration Accounts::cu_time(std::uint32_t gpu, SimTime now) const {
  Duration sum = gpus_[gpu].cu_busy;
  for (std::uint32_t cu = 0; cu < cus_per_gpu_; ++cu) {
    const Interval& busy = cu_busy_[std::size_t{gpu} * cus_per_gpu_ + cu];
    if (busy.count > 0) sum += now - busy.since;
  }
  return sum;
}

void Accounts::kernel_started(SimTime now, const Kernel& kernel) {
  charge(kernel.gpu.value, now);
  charged_[kernel.gpu.value].active.push_back(
      {.op = kernel.op.value, .computes = kernel.role != KernelRole::collective});
  enter(active_[kernel.gpu.value], now);
  OperatorUse& use = operators_[kernel.op.value];
  use.first_start = std::min(use.first_start, now);
}

void Accounts::kernel_ended(SimTime now, const Kernel& kernel, SimTime start) {
  charge(kernel.gpu.value, now);
  std::vector<ActiveKernel>& active = charged_[kernel.gpu.value].active;
  active.erase(std::find(
      active.begin(), active.end(),
      ActiveKernel{.op = kernel.op.value, .computes = kernel.role != KernelRole::collective}));
  GpuUse& gpu = gpus_[kernel.gpu.value];
  gpu.active += leave(active_[kernel.gpu.value], now);
  gpu.end = later(gpu.end, now);
  OperatorUse& use = operators_[kernel.op.value];
  use.last_end = later(use.last_end, now);
  use.longest = longer(use.longest, now - start);
  add_saturating(use.sum, now - start);
  use.kernels += 1;
  if (kernel.executor == Executor::cu) {
    use.cus = std::max(use.cus, cus_in(kernel.cus, static_cast<int>(cus_per_gpu_)));
  }
}

void Accounts::item_resumed(SimTime now, const Kernel& kernel, std::uint32_t cu) {
  const std::uint32_t gpu = kernel.gpu.value;
  if (kernel.role != KernelRole::collective) {
    if (computing_[gpu].count == 0) charge(gpu, now);
    enter(computing_[gpu], now);
  }
  if (cu != UINT32_MAX) enter(cu_busy_[std::size_t{gpu} * cus_per_gpu_ + cu], now);
}

void Accounts::item_paused(SimTime now, const Kernel& kernel, std::uint32_t cu) {
  const std::uint32_t id = kernel.gpu.value;
  GpuUse& gpu = gpus_[id];
  if (kernel.role != KernelRole::collective) {
    if (computing_[id].count == 1) charge(id, now);
    gpu.computing += leave(computing_[id], now);
  }
  if (cu == UINT32_MAX) return;
  const Duration busy = leave(cu_busy_[std::size_t{id} * cus_per_gpu_ + cu], now);
  gpu.cu_busy += busy;
  add_saturating(operators_[kernel.op.value].cu_time, busy);
}

void Accounts::item_ended(SimTime now, const Kernel& kernel, std::uint32_t cu, SimTime begun,
                          const Work& work, std::uint32_t scale) {
  const std::uint32_t id = kernel.gpu.value;
  GpuUse& gpu = gpus_[id];
  item_paused(now, kernel, cu);
  const Bytes traffic = bytes(scaled(work.traffic.count(), scale));
  gpu.hbm += traffic;
  gpu.flops += Flops::from_count(scaled(work.flops.count(), scale));
  OperatorUse& use = operators_[kernel.op.value];
  use.wgs += 1;
  use.hbm += traffic;
  add_saturating(use.wg_time, now - begun);
  done_.wgs.done += 1;
  done_.hbm_bytes.done += traffic.count();
  items_done_ += 1;
}

void Accounts::waited(std::uint32_t gpu, Wait why, Duration time) {
  add_saturating(gpus_[gpu].waits[static_cast<std::size_t>(why)], time);
}

void Accounts::bytes_sent(std::uint32_t gpu, std::uint32_t op, Bytes size) {
  gpus_[gpu].sent += size;
  operators_[op].sent += size;
  done_.sent_bytes.done += size.count();
}

void Accounts::message_posted(std::uint32_t op, std::uint32_t deliveries) {
  operators_[op].messages += 1;
  done_.messages.asked += deliveries;
}

void Accounts::bytes_delivered(std::uint32_t gpu, Bytes size) {
  gpus_[gpu].received += size;
  done_.message_bytes.done += size.count();
}

void Accounts::background(std::uint32_t gpu, Bytes size) {
  gpus_[gpu].hbm += size;
  background_[gpu] += size;
}

void Accounts::take_over(Accounts& other, const std::vector<std::uint32_t>& gpus) {
  for (const std::uint32_t gpu : gpus) {
    gpus_[gpu] = other.gpus_[gpu];
    active_[gpu] = other.active_[gpu];
    computing_[gpu] = other.computing_[gpu];
    background_[gpu] = other.background_[gpu];
    charged_[gpu] = std::move(other.charged_[gpu]);
    const std::size_t first = std::size_t{gpu} * cus_per_gpu_;
    for (std::size_t cu = first; cu < first + cus_per_gpu_; ++cu) cu_busy_[cu] = other.cu_busy_[cu];
  }
  for (std::size_t op = 0; op < operators_.size(); ++op) {
    add(operators_[op], other.operators_[op]);
    add_saturating(operators_[op].exposed, other.operators_[op].exposed);
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    add_saturating(parts_[part].computing, other.parts_[part].computing);
    add_saturating(parts_[part].exposed, other.parts_[part].exposed);
  }
  add_saturating(idle_, other.idle_);
  add(done_, other.done_);
  items_done_ += other.items_done_;
}

void Accounts::close(const TaskGraph& graph, SimTime now, RunResult& result) {
  for (std::uint32_t gpu = 0; gpu < charged_.size(); ++gpu) charge(gpu, now);
  result.parts = parts_;
  result.idle = idle_;
  result.gpus = gpus_;
  result.operators = operators_;
  result.ledger = done_;
  Ledger& ledger = result.ledger;
  for (const GpuUse& gpu : gpus_) ledger.flops.done += gpu.flops.count();
  for (const Kernel& kernel : graph.kernels) {
    ledger.wgs.asked += kernel.items;
    graph.for_each_run(kernel, [&](const Item& item, std::int64_t count) {
      const Work& work = graph.work_of(kernel, item);
      ledger.flops.asked += scaled(work.flops.count(), item.scale) * count;
      ledger.hbm_bytes.asked += scaled(work.traffic.count(), item.scale) * count;
    });
  }
  for (const Send& send : graph.sends) {
    const bool by_all = send.in_switch == InSwitch::reduces;
    const std::size_t senders = by_all ? graph.groups[send.group].size() : 1;
    ledger.sent_bytes.asked += static_cast<std::int64_t>(senders) * send.size;
  }
}

}  // namespace weft
