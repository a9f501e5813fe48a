// Collectives by copy engines: data moves, nothing is added up. The CPU gives each engine its
// commands; a command copies to one peer, or reads once and writes to two.

#include <algorithm>

#include "sim/collectives/collective_run.h"
#include "sim/collectives/copy.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// Of the time between two looks, in the mean, what has passed when the copy's turn is seen. It is a
// part of `schedule`, the mean: of twice that at most.
Duration seen_after(const DmaSpec& dma, const CopyTurn& turn) {
  const Duration poll = std::min(dma.poll, dma.schedule * 2);
  return picoseconds((poll * (turn.index % turn.of + 1)).count() / (turn.of + 1));
}

// An engine streams: the model cuts a copy into at most this many parts, of at least this many
// bytes, so that its read and the transfer over the link overlap almost fully.
constexpr std::int64_t kMostCopyParts = 64;
constexpr std::int64_t kLeastCopyPart = 64 * 1024;

std::int64_t part_size(std::int64_t size) {
  return std::min(std::max(kLeastCopyPart, round_up(size, kMostCopyParts)), kMostOfMessage);
}

struct CopyPattern {
  std::uint32_t engines = 1;  // that a call uses on each GPU
  std::uint32_t peers_a_command = 1;
};

CopyPattern pattern_of(const Cluster& cluster, const CollectiveCall& call, std::int64_t peers) {
  const auto engines =
      static_cast<std::uint32_t>(std::min<std::int64_t>(cluster.spec.gpu.dma.engines, peers));
  switch (call.options.dma) {
    case DmaPattern::direct:
      return {.engines = engines, .peers_a_command = 1};
    case DmaPattern::back_to_back:
      return {.engines = 1, .peers_a_command = 1};
    case DmaPattern::broadcast:
      return {.engines = std::min(engines, static_cast<std::uint32_t>(round_up(peers, 2))),
              .peers_a_command = 2};
  }
  SIM_ASSERT(false);
}

class Copies {
 public:
  Copies(CollectiveRun& run, const Plan& plan)
      : run_(run),
        plan_(plan),
        programs_(programs(plan)),
        pattern_(pattern_of(run.cluster(), run.call(), std::int64_t{plan.ranks} - 1)) {}

  std::vector<KernelId> lower() {
    std::vector<std::uint32_t> arrivals(plan_.ranks, 0);
    std::int64_t largest = 1;  // part
    for (const Transfer& transfer : plan_.transfers) {
      const std::int64_t size = payload(transfer);
      arrivals[transfer.to] += static_cast<std::uint32_t>(round_up(size, part_size(size)));
      largest = std::max(largest, std::min(size, part_size(size)));
    }
    const DmaSpec& dma = run_.cluster().spec.gpu.dma;
    for (const Duration before : {Duration{}, dma.schedule, dma.next}) {
      Work work;
      work.traffic = bytes(largest);
      work.memory_alone = transfer_time(work.traffic, dma.rate);
      work.fixed = before;
      kinds_.push_back({.work = run_.graph().add_work(work), .bytes = largest});
    }
    for (const std::uint32_t count : arrivals) {
      finish_.push_back(count > 0 ? run_.graph().add_latch(count) : LatchId::none());
    }
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  struct Part {
    std::uint32_t first = 0;  // of the rank's transfers that this command copies
    std::uint32_t count = 1;
    std::int64_t size = 0;
    std::uint32_t kind = kFurther;
  };
  // Kinds of work: what the engine does before this part.
  static constexpr std::uint32_t kFurther = 0;  // within a command: nothing
  static constexpr std::uint32_t kFirst = 1;    // its first command is scheduled
  static constexpr std::uint32_t kNext = 2;     // a command queued after another one

  [[nodiscard]] std::int64_t payload(const Transfer& transfer) const {
    return std::max<std::int64_t>(bytes_of(plan_, transfer, run_.call().buffer).count(), 1);
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, pattern_.engines);
    kernel.finish = finish_[rank];
    // Command i goes to engine i modulo the number of engines.
    std::vector<std::vector<Part>> parts(pattern_.engines);
    std::size_t longest = 0;
    const std::uint32_t step = pattern_.peers_a_command;
    for (std::uint32_t i = programs_.first[rank], command = 0; i < programs_.first[rank + 1];
         i += step, ++command) {
      const std::uint32_t count = std::min(step, programs_.first[rank + 1] - i);
      std::vector<Part>& engine = parts[command % pattern_.engines];
      add_command(engine, i, count);
      longest = std::max(longest, engine.size());
    }
    const std::uint32_t nothing = run_.graph().add_work({});
    for (std::size_t i = 0; i < longest; ++i) {
      for (const std::vector<Part>& engine : parts) {
        run_.graph().items.add(
            i < engine.size()
                ? item(engine[i])
                : CollectiveRun::item({.work = nothing}, 1, LatchId::none(), LatchId::none()));
      }
    }
    return run_.add(kernel, rank);
  }

  void add_command(std::vector<Part>& engine, std::uint32_t first, std::uint32_t count) {
    const std::int64_t size = payload(plan_.transfers[programs_.transfers[first]]);
    const std::int64_t part = part_size(size);
    std::uint32_t kind = engine.empty() ? kFirst : kNext;
    for (std::int64_t at = 0; at < size; at += part) {
      engine.push_back(
          {.first = first, .count = count, .size = std::min(part, size - at), .kind = kind});
      kind = kFurther;
    }
  }

  Item item(const Part& part) {
    const LatchId out = run_.graph().add_latch(1);
    for (std::uint32_t i = 0; i < part.count; ++i) {
      const std::uint32_t to = plan_.transfers[programs_.transfers[part.first + i]].to;
      run_.graph().add_send({.to = run_.group().gpus[to],
                             .size = static_cast<std::uint32_t>(part.size),
                             .arrives = finish_[to],
                             .op = static_cast<std::uint16_t>(run_.call().operator_id.value),
                             .from_engine = 1});
    }
    return CollectiveRun::item(kinds_[part.kind], part.size, out, LatchId::none());
  }

  CollectiveRun& run_;
  const Plan& plan_;
  Programs programs_;
  CopyPattern pattern_;
  std::vector<LatchId> finish_;
  std::vector<CollectiveRun::WorkKind> kinds_;
};

}  // namespace

std::vector<KernelId> run_copies(CollectiveRun& run, const Plan& plan) {
  return Copies(run, plan).lower();
}

KernelId add_copy(TaskGraph& graph, const Cluster& cluster, const CopyCall& call) {
  const DmaSpec& dma = cluster.spec.gpu.dma;
  const std::int64_t size = std::max<std::int64_t>(call.size.count(), 1);
  const std::int64_t part = part_size(size);
  Work further;
  further.traffic = bytes(part);
  further.memory_alone = transfer_time(further.traffic, dma.rate);
  Work first = further;
  // Whoever is behind a copy begins once its end was seen, which is a part of `next`.
  const Duration looked = seen_after(dma, call.turn);
  first.fixed = call.queued ? longer(dma.next, dma.signal) - dma.signal
                            : dma.schedule + looked - seen_after(dma, {});
  const CollectiveRun::WorkKind kinds[] = {{.work = graph.add_work(first), .bytes = part},
                                           {.work = graph.add_work(further), .bytes = part}};
  Kernel kernel{.gpu = GpuId(call.from), .op = call.operator_id, .role = KernelRole::collective};
  kernel.executor = Executor::dma;
  kernel.persistent = true;
  kernel.work_list = WorkList::static_list;
  kernel.max_grid = 1;
  kernel.launch = call.queued ? Duration{} : call.launch;
  kernel.flag = call.crowded ? dma.signal + looked : dma.signal;
  kernel.finish = graph.add_latch(static_cast<std::uint32_t>(round_up(size, part)));
  for (std::int64_t at = 0; at < size; at += part) {
    const std::int64_t here = std::min(part, size - at);
    const LatchId out = graph.add_latch(1);
    graph.add_send({.to = call.to,
                    .size = static_cast<std::uint32_t>(here),
                    .arrives = kernel.finish,
                    .op = static_cast<std::uint16_t>(call.operator_id.value),
                    .from_engine = 1});
    graph.items.add(CollectiveRun::item(kinds[at == 0 ? 0 : 1], here, out, LatchId::none()));
  }
  return graph.add_kernel(kernel, call.after);
}

CollectiveCounts count_copies(const Cluster& cluster, const CollectiveCall& call,
                              std::int64_t transfers) {
  const std::int64_t n = group_of(cluster, call).size();
  const bool divided = call.op == CollectiveOp::all_to_all || call.op == CollectiveOp::all_gather;
  std::int64_t size = std::max<std::int64_t>(call.buffer.count() / (divided ? n : 1), 1);
  for (const std::int64_t pair : call.pair_bytes) size = std::max(size, pair);
  const std::int64_t parts = round_up(size, part_size(size));
  const CopyPattern pattern = pattern_of(cluster, call, n - 1);
  // Engines with one command fewer are padded.
  const std::int64_t commands = round_up(round_up(n - 1, pattern.peers_a_command), pattern.engines);
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  return {.items = real(n * commands * pattern.engines) * real(parts),
          .sends = real(transfers) * real(parts),
          .bytes = real(transfers) * real(size)};
}

}  // namespace weft
