#include "sim/engine/run_memory.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/core/event_queue.h"
#include "sim/core/shared_server.h"
#include "sim/engine/latch_state.h"

namespace weft {
namespace {

// The segments that a message is cut into: one is in flight, the rest wait in the same queue.
double segments(const std::optional<FabricSpec>& fabric, double bytes_of_message) {
  if (!fabric || fabric->segment.count() == 0) return 1;
  const auto segment = static_cast<double>(fabric->segment.count());
  return std::max(1.0, bytes_of_message / segment);
}

// Of the links that a message passes: as many as may have it wait for all of those sent with it. A
// port does, and where it is faster than the links behind it, one of these does too.
double waits(const NetworkSpec& network) {
  if (network.nodes < 2) return 1;
  return network.nic->bandwidth > network.scale_out->link.bandwidth ? 2 : 1;
}

// Per CU: a shared server with its timer and a few jobs of 16 B, free resources, a fence, accounts.
constexpr double kPerCu = sizeof(SharedServer) + 200;
constexpr double kKernel = 128;  // in the engine
// Of the links of a long route, ports included: each keeps room for as many messages as it ever
// had.
constexpr double kQueues = 8;

// Of the sends of each latch, `follow` follow from others: of the rest, the most of one GPU.
std::size_t most_begun_by_one(const TaskGraph& graph, std::uint32_t gpus,
                              const std::vector<std::uint32_t>& follow) {
  std::vector<bool> seen(graph.latches.size());
  std::vector<std::size_t> begun(gpus);
  std::vector<LatchId> next;  // of the same GPU: a send may open another latch there
  const auto add = [&](LatchId latch) {
    if (latch.is_none() || seen[latch.value]) return;
    seen[latch.value] = true;
    next.push_back(latch);
  };
  for (const Kernel& kernel : graph.kernels) {
    graph.for_each_run(kernel, [&](const Item& item, std::uint32_t /*count*/) {
      add(item.counts_down);
      while (!next.empty()) {
        const LatchId latch = next.back();
        next.pop_back();
        const TaskGraph::SendRange sends = graph.sends_of(latch);
        begun[kernel.gpu.value] += sends.count - follow[latch.value];
        for (std::uint32_t s = sends.first; s < sends.end(); ++s) add(graph.sends[s].issued);
      }
    });
  }
  return *std::max_element(begun.begin(), begun.end());
}

}  // namespace

Bytes memory_of_run(const Cluster& cluster, const CollectiveCounts& counts) {
  // Per item: itself, as if none were alike. Per send: itself and, in the graph and in the engine,
  // its latch; if it can be on its way while all others are, the message with its segments and its
  // event; if not, the latch of its arrival, for which these leave room. Per GPU: WGs and queues.
  // Finally the links.
  const double message = counts.sends == 0 ? 0 : counts.bytes / counts.sends;
  const double pieces = std::ceil(std::max(segments(cluster.spec.scale_up, message),
                                           segments(cluster.spec.scale_out, message)));
  // A latch in the graph takes 5 B: `Latch` leaves room for the kinds of sends and large targets.
  constexpr std::size_t kLatch = sizeof(Latch) + sizeof(LatchState);
  constexpr std::size_t kPerSend = sizeof(Sends::Stored) + kLatch;
  const double on_its_way = static_cast<double>(sizeof(Event)) +
                            static_cast<double>(Transport::memory_per_message().count()) * pieces *
                                waits(cluster.network);
  const double on_their_way =
      std::min(counts.sends, kQueues * (counts.sends - counts.at_rest)) * on_its_way;
  const double per_gpu = 200'000.0 + cluster.spec.gpu.cus * kPerCu;
  const double memory = counts.items * static_cast<double>(sizeof(Item)) +
                        counts.sends * static_cast<double>(kPerSend) +
                        counts.at_rest * static_cast<double>(kLatch) + on_their_way +
                        cluster.gpus() * per_gpu +
                        static_cast<double>(Transport::memory(cluster.network).count());
  constexpr double kMost = 1e18;  // more than any machine has
  return bytes(static_cast<std::int64_t>(std::min(memory, kMost)));
}

Bytes memory_of_run(const Cluster& cluster, const TaskGraph& graph) {
  double sent = 0;
  for (const Send& send : graph.sends) sent += send.size;
  // A ring's chains of messages begin at all GPUs, and each passes a link in its turn. Those of a
  // broadcast all begin at one: wherever GPUs are late, links get all of them at once, one link
  // after another, and none gives its room back. So it counts as if each GPU began as many.
  const OnTheirWay most = most_on_their_way(graph, cluster.gpus());
  const std::size_t jammed = std::max(most.in_all, most.begun_by_one * cluster.gpus());
  const std::size_t at_rest = graph.sends.size() - std::min(graph.sends.size(), jammed);
  const CollectiveCounts counts{.items = static_cast<double>(graph.items.runs().size()),
                                .sends = static_cast<double>(graph.sends.size()),
                                .bytes = sent,
                                .at_rest = static_cast<double>(at_rest)};
  return memory_of_run(cluster, counts) +
         bytes(static_cast<std::int64_t>(graph.items.ends().size() * sizeof(std::uint32_t)));
}

// Messages make chains: what opens a latch are items that waited for messages, so each of these can
// be followed by one of the latch's sends. At any time no more than one of a chain is on its way.
OnTheirWay most_on_their_way(const TaskGraph& graph, std::uint32_t gpus) {
  std::vector<std::uint32_t> arrive(graph.latches.size());  // and are not followed yet
  for (const Send& send : graph.sends) {
    if (send.in_switch == InSwitch::nothing && !send.arrives.is_none()) {
      arrive[send.arrives.value] += 1;
    }
  }
  std::vector<std::uint32_t> before(graph.latches.size());  // the latch's sends
  for (const Kernel& kernel : graph.kernels) {
    graph.for_each_run(kernel, [&](const Item& item, std::uint32_t /*count*/) {
      if (item.waits_for.is_none() || item.counts_down.is_none()) return;
      before[item.counts_down.value] += std::exchange(arrive[item.waits_for.value], 0);
    });
  }
  std::size_t chains = graph.sends.size();
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    before[i] = std::min(before[i], graph.sends_of(LatchId(i)).count);
    chains -= before[i];
  }
  return {.in_all = chains, .begun_by_one = most_begun_by_one(graph, gpus, before)};
}

Bytes memory_of_share(const Cluster& cluster, const TaskGraph& graph) {
  constexpr double kPerGpu = 1000;
  const double memory = cluster.gpus() * (kPerGpu + cluster.spec.gpu.cus * kPerCu) +
                        static_cast<double>(graph.latches.size() * sizeof(LatchState)) +
                        static_cast<double>(graph.kernels.size()) * kKernel;
  return bytes(static_cast<std::int64_t>(memory)) + Transport::memory(cluster.network);
}

}  // namespace weft
