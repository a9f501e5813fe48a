#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/network/transport.h"
#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"
#include "sim/spec/keys_of.h"

namespace weft::rules {
namespace {

void there_are_peers(const Check& check) {
  if (!check.good({"cluster.nodes", "cluster.gpus_per_node"})) return;
  constexpr int kMostGpus = 131'072;
  const ClusterSpec& cluster = check.scenario.cluster;
  const std::int64_t gpus = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  const bool needs_peers = check.good({"workload.kind"}) && !is_model(check.scenario.workload.kind);
  if (gpus < 2 && needs_peers) {
    check.fail_between(
        {"cluster.nodes", "cluster.gpus_per_node"},
        "one GPU has no peer; at least 2 GPUs are needed (only whole models run on one)");
  }
  if (gpus > kMostGpus) {
    check.fail_between({"cluster.nodes", "cluster.gpus_per_node"},
                       text(cluster.nodes) + " x " + text(cluster.gpus_per_node) + " = " +
                           text(gpus) + " GPUs; at most " + text(kMostGpus));
  }
}

void peers_are_connected(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (check.good({"cluster.gpus_per_node", "cluster.scale_up"}) && cluster.gpus_per_node > 1 &&
      !cluster.scale_up) {
    check.fail("cluster.scale_up", "required, because a node has " + text(cluster.gpus_per_node) +
                                       " GPUs that must reach one another");
  }
  if (!check.good({"cluster.nodes"}) || cluster.nodes == 1) return;
  const std::string because = "required, because there are " + text(cluster.nodes) + " nodes";
  if (check.good({"cluster.scale_out"}) && !cluster.scale_out) {
    check.fail("cluster.scale_out", because + " that must reach one another");
  }
  if (check.good({"cluster.nic"}) && !cluster.nic) {
    check.fail("cluster.nic", because + " and messages leave a node only through a NIC");
  }
}

void nics_are_shared_evenly(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.nic || !check.good({"cluster.gpus_per_node", "cluster.nic.per_node"})) return;
  const int gpus = cluster.gpus_per_node;
  const int nics = cluster.nic->per_node;
  if (gpus % nics == 0 || nics % gpus == 0) return;
  check.fail_between(
      {"cluster.nic.per_node", "cluster.gpus_per_node"},
      text(nics) + " NICs do not divide evenly among " + text(gpus) +
          " GPUs per node; nearest number of NICs: " +
          (nics > gpus ? multiples_around(nics, gpus) : divisors_around(gpus, nics)));
}

struct FabricCheck {
  std::string path;
  const FabricSpec& fabric;
  Endpoints endpoints;
  std::int64_t fabrics = 1;  // of this kind
};

void links_can_be_counted(const Check& check, const FabricCheck& f) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30U;  // of either fabric
  const std::int64_t links = f.fabric.topology->count_links(f.endpoints.count);
  if (links <= kMost / f.fabrics) return;
  check.fail(f.path + ".shape",
             text(links) + " links" +
                 (f.fabrics == 1 ? "" : " in each of " + text(f.fabrics) + " nodes") + " for " +
                 text(f.endpoints.count) + " endpoints (" + f.endpoints.counted +
                 ") are more than 2^30; use another shape or fewer endpoints");
}

void fabrics_fit_their_endpoints(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  std::vector<FabricCheck> fabrics;
  if (cluster.scale_up && check.good({"cluster.gpus_per_node"})) {
    fabrics.push_back({.path = "cluster.scale_up",
                       .fabric = *cluster.scale_up,
                       .endpoints = {.count = cluster.gpus_per_node,
                                     .counted = text(cluster.gpus_per_node) + " GPUs per node",
                                     .counted_by = {"cluster.gpus_per_node"}},
                       .fabrics = check.good({"cluster.nodes"}) ? cluster.nodes : 1});
  }
  if (cluster.scale_out && cluster.nic && check.good({"cluster.nodes", "cluster.nic.per_node"})) {
    const int nics = cluster.nic->per_node;
    fabrics.push_back({.path = "cluster.scale_out",
                       .fabric = *cluster.scale_out,
                       .endpoints = {.count = std::int64_t{cluster.nodes} * nics,
                                     .counted = text(cluster.nodes) + " nodes x " + text(nics) +
                                                " NIC" + (nics == 1 ? "" : "s"),
                                     .counted_by = {"cluster.nodes", "cluster.nic.per_node"}}});
  }
  for (const FabricCheck& f : fabrics) {
    if (!check.good({f.path + ".shape"})) continue;
    if (f.fabric.topology->fits(f.endpoints, KeysOf(check.reading, f.path))) {
      links_can_be_counted(check, f);
    }
  }
}

void stragglers_are_gpus(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  std::set<int> known;
  for (std::size_t i = 0; i < cluster.stragglers.size(); ++i) {
    const Straggler& slow = cluster.stragglers[i];
    const std::string path = "cluster.stragglers[" + std::to_string(i) + ']';
    if (slow.gpu >= cluster.gpus()) {
      check.fail(path + ".gpu", "there is no GPU " + text(slow.gpu) + "; the last one is " +
                                    text(cluster.gpus() - 1));
    }
    if (!known.insert(slow.gpu).second) {
      check.fail(path + ".gpu", "GPU " + text(slow.gpu) + " is listed twice");
    }
    if (slow.clock == 1 && slow.memory == 1) {
      check.fail(path, "a straggler needs clock or memory below 1");
    }
  }
}

// One link of each class, as an example.
std::string names_of_links(const Transport& network) {
  std::set<std::string> classes;
  std::string names;
  for (std::uint32_t i = 0; i < network.links(); ++i) {
    if (!classes.insert(network.link_class(LinkId(i))).second) continue;
    names += (names.empty() ? "" : ", ") + network.name(LinkId(i));
  }
  return names;
}

void degraded_links_are_there(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (cluster.degraded_links.empty()) return;
  NetworkSpec spec = cluster.network();
  spec.degraded.clear();
  const Transport network(spec);
  std::set<std::string> known;
  for (std::size_t i = 0; i < cluster.degraded_links.size(); ++i) {
    const std::string& name = cluster.degraded_links[i].link;
    const std::string path = "cluster.degraded_links[" + std::to_string(i) + "].link";
    if (network.named(name).is_none()) {
      check.fail(path, "there is no link '" + name + "'; links have names such as " +
                           names_of_links(network) + ", as in links.csv");
    }
    if (!known.insert(name).second) check.fail(path, "'" + name + "' is listed twice");
  }
}

void errors_are_known(const Check& check) {
  if (!check.good({"run.range"}) || !check.scenario.run.range) return;
  const TraceWork& trace = check.scenario.workload.trace;
  if (trace.recorded_on || trace.host == HostTime::recorded) {
    check.fail("run.range",
               "is not known for kernels that were moved to another GPU (workload.recorded_on) or "
               "wait for the host (workload.host: recorded)");
  }
  if (check.scenario.cluster.gpu.errors) return;
  check.fail("run.range",
             "needs cluster.gpu.errors: how far weft is off on this GPU, by law; "
             "configs/gpus/h200.yaml has those of an H200");
}

void pauses_change_clocks(const Check& check) {
  const RunOptions& run = check.scenario.run;
  if (!check.good({"run.steps_between_pauses", "run.clocks", "workload.kind", "workload.phase"}) ||
      run.steps_between_pauses == 0) {
    return;
  }
  if (!asks_for_sustained_clocks(check.scenario)) {
    return check.fail("run.steps_between_pauses",
                      "has no effect at the clock of short kernels; leave it out, or say "
                      "run.clocks: sustained");
  }
  const std::optional<PowerSpec>& power = check.scenario.cluster.gpu.power;
  if (!check.good_within({"cluster"}) || (power && power->window.count() > 0)) return;
  check.fail("run.steps_between_pauses",
             "needs cluster.gpu.power with a window: how long the GPU may be above its limit; "
             "configs/gpus/h200.yaml has an H200's");
}

}  // namespace

void validate_cluster(const Check& check) {
  pauses_change_clocks(check);
  there_are_peers(check);
  peers_are_connected(check);
  nics_are_shared_evenly(check);
  fabrics_fit_their_endpoints(check);
  if (!check.good_within({"cluster"})) return;
  stragglers_are_gpus(check);
  degraded_links_are_there(check);
  errors_are_known(check);
}

}  // namespace weft::rules
