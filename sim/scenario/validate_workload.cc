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

void modes_suit_the_pair(const Check& check) {
  if (!check.good({"modes", "workload.kind", "cluster.nodes", "cluster.gpu.cus"})) return;
  for (const Mode mode : check.scenario.modes) {
    const std::string reason = why_not(check.scenario, mode);
    if (reason.empty()) continue;
    check.fail("modes", std::string(name_of(mode)) + " does not suit this workload: " + reason +
                            "; leave it out, or use all for the modes that do");
  }
}

void some_cus_compute(const Check& check) {
  if (!check.has(Mode::role_split)) return;
  if (!check.good({"modes", "fused.sending_cus", "cluster.gpu.cus"})) return;
  const int cus = check.scenario.cluster.gpu.cus;
  if (cus < 2 || check.scenario.fused.sending_cus < cus) return;
  check.fail("fused.sending_cus", text(check.scenario.fused.sending_cus) + " of " + text(cus) +
                                      " CUs leave none to compute; at most " + text(cus - 1));
}

}  // namespace

void validate_workload(const Check& check) {
  modes_suit_the_workload(check);
  modes_suit_the_pair(check);
  some_cus_compute(check);
}

}  // namespace weft::rules
