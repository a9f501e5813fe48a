#include "sim/core/assert.h"
#include "sim/workloads/grid.h"

namespace weft {

namespace {

LastKernels lower_fused(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  const bool scattered = overlap.grid.scattered.has_value();
  if (overlap.travels == Travels::result) {
    return scattered ? lower_fused_scatter(graph, overlap, senders)
                     : lower_fused_producer(graph, overlap, senders);
  }
  return scattered ? lower_fused_gather(graph, overlap, senders)
                   : lower_fused_consumer(graph, overlap, senders);
}

}  // namespace

LastKernels lower_overlap(TaskGraph& graph, const Overlap& overlap, Mode mode) {
  switch (mode) {
    case Mode::bulk:
      return lower_chunked(graph, overlap, 1);
    case Mode::kernel:
      return lower_chunked(graph, overlap,
                           static_cast<std::uint32_t>(overlap.options.kernel.chunks));
    case Mode::pipelined:
      return lower_pipelined(graph, overlap);
    case Mode::fused:
      return lower_fused(
          graph, overlap,
          overlap.options.fused.sent_by == SentBy::wave ? Senders::waves : Senders::wgs);
    case Mode::role_split:
      return lower_fused(graph, overlap, Senders::cus);
    case Mode::copy_fed:
      return lower_fused(graph, overlap, Senders::copy_engines);
    default:
      SIM_ASSERT(false);
  }
}

}  // namespace weft
