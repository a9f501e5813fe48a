// The keys of a workload: its kind's, those of operators, collectives, models and traces.
#include "sim/scenario/names.h"
#include "sim/scenario/operator_kind.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

// Those of each operator once.
void operator_fields(Fields& map, Workload& workload) {
  const OperatorKind* last = nullptr;
  for (const KindRow& row : kKindRows) {
    if (row.family != Family::pair || row.computes == last) continue;
    last = row.computes;
    last->fields(map, workload);
  }
}

void communication_fields(Fields& map, CollectiveWork& work) {
  map.choice("op", work.op, names::kCommunications, {.help = "which collective runs"});
  map.add(
      "bytes", work.bytes,
      {.help = "size of each GPU's buffer", .range = {{bytes(4096), bytes(1'000'000'000'000)}}});
}

}  // namespace

CollectiveOp collective_of(const Workload& workload) {
  const Family family = row_of(workload.kind).family;
  if (family == Family::collective || family == Family::c3) return workload.collective.op;
  return row_of(workload.kind).collective.value_or(CollectiveOp::all_to_all);
}

void fields(Fields& map, Workload& workload) {
  map.choice("kind", workload.kind, names::kWorkloadKinds,
             {.help = "the operator and its collective"});
  operator_fields(map, workload);
  collective_fields(map.where("kind", {"collective"}), workload.collective);
  CollectiveWork beside = workload.collective;
  map.where("kind", {"c3"})
      .map("communication", "the collective that is independent of the GEMM",
           [&](Fields& inner) { communication_fields(inner, beside); });
  if (workload.kind == WorkloadKind::c3) workload.collective = beside;
  model_fields(map, workload);
  trace_fields(map, workload);
}

}  // namespace weft
