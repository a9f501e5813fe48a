#include "sim/core/assert.h"
#include "sim/workloads/fused_kernel.h"

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

// In mode fused.
Senders senders_of(const Overlap& overlap) {
  const FusedOptions& fused = overlap.options.fused;
  if (fused.sent_by == SentBy::wave) return Senders::waves;
  const bool first = overlap.travels == Travels::input && fused.sending_wgs > 0;
  return first && !goes_through_switch(overlap) ? Senders::first_wgs : Senders::wgs;
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
      return lower_fused(graph, overlap, senders_of(overlap));
    case Mode::role_split:
      return lower_fused(graph, overlap, Senders::cus);
    case Mode::copy_fed:
      return lower_fused(graph, overlap, Senders::copy_engines);
    default:
      SIM_ASSERT(false);
  }
}

}  // namespace weft
