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

}  // namespace

void validate_workload(const Check& check) { modes_suit_the_workload(check); }

}  // namespace weft::rules
