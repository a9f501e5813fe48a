// The keys of recorded traces.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/gpu_model/gpu_fields.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

void chakra_fields(Fields map, TraceWork& trace) {
  map.file_or_none("process_groups", trace.groups,
                   "JSON file such as {\"1\": [0, 1]}; default: PATH.groups.json, if it is there");
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

// What a profile recorded kernel by kernel has.
void profile_fields(Fields map, TraceWork& trace) {
  map.add("step", trace.step,
          {.help = "replay only what this step of the profiles launched (ProfilerStep#N); with "
                   "last_step the first of several",
           .range = {{-1, 1'000'000'000}},
           .fallback = -1,
           .means = "all steps"});
  map.add("last_step", trace.last_step,
          {.help = "the last of several steps, from step on",
           .range = {{-1, 1'000'000'000}},
           .fallback = -1,
           .means = "step is the only one"});
  map.choice("steps", trace.steps, names::kStepsAs,
             {.help = "what several steps become; mean: one step with the mean of their times",
              .fallback = StepsAs::in_a_row});
  map.choice("host", trace.host, names::kHostTimes,
             {.help = "what becomes of the host's own time; recorded: not of a mean of steps",
              .fallback = HostTime::drop});
  if (map.writes()) return;
  if (trace.last_step >= 0 && (trace.step < 0 || trace.last_step < trace.step)) {
    map.fail("last_step", "must come after step, the first of the steps");
  }
  if (trace.steps == StepsAs::mean && trace.step >= 0 && trace.last_step < 0) {
    map.fail("steps", "mean is of several steps, but step takes one; give last_step, or no step");
  }
  if (trace.host == HostTime::recorded && trace.steps == StepsAs::mean) {
    map.fail("host", "recorded is one step's, but steps is mean; take one with step");
  }
}

void node_fields(Fields map, TraceWork& trace) {
  map.add("tensor_element_bytes", trace.element_bytes,
          {.help = "bytes of an element of the shapes in NVTX or ROCTx ranges, which do not say it",
           .range = {{1, 16}},
           .fallback = 2});
  map.file_or_none("collective_sizes", trace.collective_sizes,
                   "file of a line such as 'all_reduce 64 MiB' for each collective whose size the "
                   "profile lacks, in the order of a rank's launches");
}

// Described as one key: all of cluster.gpu's are meant.
void recorded_on_fields(Fields& map, GpuSpec& gpu) {
  if (!map.describes()) fields(map, gpu);
}

// Copies of a step, of which the trace has some.
void copies_fields(Fields map, TraceWork& trace) {
  map.add("copies", trace.copies,
          {.help = "data-parallel replicas in the cluster, which do what those in the trace did",
           .range = {{1, 65'536}},
           .fallback = 1,
           .quiet = true});
  map.add("recorded_copies", trace.recorded_copies,
          {.help = "data-parallel replicas in the trace, each on GPUs that follow one another",
           .range = {{1, 65'536}},
           .fallback = 1,
           .quiet = true});
  if (!map.writes() && trace.copies < trace.recorded_copies) {
    map.fail("copies", "there must be as many as recorded_copies, or more");
  }
}

// "chakra, pytorch and graph"
std::string names_of_formats() {
  std::string all;
  const std::vector<std::string_view> words = names::words_that(names::kWorkloadKinds, is_trace);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) all += i + 1 < words.size() ? ", " : " and ";
    all += words[i];
  }
  return all;
}

// "chakra: PATH.0.et ...; pytorch: folder ..."
std::string files_of_formats() {
  std::string all;
  for (const KindRow& row : kKindRows) {
    if (row.family != Family::trace) continue;
    all += std::string(all.empty() ? "" : "; ") + row.name + ": " + row.files;
  }
  return all;
}

}  // namespace

void trace_fields(Fields map, Workload& workload) {
  TraceWork& trace = workload.trace;
  if (is_trace(workload.kind)) trace.format = workload.kind;
  static const std::string kinds = "kinds " + names_of_formats();
  static const std::string files =
      files_of_formats() +
      "; relative to the folder of the file that contains it, or with --set to the working folder";
  map.where("kind", names::words_that(names::kWorkloadKinds, is_trace), kinds)
      .file("path", trace.path, files);
  copies_fields(map.where("kind", names::words_that(names::kWorkloadKinds, is_trace), kinds),
                trace);
  map.where("kind", names::words_that(names::kWorkloadKinds, is_trace), kinds)
      .choice("find_blocks", trace.find_blocks, names::kTruths,
              {.help = "find what GPUs have alike, and what recurs on them, to simulate it once; a "
                       "trace or graph that has blocks keeps these",
               .fallback = false});
  map.where("kind", names::words_that(names::kWorkloadKinds, is_trace), kinds)
      .optional_map("recorded_on", trace.recorded_on,
                    "the GPU that kernels were recorded on, with the keys of cluster.gpu, such as "
                    "{base: gpus/a100}; their times are scaled from it to the cluster's GPU",
                    recorded_on_fields);
  const std::string_view pytorch = row_of(WorkloadKind::pytorch).name;
  const std::string_view nsys = row_of(WorkloadKind::nsys).name;
  const std::string_view rocprof = row_of(WorkloadKind::rocprof).name;
  Fields of_pytorch = map.where("kind", {pytorch});
  of_pytorch.file_or_none("execution_traces", trace.execution_traces,
                          "folder of execution traces; none: the profiles contain the sizes");
  profile_fields(map.where("kind", {pytorch, nsys, rocprof}), trace);
  node_fields(map.where("kind", {nsys, rocprof}), trace);
  chakra_fields(map.where("kind", {row_of(WorkloadKind::chakra).name}), trace);
}

}  // namespace weft
