// Keys of recorded traces.
#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {

TraceWork read_trace(MapReader map, std::optional<WorkloadKind> kind) {
  const auto when = [&](bool applies) { return kind ? std::optional(applies) : std::nullopt; };
  const bool of_pytorch = kind == WorkloadKind::pytorch;
  TraceWork trace;
  if (of_pytorch) trace.format = TraceFormat::pytorch;
  MapReader any = map.where(when(kind && is_trace(*kind)), "kinds chakra and pytorch");
  trace.path = any.file("path",
                        "chakra: PATH.0.et, PATH.1.et ...; pytorch: folder of Kineto profiles; "
                        "from the folder of the file that says so, with --set the working one");
  trace.execution_traces =
      map.where(when(of_pytorch), "kind: pytorch")
          .file_or_none("execution_traces", "folder of execution traces; none: profiles say sizes");
  MapReader chakra = map.where(when(kind == WorkloadKind::chakra), "kind: chakra");
  trace.groups = chakra.file_or_none("process_groups", "JSON file such as {\"1\": [0, 1]}");
  trace.one_for_all = chakra.choice_or("one_for_all", false, names::table(names::kTruths),
                                       "rank 0's trace stands for all GPUs");
  trace.comm_size_unit =
      chakra.choice_or("comm_size_unit", trace.comm_size_unit, names::table(names::kSizeUnits),
                       "what comm_size counts; auto: bytes");
  trace.element_bytes =
      chakra.where(trace.comm_size_unit == CommSizeUnit::elements, "comm_size_unit: elements")
          .count_or("element_bytes", 2, {1, 16}, "of an element");
  trace.allgather_size_is = chakra.choice_or(
      "allgather_size_is", trace.allgather_size_is, names::table(names::kAllGatherSizes),
      "what an all-gather's comm_size is; auto: what a rank puts in");
  trace.cpu_ops = chakra.choice_or("cpu_ops", trace.cpu_ops, names::table(names::kCpuOps),
                                   "operators of the CPU; auto: drop");
  trace.waits_for = chakra.choice_or("waits_for", trace.waits_for, names::table(names::kWaitFors),
                                     "dependencies that count; auto: by who wrote the trace");
  return trace;
}

}  // namespace weft
