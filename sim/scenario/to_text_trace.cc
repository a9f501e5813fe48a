// Recorded traces as YAML.
#include "sim/scenario/names.h"
#include "sim/scenario/writer.h"

namespace weft {

void write_trace(Writer& out, const TraceWork& trace) {
  out.quoted("path", trace.path);
  if (trace.format == TraceFormat::pytorch) {
    if (!trace.execution_traces.empty()) out.quoted("execution_traces", trace.execution_traces);
    return;
  }
  if (!trace.groups.empty()) out.quoted("process_groups", trace.groups);
  out.line("one_for_all", names::word(names::kTruths, trace.one_for_all));
  out.line("comm_size_unit", names::word(names::kSizeUnits, trace.comm_size_unit));
  if (trace.comm_size_unit == CommSizeUnit::elements) {
    out.line("element_bytes", trace.element_bytes);
  }
  out.line("allgather_size_is", names::word(names::kAllGatherSizes, trace.allgather_size_is));
  out.line("cpu_ops", names::word(names::kCpuOps, trace.cpu_ops));
  out.line("waits_for", names::word(names::kWaitFors, trace.waits_for));
}

}  // namespace weft
