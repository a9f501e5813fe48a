#include <algorithm>
#include <span>
#include <string>

#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"

namespace weft::rules {
namespace {

void modes_suit_the_workload(const Check& check) {
  if (!check.good({"modes", "workload.kind"})) return;
  const WorkloadKind kind = check.scenario.workload.kind;
  const std::span<const Mode> suiting = modes_of(kind);
  std::string wrong;
  for (const Mode mode : check.scenario.modes) {
    if (std::find(suiting.begin(), suiting.end(), mode) != suiting.end()) continue;
    wrong += (wrong.empty() ? "" : ", ") + std::string(name_of(mode));
  }
  if (wrong.empty()) return;
  std::string right;
  for (const Mode mode : suiting) right += (right.empty() ? "" : ", ") + std::string(name_of(mode));
  check.fail("modes", "kind " + std::string(names::word(names::kWorkloadKinds, kind)) +
                          " has no mode " + wrong + "; it has " + right);
}

void copy_engines_can_pipeline(const Check& check) {
  if (!check.has(Mode::pipelined) || !check.good({"modes", "workload.kind", "cluster.nodes"}))
    return;
  const std::string why_not = why_not_pipelined(check.scenario);
  if (why_not.empty()) return;
  check.fail("modes", "pipelined does not suit this workload: " + why_not +
                          "; leave it out, or use all for the modes that do");
}

}  // namespace

void validate_workload(const Check& check) {
  modes_suit_the_workload(check);
  copy_engines_can_pipeline(check);
}

}  // namespace weft::rules
