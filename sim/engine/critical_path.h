// The critical path of a run: what its time is made of, from its end back to its start.
//
// A kernel begins one launch after its last dependency has ended; one that exchanges data with
// others continues only when they have begun too. So from a kernel's end the path goes back to the
// start of the kernel of its team that began last, and from there to the dependency that released
// that kernel.
#pragma once

#include <vector>

#include "sim/tasks/task_graph.h"

namespace weft {

// What a run records of a kernel. released_by: its dependency that ended last; none: it had none,
// or its release came later.
struct KernelSpan {
  SimTime start;
  SimTime end;
  KernelId released_by = KernelId::none();
};

// From `from` to `until` the run waits for this kernel, or its team; `gap` is the launch before it.
struct PathStep {
  KernelId kernel;
  SimTime from;
  SimTime until;
  Duration gap;
};

// Of these kernels, the one that ends last, the first if there are several; `spans` of all kernels.
KernelId last_to_end(const std::vector<KernelId>& kernels, const std::vector<KernelSpan>& spans);

// Back from the end of `from`: the last step first. Steps and gaps add up to the time from the
// release of the first kernel until then.
std::vector<PathStep> critical_path(const TaskGraph& graph, const std::vector<KernelSpan>& spans,
                                    KernelId from);

}  // namespace weft
