#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/network/transport.h"
#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

void there_are_peers(const Check& check) {
  if (!check.good({"cluster.nodes", "cluster.gpus_per_node"})) return;
  constexpr int kMostGpus = 65'536;
  const ClusterSpec& cluster = check.scenario.cluster;
  const std::int64_t gpus = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  const bool needs_peers = check.good({"workload.kind"}) && !is_model(check.scenario.workload.kind);
  if (gpus < 2 && needs_peers) {
    check.fail("cluster.nodes",
               "one GPU has no peer; at least 2 GPUs are needed (only whole models run on one)");
  }
  if (gpus > kMostGpus) {
    check.fail("cluster.nodes", text(cluster.nodes) + " x " + text(cluster.gpus_per_node) + " = " +
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
    check.fail("cluster.nic", because + " and only a NIC leaves a node");
  }
}

void nics_are_shared_evenly(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.nic || !check.good({"cluster.gpus_per_node", "cluster.nic.per_node"})) return;
  const int gpus = cluster.gpus_per_node;
  const int nics = cluster.nic->per_node;
  if (gpus % nics == 0 || nics % gpus == 0) return;
  check.fail("cluster.nic.per_node",
             text(nics) + " NICs do not divide evenly among " + text(gpus) +
                 " GPUs a node; nearest: " +
                 (nics > gpus ? multiples_around(nics, gpus) : divisors_around(gpus, nics)));
}

struct FabricCheck {
  std::string path;
  const FabricSpec& fabric;
  std::int64_t endpoints;
  std::string counted;       // "128 nodes x 1 NIC"
  std::int64_t fabrics = 1;  // of this kind
};

void torus_sizes_multiply_out(const Check& check, const FabricCheck& f) {
  if (f.fabric.shape != ShapeKind::torus) return;
  const bool is_ring = f.fabric.dims.size() == 1;
  const std::string dims = f.path + ".dims";
  if (!check.good({dims, f.path + ".shape"})) return;
  if (is_ring && (f.endpoints < 2 || f.endpoints > 4'096)) {
    return check.fail(f.path + ".shape", "a ring has 2 to 4096 endpoints, but there are " +
                                             text(f.endpoints) + " (" + f.counted + ")");
  }
  std::int64_t product = 1;
  std::string written;
  for (const int size : f.fabric.dims) {
    product *= size;  // three sizes of at most 4096
    written += (written.empty() ? "" : " x ") + text(size);
  }
  if (product == f.endpoints) return;
  check.fail(dims, written + (is_ring ? "" : " = " + text(product)) + " endpoints, but there are " +
                       text(f.endpoints) + " (" + f.counted + ")");
}

void leaves_are_full(const Check& check, const FabricCheck& f) {
  if (f.fabric.shape != ShapeKind::fat_tree) return;
  const std::string leaf = f.path + ".endpoints_per_leaf";
  if (!check.good({leaf, f.path + ".oversubscription"})) return;
  const int down = f.fabric.endpoints_per_leaf;
  if (f.endpoints % down != 0) {
    check.fail(leaf, text(f.endpoints) + " endpoints (" + f.counted + ") do not fill leaves of " +
                         text(down) + "; nearest: " + divisors_around(f.endpoints, down));
  }
  const double up = down / f.fabric.oversubscription;
  constexpr double kRounding = 1e-9;
  if (up < 1 - kRounding || std::abs(up - std::round(up)) > kRounding * up) {
    check.fail(f.path + ".oversubscription",
               "a leaf with " + text(down) + " ports down would have " + std::to_string(up) +
                   " up; " + text(down) + " / oversubscription must be a whole number");
  }
}

std::int64_t links_of(const FabricSpec& fabric, std::int64_t endpoints) {
  switch (fabric.shape) {
    case ShapeKind::fully_connected:
      return endpoints * (endpoints - 1);
    case ShapeKind::switched:
      return 2 * endpoints;
    case ShapeKind::torus:
      return 2 * static_cast<std::int64_t>(fabric.dims.size()) * endpoints;
    case ShapeKind::fat_tree: {
      const std::int64_t leaves = endpoints / fabric.endpoints_per_leaf;
      return 2 * endpoints +
             2 * leaves * std::llround(fabric.endpoints_per_leaf / fabric.oversubscription);
    }
  }
  return 0;
}

void links_can_be_counted(const Check& check, const FabricCheck& f) {
  const std::string shape = f.path + ".shape";
  if (!check.good({shape, f.path + ".endpoints_per_leaf", f.path + ".oversubscription"})) return;
  constexpr std::int64_t kMost = std::int64_t{1} << 30U;  // of either fabric
  const std::int64_t links = links_of(f.fabric, f.endpoints);
  if (links <= kMost / f.fabrics) return;
  check.fail(shape, text(links) + " links" +
                        (f.fabrics == 1 ? "" : " in each of " + text(f.fabrics) + " nodes") +
                        " for " + text(f.endpoints) + " endpoints (" + f.counted +
                        ") are more than 2^30; take another shape or fewer endpoints");
}

void fabrics_fit_their_endpoints(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  std::vector<FabricCheck> fabrics;
  if (cluster.scale_up && check.good({"cluster.gpus_per_node"})) {
    fabrics.push_back({.path = "cluster.scale_up",
                       .fabric = *cluster.scale_up,
                       .endpoints = cluster.gpus_per_node,
                       .counted = text(cluster.gpus_per_node) + " GPUs a node",
                       .fabrics = check.good({"cluster.nodes"}) ? cluster.nodes : 1});
  }
  if (cluster.scale_out && cluster.nic && check.good({"cluster.nodes", "cluster.nic.per_node"})) {
    const int nics = cluster.nic->per_node;
    fabrics.push_back({.path = "cluster.scale_out",
                       .fabric = *cluster.scale_out,
                       .endpoints = std::int64_t{cluster.nodes} * nics,
                       .counted = text(cluster.nodes) + " nodes x " + text(nics) + " NIC" +
                                  (nics == 1 ? "" : "s")});
  }
  for (const FabricCheck& fabric : fabrics) {
    torus_sizes_multiply_out(check, fabric);
    leaves_are_full(check, fabric);
    links_can_be_counted(check, fabric);
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
      check.fail(path + ".gpu", "GPU " + text(slow.gpu) + " is there already");
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
      check.fail(path, "there is no link '" + name + "'; links are called " +
                           names_of_links(network) + ", as in links.csv");
    }
    if (!known.insert(name).second) check.fail(path, "'" + name + "' is there already");
  }
}

}  // namespace

void validate_cluster(const Check& check) {
  there_are_peers(check);
  peers_are_connected(check);
  nics_are_shared_evenly(check);
  fabrics_fit_their_endpoints(check);
  if (!check.good_within({"cluster"})) return;
  stragglers_are_gpus(check);
  degraded_links_are_there(check);
}

}  // namespace weft::rules
