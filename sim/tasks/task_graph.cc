#include "sim/tasks/task_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {

void TaskGraph::begin_works() {
  if (first_work == works.size()) {  // none since the last call
    first_kernel_ = static_cast<std::uint32_t>(kernels.size());
    return;
  }
  const auto begin = works.begin() + first_work;
  if (std::equal(works.begin() + works_before_, begin, begin, works.end())) {
    for (std::uint32_t k = first_kernel_; k < kernels.size(); ++k) {
      Kernel& kernel = kernels[KernelId(k)];
      SIM_ASSERT(kernel.first_work == first_work);  // not pointed elsewhere meanwhile
      kernel.first_work = works_before_;
    }
    works.resize(first_work);
  } else {
    works_before_ = first_work;
    first_work = static_cast<std::uint32_t>(works.size());
  }
  first_kernel_ = static_cast<std::uint32_t>(kernels.size());
}

std::uint32_t TaskGraph::add_work(const Work& work) {
  const auto first = works.begin() + first_work;
  const auto known = std::find(first, works.end(), work);
  const auto index = static_cast<std::uint32_t>(known - first);
  if (known == works.end()) works.push_back(work);
  SIM_ASSERT(index < 256);
  return index;
}

LatchId TaskGraph::add_latch(std::uint32_t target) {
  SIM_ASSERT(target > 0 && target <= INT32_MAX);  // LatchState has 31 bits for it
  return latches.push_back(
      {.target = target, .first_send = static_cast<std::uint32_t>(sends.size())});
}

void TaskGraph::add_send(const Send& send) {
  SIM_ASSERT(send.size > 0);
  SIM_ASSERT(sends.size() < UINT32_MAX);
  SIM_ASSERT(!latches.empty());
  sends.push_back(send);
  const LatchId its(latches.next_id().value - 1);
  SIM_ASSERT(sends.size() - latches.first_send(its) <= UINT16_MAX);
}

void TaskGraph::own_sends(std::size_t first, OperatorId op) {
  SIM_ASSERT(op.value <= UINT16_MAX);
  sends.own(first, static_cast<std::uint16_t>(op.value));
}

std::uint16_t TaskGraph::add_group(const std::vector<std::uint32_t>& gpus) {
  const auto known = std::find(groups.begin(), groups.end(), gpus);
  const auto index = known - groups.begin();
  if (known == groups.end()) groups.push_back(gpus);
  SIM_ASSERT(groups.size() <= UINT16_MAX);
  return static_cast<std::uint16_t>(index);
}

KernelId TaskGraph::add_kernel(Kernel kernel, const std::vector<KernelId>& after) {
  const ItemRange range = items.close();
  kernel.first_run = range.first_run;
  kernel.runs = range.runs;
  kernel.first_end = range.first_end;
  kernel.items = range.items;
  kernel.first_work = first_work;
  kernel.first_dependency = static_cast<std::uint32_t>(dependencies.size());
  kernel.dependencies = static_cast<std::uint32_t>(after.size());
  for (const KernelId id : after) {
    SIM_ASSERT(id.value < kernels.size());
    dependencies.push_back(id);
  }
  return kernels.push_back(kernel);
}

void TaskGraph::verify() const {
  // All that is asked about a latch in one word, as there are millions: how often it is still to be
  // counted down, and whether it has sends.
  constexpr std::uint32_t kSends = 1U << 31U;
  std::vector<std::uint32_t> left_of;
  left_of.reserve(latches.size());
  for (std::uint32_t i = 0; i < latches.size(); ++i) {
    const LatchId id(i);
    left_of.push_back(latches[id].target | (sends_of(id).count > 0 ? kSends : 0));
  }
  const auto count = [&](LatchId latch, std::uint32_t times = 1) {
    if (latch.is_none()) return;
    SIM_ASSERT(latch.value < left_of.size());
    SIM_ASSERT(times <= (left_of[latch.value] & ~kSends));
    left_of[latch.value] -= times;
  };
  SIM_ASSERT(operators.size() <= UINT16_MAX);
  std::size_t items_of_all = 0;
  std::size_t next_run = 0;
  std::size_t next_end = 0;
  for (const Kernel& kernel : kernels) {
    SIM_ASSERT(kernel.first_run == next_run);
    SIM_ASSERT(kernel.items > 0);
    next_run += kernel.runs;
    items_of_all += kernel.items;
    SIM_ASSERT(next_run <= items.runs().size());
    if (kernel.runs > 1 && kernel.runs < kernel.items) {
      SIM_ASSERT(kernel.first_end == next_end);
      next_end += kernel.runs;
      SIM_ASSERT(next_end <= items.ends().size());
    }
    SIM_ASSERT(std::size_t{kernel.team_first} + kernel.team_size <= kernels.size());
    count(kernel.ended);
    std::uint32_t left = kernel.items;
    for_each_run(kernel, [&](const Item& item, std::uint32_t times) {
      SIM_ASSERT(times > 0);
      SIM_ASSERT(times <= left);
      left -= times;
      count(item.counts_down, times);
      SIM_ASSERT(kernel.first_work + item.work < works.size());
      if (work_of(kernel, item).shares > 1) {
        SIM_ASSERT(!item.counts_down.is_none());
        SIM_ASSERT(latches[item.counts_down].target == 1);
        SIM_ASSERT(sends_of(item.counts_down).count == 1);
      }
      SIM_ASSERT(item.waits_for.is_none() || item.waits_for.value < latches.size());
    });
    SIM_ASSERT(left == 0);
  }
  SIM_ASSERT(next_run == items.runs().size());
  SIM_ASSERT(items_of_all == items.size());
  SIM_ASSERT(next_end == items.ends().size());
  std::uint32_t next_send = 0;
  for (const Latch& latch : latches) {
    SIM_ASSERT(latch.first_send >= next_send);
    next_send = latch.first_send;
  }
  SIM_ASSERT(next_send <= sends.size());
  for (const Send& send : sends) {
    count(send.issued);
    if (send.arrives.is_none()) continue;
    SIM_ASSERT(send.in_switch == InSwitch::nothing || send.group < groups.size());
    const bool copied = send.in_switch == InSwitch::multicasts;
    const std::size_t copies = copied ? groups[send.group].size() : 1;
    for (std::uint32_t i = 0; i < copies; ++i) {
      const LatchId arrives(send.arrives.value + i);
      count(arrives);
      SIM_ASSERT((left_of[arrives.value] & kSends) == 0);
    }
  }
  for (const std::uint32_t left : left_of) SIM_ASSERT((left & ~kSends) == 0);
  for (const std::vector<KernelId>& exit : exits) {
    SIM_ASSERT(!exit.empty());
    for (const KernelId kernel : exit) SIM_ASSERT(kernel.value < kernels.size());
  }
}

bool TaskGraph::has_longer_item(Duration limit) const {
  // Quick test with the largest scale that an item can have: usually no work is so long.
  constexpr std::int64_t kMostUnits = (1 << 24) / Item::kUnit;
  const auto may_be = [limit](const Work& work) {
    return longer(work.memory_alone, work.arithmetic_alone).count() > limit.count() / kMostUnits ||
           work.fixed > limit;
  };
  if (std::none_of(works.begin(), works.end(), may_be)) return false;
  const auto is_longer = [limit](const Work& work, std::uint32_t scale) {
    __extension__ using Wide = __int128;
    const Wide alone = longer(work.memory_alone, work.arithmetic_alone).count();
    return alone * scale / Item::kUnit > limit.count() || work.fixed > limit;
  };
  return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& kernel) {
    const auto first = items.runs().begin() + kernel.first_run;
    return std::any_of(first, first + kernel.runs, [&](const Item& item) {
      return is_longer(work_of(kernel, item), item.scale);
    });
  });
}

std::string to_text(const TaskGraph& graph) {
  std::string text =
      fmt::format("tasks: {} kernels, {} WGs, {} latches, {} sends\n", graph.kernels.size(),
                  graph.items.size(), graph.latches.size(), graph.sends.size());
  for (std::uint32_t i = 0; i < graph.works.size(); ++i) {
    const Work& work = graph.works[i];
    text += fmt::format("work {}: {} B of HBM traffic, alone {:.3f} us, {} FLOP, fixed {:.3f} us\n",
                        i, work.traffic.count(), to_microseconds(work.memory_alone),
                        work.flops.count(), to_microseconds(work.fixed));
  }
  text += "kernels of GPU 0:\n";
  for (std::uint32_t i = 0; i < graph.kernels.size(); ++i) {
    const Kernel& kernel = graph.kernels[KernelId(i)];
    if (kernel.gpu.value != 0) continue;
    std::int64_t sends = 0;
    std::int64_t size = 0;
    LatchId before = LatchId::none();
    graph.for_each_run(kernel, [&](const Item& item, std::uint32_t) {
      // A latch is shared by the items of a slice: count it at its first one.
      const LatchId latch = item.counts_down;
      if (latch == before) return;
      before = latch;
      if (latch.is_none()) return;
      const TaskGraph::SendRange its = graph.sends_of(latch);
      for (std::uint32_t s = its.first; s < its.end(); ++s, ++sends) size += graph.sends[s].size;
    });
    std::string after;
    for (std::uint32_t d = 0; d < kernel.dependencies; ++d) {
      after += fmt::format(" {}", graph.dependencies[kernel.first_dependency + d].value);
    }
    text += fmt::format(
        "  kernel {}: {}, {} WGs on {}{}, sends {} messages of {} B in all, launch {:.3f} us, "
        "after:{}\n",
        i, graph.operators[kernel.op].name, kernel.items,
        kernel.executor == Executor::cu ? "CUs" : "copy engines",
        kernel.persistent ? fmt::format(" (grid of at most {})", kernel.max_grid) : "", sends, size,
        to_microseconds(kernel.launch), after.empty() ? " nothing" : after);
  }
  return text;
}

}  // namespace weft
