// The collective of a workload: of which GPUs, carried by what, by which algorithm.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/scenario/check.h"
#include "sim/scenario/names.h"
#include "sim/spec/units.h"

namespace weft::rules {
namespace {

std::string word_of(CollectiveOp op) { return std::string(names::word(names::kCollectiveOps, op)); }

// Whether the library runs one: in mode fused the kernel sends for itself.
bool runs(const Check& check) {
  return check.good({"modes", "workload.kind", "workload.op", "collective.executor"}) &&
         (check.has(Mode::bulk) || check.has(Mode::kernel) || check.is(WorkloadKind::c3));
}

// Of a whole model each is done as the keys say where it can be (its own kinds are not known here).
bool is_of_a_model(const Check& check) { return is_model(check.scenario.workload.kind); }

bool by_copy_engines(const Check& check) {
  return runs(check) && !check.is(WorkloadKind::c3) &&
         check.scenario.collective.executor == CollectiveExecutor::dma;
}

void copy_engines_add_nothing_up(const Check& check) {
  const CollectiveOp op = collective_of(check.scenario.workload);
  if (!by_copy_engines(check) || !reduces(op)) return;
  check.fail("collective.executor",
             "dma moves data but cannot add, as " + word_of(op) + " must; use cu");
}

void copy_engines_reach_every_peer(const Check& check) {
  if (!by_copy_engines(check) || !check.good({"cluster.nodes"})) return;
  if (check.scenario.cluster.nodes == 1) return;
  check.fail("collective.executor",
             "dma requires a single node, because copy engines cannot drive a NIC; with " +
                 text(check.scenario.cluster.nodes) + " nodes use cu");
}

void a_command_for_two_peers_copies_the_same_to_both(const Check& check) {
  if (!by_copy_engines(check) || !check.good({"collective.dma"})) return;
  if (check.scenario.collective.dma != DmaPattern::broadcast) return;
  if (is_of_a_model(check)) {
    return check.fail("collective.dma",
                      "a command that writes to two peers sends both the same data, but a model's "
                      "all-to-alls do not; use direct or back_to_back");
  }
  const CollectiveOp op = collective_of(check.scenario.workload);
  if (op == CollectiveOp::all_gather || op == CollectiveOp::broadcast) return;
  check.fail("collective.dma", "a command that writes to two peers sends both the same data, but " +
                                   word_of(op) + " does not; use direct or back_to_back");
}

void the_algorithm_suits_the_collective(const Check& check) {
  if (!runs(check) || is_of_a_model(check) || !check.good({"collective.algorithm"})) return;
  if (check.scenario.collective.algorithm.of_engine) return;  // the rest is the library's
  const CollectiveOp op = collective_of(check.scenario.workload);
  const std::optional<Algorithm> algorithm = check.scenario.collective.algorithm.named;
  if (!algorithm || exists(op, *algorithm)) return;
  std::string known = "auto library engine";
  for (const Choice<Algorithm>& choice : names::kAlgorithms) {
    if (exists(op, choice.value)) known += ' ' + std::string(choice.name);
  }
  check.fail("collective.algorithm", word_of(op) + " has no algorithm '" +
                                         std::string(names::word(names::kAlgorithms, *algorithm)) +
                                         "'; use one of " + known);
}

// A size that is not above the one before would never apply; 0 leaves that kernel out.
void sizes_of_a_row_rise(const Check& check, const EngineRow& row, const std::string& path) {
  Bytes before = row.one_shot_below;
  const auto rises = [&](const char* key, Bytes size) {
    if (size == bytes(0)) return;
    if (size <= before) {
      check.fail(path + '.' + key, to_text(size) + " is not above the size before it, " +
                                       to_text(before) + "; leave it out, or give a larger one");
    }
    before = size;
  };
  rises("two_shot_below", row.two_shot_below);
  rises("in_switch_below", row.in_switch_below);
}

void rows_of_an_engine_are_in_order(const Check& check) {
  const std::string path = "cluster.gpu.collective.engine";
  if (!check.good_within({path}) || !check.scenario.cluster.gpu.collective.engine) return;
  const EngineSpec& engine = *check.scenario.cluster.gpu.collective.engine;
  for (std::size_t i = 0; i < engine.rows.size(); ++i) {
    const std::string row = path + ".rows[" + std::to_string(i) + ']';
    if (i > 0 && engine.rows[i].gpus <= engine.rows[i - 1].gpus) {
      check.fail(row + ".gpus", "rows follow one another by GPUs; the one before is up to " +
                                    text(engine.rows[i - 1].gpus));
    }
    if (engine.rows[i].in_switch_below > bytes(0) && !engine.in_switch) {
      check.fail(row + ".in_switch_below", "needs " + path + ".in_switch, which is not given");
    }
    sizes_of_a_row_rise(check, engine.rows[i], row);
  }
}

// Whether the key says that the switch is to do it.
bool asks_the_switch(const Check& check) {
  const std::optional<Algorithm> named = check.scenario.collective.algorithm.named;
  return runs(check) && check.good({"collective.algorithm"}) && named && by_switches(*named) &&
         (is_of_a_model(check) || exists(collective_of(check.scenario.workload), *named));
}

void fused_kernels_have_their_switch(const Check& check) {
  if (!check.good({"fused.in_switch"}) || !check.scenario.fused.in_switch) return;
  the_switch_can_reduce(check, "fused.in_switch", "false");
  if (is_of_a_model(check) || !check.good({"cluster.nodes"})) return;
  if (check.scenario.cluster.nodes > 1) {
    check.fail("fused.in_switch",
               "the switch of a node reaches its GPUs only, but the collective spans " +
                   text(check.scenario.cluster.nodes) + " nodes; use false");
  }
}

// The collective alone, its GPUs counted.
bool is_alone(const Check& check) {
  return check.good({"workload.kind", "workload.op", "cluster.nodes", "cluster.gpus_per_node"}) &&
         check.scenario.workload.kind == WorkloadKind::collective &&
         check.scenario.cluster.gpus() >= 2;
}

bool groups_are_good(const Check& check) {
  return is_alone(check) && check.good({"workload.groups", "workload.groups.gpus",
                                        "workload.groups.size", "workload.groups.stride"});
}

void regular_groups_fill_the_cluster(const Check& check) {
  if (!groups_are_good(check)) return;
  const GroupsWork& groups = check.scenario.workload.collective.groups;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  if (groups.size == 0) return;
  const std::int64_t block = std::int64_t{groups.size} * groups.stride;
  if (gpus % block == 0) return;
  check.fail_between(
      {"workload.groups.size", "workload.groups.stride", "cluster.nodes", "cluster.gpus_per_node"},
      text(groups.size) + " GPUs " + text(groups.stride) + " apart need a block of " + text(block) +
          ", which does not divide " + text(gpus) +
          " GPUs; nearest block: " + divisors_around(gpus, block));
}

void each_gpu_is_in_one_group(const Check& check) {
  if (!groups_are_good(check)) return;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  std::vector<bool> taken(static_cast<std::size_t>(gpus));
  for (const auto& group : check.scenario.workload.collective.groups.gpus) {
    if (group.size() < 2) {
      return check.fail("workload.groups.gpus",
                        "a group of one GPU has no peer; it needs at least 2");
    }
    for (const std::int64_t gpu : group) {
      if (gpu >= gpus) {
        return check.fail("workload.groups.gpus",
                          "there is no GPU " + text(gpu) + "; the last is " + text(gpus - 1));
      }
      const auto at = static_cast<std::size_t>(gpu);
      if (taken[at]) {
        return check.fail("workload.groups.gpus",
                          "GPU " + text(gpu) + " is listed twice; a GPU can be in one group only");
      }
      taken[at] = true;
    }
  }
}

// A switch joins the GPUs of one node.
void groups_for_the_switch_are_in_a_node(const Check& check) {
  if (!check.good({"cluster.nodes", "cluster.gpus_per_node"})) return;
  const int nodes = check.scenario.cluster.nodes;
  if (nodes == 1) return;
  const bool alone = check.scenario.workload.kind == WorkloadKind::collective;
  const GroupsWork& groups = check.scenario.workload.collective.groups;
  const int per_node = check.scenario.cluster.gpus_per_node;
  if (alone && !groups_are_good(check)) return;
  if (alone && groups.size > 0 && (groups.size * groups.stride) <= per_node &&
      per_node % (groups.size * groups.stride) == 0) {
    return;
  }
  const auto in_a_node = [&](const std::vector<std::int64_t>& group) {
    return std::all_of(group.begin(), group.end(), [&](std::int64_t gpu) {
      return gpu / per_node == group.front() / per_node;
    });
  };
  if (alone && !groups.gpus.empty() &&
      std::all_of(groups.gpus.begin(), groups.gpus.end(), in_a_node)) {
    return;
  }
  check.fail("collective.algorithm",
             "in_switch requires all GPUs of a group to be in one node of " + text(per_node) +
                 "; there are " + text(nodes) + " nodes and a group spans them");
}

// GPUs of the smallest and the largest group, or 0 where they are not known.
Range<std::int64_t> group_sizes(const Check& check) {
  if (!groups_are_good(check)) return {};
  const GroupsWork& groups = check.scenario.workload.collective.groups;
  const std::int64_t regular = groups.size > 0 ? groups.size : check.scenario.cluster.gpus();
  if (groups.gpus.empty()) return {.low = regular, .high = regular};
  const auto [least, most] =
      std::minmax_element(groups.gpus.begin(), groups.gpus.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return {.low = static_cast<std::int64_t>(least->size()),
          .high = static_cast<std::int64_t>(most->size())};
}

void ranks_are_in_every_group(const Check& check) {
  const std::int64_t least = group_sizes(check).low;
  if (least == 0) return;
  const CollectiveWork& work = check.scenario.workload.collective;
  const auto check_rank = [&](const char* path, std::int64_t rank) {
    if (!check.good({path}) || rank < least) return;
    check.fail(path, "there is no rank " + text(rank) + " in a group of " + text(least) +
                         "; the last is " + text(least - 1));
  };
  const bool one_pair = work.op == CollectiveOp::point_to_point;
  if (one_pair || work.op == CollectiveOp::broadcast) check_rank("workload.root", work.root);
  if (!one_pair) return;
  check_rank("workload.target", work.target);
  if (check.good({"workload.root", "workload.target"}) && work.root == work.target) {
    check.fail("workload.target", "a rank sends nothing to itself; target and root must differ");
  }
}

void the_matrix_is_of_a_groups_ranks(const Check& check) {
  const auto& matrix = check.scenario.workload.collective.matrix;
  if (matrix.empty() || !check.good({"workload.matrix"})) return;
  const Range<std::int64_t> sizes = group_sizes(check);
  if (sizes.low == 0) return;
  std::int64_t sent = 0;
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    const auto wide = static_cast<std::int64_t>(matrix[row].size());
    const auto rows = static_cast<std::int64_t>(matrix.size());
    if (wide != sizes.low || wide != sizes.high || rows != wide) {
      return check.fail("workload.matrix",
                        text(rows) + " rows, of which row " + text(static_cast<std::int64_t>(row)) +
                            " has " + text(wide) + " values; a group has " + text(sizes.low) +
                            (sizes.low == sizes.high ? "" : " to " + text(sizes.high)) +
                            " ranks: it needs as many rows, and as many values in each");
    }
    if (matrix[row][row] != 0) {
      return check.fail("workload.matrix", "rank " + text(static_cast<std::int64_t>(row)) +
                                               " sends nothing to itself: its own value is 0 B");
    }
    for (const std::int64_t size : matrix[row]) sent = std::max(sent, size);
  }
  if (sent == 0)
    check.fail("workload.matrix", "nothing is sent; at least one value must be above 0");
}

// Of several rows that hold for a number of nodes the one for most is taken.
void rows_between_nodes_are_in_order(const Check& check) {
  const std::string path = "cluster.gpu.collective.between_nodes";
  if (!check.good_within({path})) return;
  const std::vector<BetweenNodesSpec>& rows = check.scenario.cluster.gpu.collective.between_nodes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string row = path + '[' + std::to_string(i) + ']';
    if (i > 0 && rows[i].nodes <= rows[i - 1].nodes) {
      check.fail(row + ".nodes", "rows follow one another by nodes; the one before is of " +
                                     text(rows[i - 1].nodes));
    }
    if (rows[i].ll128_up_to < rows[i].ll_up_to) {
      check.fail(row + ".ll128_up_to",
                 "ll128 follows ll, which goes up to " + to_text(rows[i].ll_up_to));
    }
  }
}

}  // namespace

void the_switch_can_reduce(const Check& check, const std::string& key, const char* instead) {
  if (!check.good({"cluster.scale_up", "cluster.scale_up.shape"})) return;
  const auto& fabric = check.scenario.cluster.scale_up;
  if (fabric && fabric->topology->sums_on_the_way().can) return;
  check.fail(key, "in_switch requires a scale_up with " + topologies_with_sums() +
                      "; this cluster " +
                      std::string(fabric ? fabric->topology->sums_on_the_way().why_not
                                         : "has one GPU per node, so scale_up does not apply") +
                      "; use " + instead);
}

void an_engine_can_do_it(const Check& check, const AskedOfCollective& asked) {
  if (!asked.algorithm.of_engine || !check.good_within({"cluster.gpu"})) return;
  const std::optional<EngineSpec>& engine = check.scenario.cluster.gpu.collective.engine;
  if (!engine) {
    check.fail(asked.algorithm_path,
               "no inference engine's all-reduces are known for this GPU; give it "
               "cluster.gpu.collective.engine, or use library");
  } else if (!asked.algorithm.named && engine->rows.empty()) {
    check.fail(asked.algorithm_path,
               "cluster.gpu.collective.engine.rows, which say what the engine takes, are not "
               "given; give them, or use engine_one_shot or engine_two_shot");
  }
}

void an_engine_has_no_protocols(const Check& check, const AskedOfCollective& asked) {
  if (!asked.algorithm.of_engine || !asked.protocol) return;
  check.fail(asked.protocol_path,
             "an engine's kernels have none, and what is left to the library goes by the library's "
             "choice; leave it out, or use another algorithm");
}

void the_switch_can_do_it(const Check& check, const AskedOfCollective& asked) {
  if (!asked.algorithm.named || !by_switches(*asked.algorithm.named)) return;
  the_switch_can_reduce(check, asked.algorithm_path, "auto or another algorithm");
  if (row_of(*asked.algorithm.named).carrier != Carrier::several_switches) return;
  if (!check.good({"cluster.nodes"}) || check.scenario.cluster.nodes > 1) return;
  check.fail(
      asked.algorithm_path,
      "in_switch_tree joins the switches of several nodes; this cluster has one: use in_switch");
}

void the_switch_moves_whole_pieces(const Check& check, const AskedOfCollective& asked) {
  if (!asked.algorithm.named || !by_switches(*asked.algorithm.named)) return;
  if (!asked.protocol || *asked.protocol == Protocol::simple) return;
  check.fail(asked.protocol_path,
             "the switch cannot reduce data with flags in between, as " +
                 std::string(names::word(names::kProtocolWords, *asked.protocol)) +
                 " has; with algorithm: in_switch use simple or auto");
}

void validate_collective(const Check& check) {
  rows_between_nodes_are_in_order(check);
  rows_of_an_engine_are_in_order(check);
  const CollectiveOptions& options = check.scenario.collective;
  const AskedOfCollective asked{
      options.algorithm, check.good({"collective.protocol"}) ? options.protocol : std::nullopt,
      "collective.algorithm", "collective.protocol"};
  if (runs(check) && check.good({"collective.algorithm"})) {
    an_engine_can_do_it(check, asked);
    an_engine_has_no_protocols(check, asked);
  }
  copy_engines_add_nothing_up(check);
  copy_engines_reach_every_peer(check);
  a_command_for_two_peers_copies_the_same_to_both(check);
  the_algorithm_suits_the_collective(check);
  if (asks_the_switch(check)) {
    the_switch_can_do_it(check, asked);
    the_switch_moves_whole_pieces(check, asked);
    const bool several = row_of(*asked.algorithm.named).carrier == Carrier::several_switches;
    if (!several && !is_of_a_model(check)) groups_for_the_switch_are_in_a_node(check);
  }
  fused_kernels_have_their_switch(check);
  regular_groups_fill_the_cluster(check);
  each_gpu_is_in_one_group(check);
  ranks_are_in_every_group(check);
  the_matrix_is_of_a_groups_ranks(check);
}

}  // namespace weft::rules
