#include "sim/traces/totals.h"

#include <numeric>

namespace weft {

void add_simulated(const ModelGraph& graph, TraceSummary& summary) {
  for (const ModelOp& op : graph.ops) {
    TraceTotal& total = summary.by_kind[op.part];
    ++total.operators;
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr) continue;
    for (const std::vector<std::uint32_t>& group : graph.places[op.place].groups) {
      if (!call->pair_bytes.empty()) {
        total.bytes_simulated +=
            std::accumulate(call->pair_bytes.begin(), call->pair_bytes.end(), std::int64_t{0});
        continue;
      }
      const bool message = call->op == CollectiveOp::point_to_point;
      const auto buffers = message ? 1 : static_cast<std::int64_t>(group.size());
      total.bytes_simulated += call->buffer.count() * buffers;
    }
  }
}

}  // namespace weft
