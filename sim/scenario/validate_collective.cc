// What can carry the workload's collective, and by which algorithm.
#include <string>

#include "sim/scenario/check.h"
#include "sim/scenario/names.h"

namespace weft::rules {
namespace {

// Whether the library runs one: in mode fused the kernel sends for itself.
bool runs(const Check& check) {
  return check.good({"modes", "workload.kind", "collective.executor"}) &&
         (check.has(Mode::bulk) || check.has(Mode::kernel));
}

bool by_copy_engines(const Check& check) {
  return runs(check) && check.scenario.collective.executor == CollectiveExecutor::dma;
}

void copy_engines_reach_every_peer(const Check& check) {
  if (!by_copy_engines(check) || !check.good({"cluster.nodes"})) return;
  if (check.scenario.cluster.nodes == 1) return;
  check.fail("collective.executor",
             "dma needs one node, because copy engines cannot drive a NIC; with " +
                 text(check.scenario.cluster.nodes) + " nodes use cu");
}

void copy_engines_add_nothing_up(const Check& check) {
  const CollectiveOp op = collective_of(check.scenario.workload.kind);
  if (!by_copy_engines(check) || !reduces(op)) return;
  check.fail("collective.executor", "dma moves data but adds nothing up, as " +
                                        std::string(names::word(names::kCollectiveOps, op)) +
                                        " has to; use cu");
}

void the_algorithm_suits_the_collective(const Check& check) {
  if (!runs(check) || !check.good({"collective.algorithm"})) return;
  const CollectiveOp op = collective_of(check.scenario.workload.kind);
  const auto& algorithm = check.scenario.collective.algorithm;
  if (!algorithm || exists(op, *algorithm)) return;
  std::string known = "auto";
  for (const Choice<Algorithm>& choice : names::kAlgorithms) {
    if (exists(op, choice.value)) known += ' ' + std::string(choice.name);
  }
  check.fail("collective.algorithm", std::string(names::word(names::kCollectiveOps, op)) +
                                         " is not done by '" +
                                         std::string(names::word(names::kAlgorithms, *algorithm)) +
                                         "'; use one of " + known);
}

}  // namespace

void validate_collective(const Check& check) {
  copy_engines_add_nothing_up(check);
  copy_engines_reach_every_peer(check);
  the_algorithm_suits_the_collective(check);
}

}  // namespace weft::rules
