// Keys of fused kernels that change nothing in the modes that are run: warnings, since another run
// of the same file may have other modes.
#include <string>
#include <vector>

#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"

namespace weft::rules {
namespace {

constexpr const char* kNoFused =
    "no effect: none of the modes fused, role_split and copy_fed is run";

// Whoever asks for some modes of a file with --mode knows that keys in it are of others.
void warn_of_modes(const Check& check, const std::string& path, const std::string& message) {
  if (check.reading.is_set("modes") && !check.reading.is_set(path)) return;
  check.warn(path, message);
}

// WGs that compute send as well.
bool wgs_send(const Check& check) {
  return check.has(Mode::fused) && check.scenario.fused.sent_by == SentBy::wg;
}

// They do in mode copy_fed too, where it is not their input that travels.
bool wgs_send_results(const Check& check) {
  return results_travel(check.scenario.workload.kind) &&
         (wgs_send(check) || check.has(Mode::copy_fed));
}

void a_mode_has_cus_that_send(const Check& check) {
  if (check.scenario.fused.sending_cus == 0 || check.has(Mode::role_split)) return;
  warn_of_modes(check, "fused.sending_cus",
                "no effect: CUs only send in mode role_split, which is not run");
}

void mode_fused_is_run(const Check& check) {
  if (check.scenario.fused.sent_by == SentBy::wg || check.has(Mode::fused)) return;
  warn_of_modes(check, "fused.sent_by",
                "no effect: it is asked in mode fused only, which is not run");
}

void input_is_brought(const Check& check) {
  if (check.scenario.fused.brought == Brought::fetched) return;
  const WorkloadKind kind = check.scenario.workload.kind;
  if (is_pair(kind) && results_travel(kind)) {
    check.warn("fused.brought", "no effect: it is results that travel, not input");
  } else if (!check.has(Mode::copy_fed)) {
    warn_of_modes(check, "fused.brought",
                  "no effect: copy engines bring input in mode copy_fed only, which is not run");
  }
}

void input_is_multiplied(const Check& check) {
  const FusedOptions& fused = check.scenario.fused;
  if (fused.own_first != 0 && !fuses(check.scenario)) {
    warn_of_modes(check, "fused.own_first", kNoFused);
  }
  const bool wgs_bring =
      check.has(Mode::fused) || check.has(Mode::role_split) || check.has(Mode::mixed);
  if (fused.piece != FusedOptions{}.piece && !wgs_bring) {
    warn_of_modes(check, "fused.piece", "no effect: it is for modes fused and role_split");
  }
  if (fused.sending_wgs == 0) return;
  if (!check.has(Mode::fused) || fused.sent_by == SentBy::wave) {
    warn_of_modes(check, "fused.sending_wgs",
                  "no effect: it is for mode fused with fused.sent_by: wg");
  } else if (fused.in_switch && is_pair(check.scenario.workload.kind)) {
    check.warn("fused.sending_wgs", "no effect: the switch copies what is sent (fused.in_switch)");
  }
}

void a_wave_sends(const Check& check) {
  const Scenario& scenario = check.scenario;
  const FusedOptions& fused = scenario.fused;
  std::vector<const char*> given;
  if (fused.unsent != 1) given.push_back("fused.unsent");
  if (fused.sending_waves != 0) given.push_back("fused.sending_waves");
  if (fused.rate_while_sending != 1) given.push_back("fused.rate_while_sending");
  for (const char* key : given) {
    if (!check.has(Mode::fused) || fused.sent_by != SentBy::wave) {
      warn_of_modes(check, key, "no effect: it is for mode fused with fused.sent_by: wave");
    } else if (scenario.cluster.gpus_per_node == 1) {
      check.warn(
          key, "no effect: it is for results that stay in the node, whose GPUs are one each here");
    } else if (scenario.workload.gemm.split_k > 1) {
      check.warn(key, "no effect: with workload.gemm.split_k results leave from memory");
    } else if (fused.in_switch) {
      check.warn(key, "no effect: with fused.in_switch results stay where they are made");
    }
  }
}

void own_parts_may_wait(const Check& check) {
  const FusedOptions& fused = check.scenario.fused;
  if (fused.add == FusedAdd::at_end) return;
  if (!check.has(Mode::fused)) {
    warn_of_modes(check, "fused.add", "no effect: it is for mode fused, which is not run");
  } else if (fused.in_switch) {
    check.warn("fused.add", "no effect: with fused.in_switch the switch adds up");
  } else if (fused.order == DestinationOrder::local_first) {
    check.warn("fused.add",
               "no effect: with fused.order: local_first peers make their parts of own results "
               "later than the own ones");
  } else if (fused.flag_per == FlagPer::peer) {
    check.warn("fused.add",
               "no effect: with fused.flag_per: peer parts are known to have come when all have");
  } else if (check.scenario.workload.gemm.split_k > 1) {
    check.warn("fused.add",
               "no effect: with workload.gemm.split_k no WG has a whole part in its registers");
  }
}

void own_results_may_be_fenced(const Check& check) {
  const FusedOptions& fused = check.scenario.fused;
  if (fused.fence_of == FenceOf::sent) return;
  if (!check.has(Mode::fused)) {
    warn_of_modes(check, "fused.fence_of", "no effect: it is for mode fused, which is not run");
  } else if (fused.sent_by == SentBy::wave || fused.staging == Staging::staged ||
             check.scenario.workload.gemm.split_k > 1) {
    check.warn("fused.fence_of",
               "no effect: WGs fence only where they store their results themselves: not with "
               "fused.sent_by: wave, fused.staging: staged or workload.gemm.split_k");
  } else if (fused.flag_per != FlagPer::slice || fused.in_switch) {
    check.warn("fused.fence_of",
               "no effect: only with fused.flag_per: slice, and no in_switch, do "
               "results that stay have flags");
  } else if (check.scenario.cluster.gpu.peer_store.fences == Fences::independent) {
    check.warn("fused.fence_of",
               "no effect: with cluster.gpu.peer_store.fences: independent a WG "
               "waits for its own stores alone");
  } else if (fused.add == FusedAdd::with_own) {
    check.warn("fused.fence_of",
               "no effect: with fused.add: with_own the own part stays in registers");
  }
}

void results_may_be_staged(const Check& check) {
  if (check.scenario.fused.staging == Staging::zero_copy || wgs_send_results(check)) return;
  warn_of_modes(
      check, "fused.staging",
      fuses(check.scenario)
          ? "no effect: CUs or waves that only send (mode role_split, fused.sent_by: wave) "
            "stage nothing"
          : kNoFused);
}

void waves_or_threads_put(const Check& check) {
  const Scenario& scenario = check.scenario;
  const PutBy put_by = scenario.fused.put_by;
  if (put_by == PutBy::wg) return;
  if (!fuses(scenario)) return warn_of_modes(check, "fused.put_by", kNoFused);
  if (scenario.cluster.nodes > 1 && (check.has(Mode::fused) || check.has(Mode::role_split))) return;
  if (put_by == PutBy::wave) {
    return check.warn(
        "fused.put_by",
        "wave has no effect: in a node waves store as their WG does; only between nodes "
        "each has a queue entry of its own");
  }
  const bool some_only_send = check.has(Mode::role_split) || check.has(Mode::fused);
  const bool in_bulk = scenario.cluster.gpu.peer_store.bulk_rate.count() > 0;
  if (wgs_send(check) || wgs_send_results(check) || (some_only_send && !in_bulk)) return;
  warn_of_modes(
      check, "fused.put_by",
      "thread has no effect: what leaves a GPU are copies by engines (mode copy_fed), or bulk "
      "copies of those that only send (cluster.gpu.peer_store.bulk_rate)");
}

// Of a whole model, other pairs may ask for them.
void the_switch_leaves_no_choice(const Check& check) {
  const FusedOptions& fused = check.scenario.fused;
  const WorkloadKind kind = check.scenario.workload.kind;
  if (!fused.in_switch) return;
  if (!check.has(Mode::fused) && !check.has(Mode::role_split)) {
    return warn_of_modes(
        check, "fused.in_switch",
        "no effect: neither fused nor role_split is run, whose WGs use the switch");
  }
  if (!is_pair(kind) || !results_travel(kind)) return;
  if (fused.order != DestinationOrder::remote_first) {
    check.warn(
        "fused.order",
        "no effect: with in_switch a slice is made for each owner in turn, as a sum is there "
        "when all have made their part");
  }
  if (fused.staging != Staging::zero_copy && !check.has(Mode::copy_fed)) {
    check.warn("fused.staging", "no effect: what the switch adds up stays where it was made");
  }
}

}  // namespace

void warn_of_idle_keys(const Check& check) {
  if (check.has(Mode::mixed)) return;  // which may have all of them
  a_mode_has_cus_that_send(check);
  mode_fused_is_run(check);
  input_is_brought(check);
  input_is_multiplied(check);
  a_wave_sends(check);
  own_parts_may_wait(check);
  own_results_may_be_fenced(check);
  results_may_be_staged(check);
  waves_or_threads_put(check);
  the_switch_leaves_no_choice(check);
}

}  // namespace weft::rules
