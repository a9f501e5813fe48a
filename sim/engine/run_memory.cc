#include "sim/engine/run_memory.h"

#include <algorithm>
#include <cmath>

#include "sim/core/event_queue.h"
#include "sim/engine/latch_state.h"

namespace weft {
namespace {

// The segments that a message is cut into: one is in flight, the rest wait in the same queue.
double segments(const std::optional<FabricSpec>& fabric, double bytes_of_message) {
  if (!fabric || fabric->segment.count() == 0) return 1;
  const auto segment = static_cast<double>(fabric->segment.count());
  return std::max(1.0, bytes_of_message / segment);
}

// Per CU: its free resources, its accounts, and a shared server.
constexpr double kPerCu = 200;
constexpr double kKernel = 128;  // in the engine

}  // namespace

Bytes memory_of_run(const Cluster& cluster, double items, double sends, double sent) {
  // Per item: itself, as if none were alike. Per send: itself, its latch here and in the engine,
  // the message in flight with its segments, and its event. Per GPU: WGs and queues. Finally the
  // links.
  const double message = sends == 0 ? 0 : sent / sends;
  const double pieces =
      std::max(segments(cluster.spec.scale_up, message), segments(cluster.spec.scale_out, message));
  // A latch in the graph takes 5 B: `Latch` leaves room for the kinds of sends and large targets.
  constexpr std::size_t kPerSend =
      sizeof(Sends::Stored) + sizeof(Latch) + sizeof(LatchState) + sizeof(Event);
  const double per_send =
      static_cast<double>(kPerSend) +
      static_cast<double>(Transport::memory_per_message().count()) * std::ceil(pieces);
  const double per_gpu = 200'000.0 + cluster.spec.gpu.cus * kPerCu;
  const double memory = items * static_cast<double>(sizeof(Item)) + sends * per_send +
                        cluster.gpus() * per_gpu +
                        static_cast<double>(Transport::memory(cluster.network).count());
  constexpr double kMost = 1e18;  // more than any machine has
  return bytes(static_cast<std::int64_t>(std::min(memory, kMost)));
}

Bytes memory_of_run(const Cluster& cluster, const TaskGraph& graph) {
  double sent = 0;
  for (const Send& send : graph.sends) sent += send.size;
  const double stored = static_cast<double>(graph.items.runs().size());
  return memory_of_run(cluster, stored, static_cast<double>(graph.sends.size()), sent) +
         bytes(static_cast<std::int64_t>(graph.items.ends().size() * sizeof(std::uint32_t)));
}

Bytes memory_of_share(const Cluster& cluster, const TaskGraph& graph) {
  constexpr double kPerGpu = 1000;
  const double memory = cluster.gpus() * (kPerGpu + cluster.spec.gpu.cus * kPerCu) +
                        static_cast<double>(graph.latches.size() * sizeof(LatchState)) +
                        static_cast<double>(graph.kernels.size()) * kKernel;
  return bytes(static_cast<std::int64_t>(memory)) + Transport::memory(cluster.network);
}

}  // namespace weft
