#include "sim/engine/critical_path.h"

#include <algorithm>

namespace weft {
namespace {

// Of a kernel and those it exchanges data with, the one that began last.
KernelId last_to_begin(const TaskGraph& graph, const std::vector<KernelSpan>& spans, KernelId id) {
  const Kernel& kernel = graph.kernels[id];
  KernelId last = id;
  for (std::uint32_t i = 0; i < kernel.team_size; ++i) {
    const std::uint32_t other = kernel.team_first + i;
    // Ranks of a pipeline may begin long after this one has ended: they did not hold it up.
    if (spans[other].start > spans[last.value].start && spans[other].start < spans[id.value].end) {
      last = KernelId(other);
    }
  }
  return last;
}

}  // namespace

KernelId last_to_end(const std::vector<KernelId>& kernels, const std::vector<KernelSpan>& spans) {
  return *std::max_element(kernels.begin(), kernels.end(), [&spans](KernelId a, KernelId b) {
    return spans[a.value].end < spans[b.value].end;
  });
}

std::vector<PathStep> critical_path(const TaskGraph& graph, const std::vector<KernelSpan>& spans,
                                    KernelId from) {
  std::vector<PathStep> path;
  KernelId at = from;
  while (true) {
    const KernelId begun = last_to_begin(graph, spans, at);
    const KernelSpan& span = spans[begun.value];
    const bool first = span.released_by.is_none();
    const SimTime before =
        first ? SimTime{} + graph.kernels[begun].release : spans[span.released_by.value].end;
    path.push_back({.kernel = at,
                    .from = span.start,
                    .until = spans[at.value].end,
                    .gap = span.start - before});
    if (first) return path;
    at = span.released_by;
  }
}

}  // namespace weft
