#include "sim/engine/critical_path.h"

namespace weft {
namespace {

// Of a kernel and those it exchanges data with, the one that began last.
KernelId last_to_begin(const TaskGraph& graph, const std::vector<KernelSpan>& spans, KernelId id) {
  const Kernel& kernel = graph.kernels[id];
  KernelId last = id;
  for (std::uint32_t i = 0; i < kernel.team_size; ++i) {
    const std::uint32_t other = kernel.team_first + i;
    // Ranks of a pipeline may begin when this one has long ended: they held nobody up.
    if (spans[other].start > spans[last.value].start && spans[other].start < spans[id.value].end) {
      last = KernelId(other);
    }
  }
  return last;
}

}  // namespace

std::vector<PathStep> critical_path(const TaskGraph& graph, const std::vector<KernelSpan>& spans) {
  std::vector<PathStep> path;
  if (spans.empty()) return path;
  KernelId at(0);
  for (std::uint32_t i = 1; i < spans.size(); ++i) {
    if (spans[i].end > spans[at.value].end) at = KernelId(i);
  }
  while (true) {
    const KernelId begun = last_to_begin(graph, spans, at);
    const KernelSpan& span = spans[begun.value];
    const bool first = span.released_by.is_none();
    const SimTime before = first ? SimTime{} : spans[span.released_by.value].end;
    path.push_back({.kernel = at,
                    .from = span.start,
                    .until = spans[at.value].end,
                    .gap = span.start - before});
    if (first) return path;
    at = span.released_by;
  }
}

}  // namespace weft
