// Whole models as YAML.
#include <string>
#include <vector>

#include "sim/scenario/names.h"
#include "sim/scenario/units.h"
#include "sim/scenario/writer.h"

namespace weft {
namespace {

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return '[' + text + ']';
}

void write_dlrm(Writer& out, const DlrmSpec& dlrm) {
  out.line("bottom_mlp", list_text(dlrm.bottom_mlp));
  out.line("top_mlp", list_text(dlrm.top_mlp));
  out.line("interaction", names::word(names::kInteractions, dlrm.interaction));
  out.line("mlp_dtype", names::word(names::kDataTypes, dlrm.mlp_dtype));
  out.line("pooling_spread", number_text(dlrm.pooling_spread));
}

}  // namespace

void write_model(Writer& out, const Workload& workload) {
  std::string fuse;
  for (const WorkloadKind pattern : workload.fuse.patterns) {
    fuse += (fuse.empty() ? "[" : ", ") + std::string(names::word(names::kFusePatterns, pattern));
  }
  if (fuse.empty()) {
    fuse = workload.fuse.automatic ? "auto" : "none";
  } else {
    fuse += ']';
  }
  out.line("fuse", fuse);
  if (is_trace(workload.kind)) return write_trace(out, workload.trace);
  out.line("phase", names::word(names::kPhases, workload.phase));
  if (workload.phase == Phase::training) {
    out.line("gradient_dtype", names::word(names::kDataTypes, workload.gradients));
  }
  write_dlrm(out, workload.dlrm);
}

}  // namespace weft
