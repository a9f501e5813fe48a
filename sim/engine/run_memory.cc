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

// Per CU: a shared server with its timer and a few jobs of 16 B, free resources, a fence, accounts.
constexpr double kPerCu = sizeof(SharedServer) + 200;
constexpr double kKernel = 128;  // in the engine
// Of the links of a long route, ports included: each keeps room for as many messages as it ever
// had.
constexpr double kQueues = 8;

}  // namespace

Bytes memory_of_run(const Cluster& cluster, const CollectiveCounts& counts) {
  // Per item: itself, as if none were alike. Per send: itself and, in the graph and in the engine,
  // its latch; if it can be on its way while all others are, the message with its segments and its
  // event; if not, the latch of its arrival, for which these leave room. Per GPU: WGs and queues.
  // Finally the links.
  const double message = counts.sends == 0 ? 0 : counts.bytes / counts.sends;
  const double pieces =
      std::max(segments(cluster.spec.scale_up, message), segments(cluster.spec.scale_out, message));
  // A latch in the graph takes 5 B: `Latch` leaves room for the kinds of sends and large targets.
  constexpr std::size_t kLatch = sizeof(Latch) + sizeof(LatchState);
  constexpr std::size_t kPerSend = sizeof(Sends::Stored) + kLatch;
  const double on_its_way =
      static_cast<double>(sizeof(Event)) +
      static_cast<double>(Transport::memory_per_message().count()) * std::ceil(pieces);
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
  const std::size_t at_rest = graph.sends.size() - most_on_their_way(graph);
  const CollectiveCounts counts{.items = static_cast<double>(graph.items.runs().size()),
                                .sends = static_cast<double>(graph.sends.size()),
                                .bytes = sent,
                                .at_rest = static_cast<double>(at_rest)};
  return memory_of_run(cluster, counts) +
         bytes(static_cast<std::int64_t>(graph.items.ends().size() * sizeof(std::uint32_t)));
}

// Messages make chains: what opens a latch are items that waited for messages, so each of these can
// be followed by one of the latch's sends. At any time no more than one of a chain is on its way.
std::size_t most_on_their_way(const TaskGraph& graph) {
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
    if (before[i] > 0) chains -= std::min(before[i], graph.sends_of(LatchId(i)).count);
  }
  return chains;
}

Bytes memory_of_share(const Cluster& cluster, const TaskGraph& graph) {
  constexpr double kPerGpu = 1000;
  const double memory = cluster.gpus() * (kPerGpu + cluster.spec.gpu.cus * kPerCu) +
                        static_cast<double>(graph.latches.size() * sizeof(LatchState)) +
                        static_cast<double>(graph.kernels.size()) * kKernel;
  return bytes(static_cast<std::int64_t>(memory)) + Transport::memory(cluster.network);
}

}  // namespace weft
