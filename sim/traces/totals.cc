#include "sim/traces/totals.h"

namespace weft {

void add_simulated(const ModelGraph& graph, TraceSummary& summary) {
  for (const ModelOp& op : graph.ops) {
    TraceTotal& total = summary.by_kind[op.part];
    ++total.operators;
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr) continue;
    for (const std::vector<std::uint32_t>& group : graph.places[op.place].groups) {
      if (!call->pair_bytes.empty()) {
        for (const std::int64_t size : call->pair_bytes) add_bytes(total.bytes_simulated, size);
        continue;
      }
      const bool message = call->op == CollectiveOp::point_to_point;
      const auto buffers = message ? 1 : static_cast<std::int64_t>(group.size());
      std::int64_t all = 0;
      const bool over = __builtin_mul_overflow(call->buffer.count(), buffers, &all);
      add_bytes(total.bytes_simulated, over ? INT64_MAX : all);
    }
  }
}

}  // namespace weft
