// The keys of recorded traces.
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

void chakra_fields(Fields map, TraceWork& trace) {
  map.file_or_none("process_groups", trace.groups, "JSON file such as {\"1\": [0, 1]}");
  map.choice("one_for_all", trace.one_for_all, names::kTruths,
             {.help = "use rank 0's trace for all GPUs", .fallback = false});
  map.choice(
      "comm_size_unit", trace.comm_size_unit, names::kSizeUnits,
      {.help = "what comm_size counts; auto: bytes", .fallback = names::kAuto<CommSizeUnit>});
  map.where("comm_size_unit", {"elements"})
      .add("element_bytes", trace.element_bytes,
           {.help = "bytes of an element", .range = {{1, 16}}, .fallback = 2});
  map.choice("allgather_size_is", trace.allgather_size_is, names::kAllGatherSizes,
             {.help = "what an all-gather's comm_size means; auto: what each rank contributes",
              .fallback = names::kAuto<AllGatherSize>});
  map.choice(
      "cpu_ops", trace.cpu_ops, names::kCpuOps,
      {.help = "what becomes of CPU operators; auto: drop", .fallback = names::kAuto<CpuOps>});
  map.choice("waits_for", trace.waits_for, names::kWaitFors,
             {.help = "which dependencies count; auto: depends on who wrote the trace",
              .fallback = names::kAuto<WaitFor>});
}

}  // namespace

void trace_fields(Fields map, TraceWork& trace) {
  if (map.says("kind", {"pytorch"}).value_or(false)) trace.format = TraceFormat::pytorch;
  map.where("kind", {"chakra", "pytorch"}, "kinds chakra and pytorch")
      .file("path", trace.path,
            "chakra: PATH.0.et, PATH.1.et ...; pytorch: folder of Kineto profiles; relative to the "
            "folder of the file that contains it, or with --set to the working folder");
  map.where("kind", {"pytorch"})
      .file_or_none("execution_traces", trace.execution_traces,
                    "folder of execution traces; none: the profiles contain the sizes");
  map.where("kind", {"pytorch"})
      .add("step", trace.step,
           {.help = "replay only what ProfilerStep#N of the profiles launched",
            .range = {{-1, 1'000'000'000}},
            .fallback = -1,
            .means = "all steps"});
  chakra_fields(map.where("kind", {"chakra"}), trace);
}

}  // namespace weft
