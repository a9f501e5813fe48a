// The graph that a collective is lowered to, without times: items run in a random order that their
// latches and channels allow, and every message takes along which ranks its sender has heard of.
// Whatever the order, all items run, every channel has heard of the ranks whose data the
// collective promises, and the messages hold the bytes that the plans say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sim/collectives/collective_choice.h"
#include "sim/core/rng.h"
#include "sim/scenario/modes.h"
#include "tests/property/cases.h"

namespace weft::lowered_collectives_test {
namespace {

struct Case {
  Cluster cluster;
  CollectiveCall call;
  std::string text;
};

template <class T>
T one_of(Rng& rng, const std::vector<T>& of) {
  return of[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(of.size()) - 1))];
}

constexpr std::array kOps{CollectiveOp::all_to_all,     CollectiveOp::all_gather,
                          CollectiveOp::reduce_scatter, CollectiveOp::all_reduce,
                          CollectiveOp::broadcast,      CollectiveOp::point_to_point};

std::string cluster_text(Rng& rng, int nodes, int gpus) {
  const std::string shape = one_of<std::string>(
      rng, {"fully_connected", "switch", "switch, reduces: true, in_switch_ratio: 0.8", "ring"});
  const std::string nics = std::to_string(rng.between(0, 1) == 0 ? 1 : gpus);
  return "name: c\ncluster:\n  name: c\n  nodes: " + std::to_string(nodes) +
         "\n  gpus_per_node: " + std::to_string(gpus) +
         "\n  gpu: {base: gpus/mi300x, collective: {channels: " +
         std::to_string(rng.between(1, 12)) + ", chunk: " + std::to_string(rng.between(3, 40)) +
         " kB, engine: {startup: 1 us, load: 1 us, fence: 1 us, wgs: " +
         std::to_string(rng.between(1, 9)) +
         ", threads: 128, rows: [{gpus: 2, one_shot_below: 1 B}]}}}\n  scale_up: {shape: " + shape +
         ", link: {bandwidth: 48 GB/s, latency: 500 ns}}\n"
         "  scale_out: {shape: switch, link: {bandwidth: 25 GB/s, latency: 300 ns}}\n"
         "  nic: {base: nics/connectx6, per_node: " +
         nics + "}\nworkload: {kind: collective, op: all_reduce, bytes: 1 MB}\n";
}

// Some of the GPUs in any order, or all of them.
std::vector<std::uint32_t> random_ranks(Rng& rng, std::uint32_t gpus) {
  std::vector<std::uint32_t> ranks(gpus);
  std::iota(ranks.begin(), ranks.end(), 0U);
  if (rng.between(0, 1) == 0) return ranks;
  for (std::size_t i = ranks.size(); i > 1; --i) {
    std::swap(ranks[i - 1],
              ranks[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i) - 1))]);
  }
  ranks.resize(static_cast<std::size_t>(rng.between(2, gpus)));
  return ranks;
}

Case random_case(std::uint64_t seed) {
  Rng rng(seed, "lowered");
  const int nodes = static_cast<int>(rng.between(1, 4));
  const int gpus = static_cast<int>(rng.between(nodes == 1 ? 2 : 1, 6));
  const std::string text = cluster_text(rng, nodes, gpus);
  Case made{.cluster = build_cluster(scenario_of(text).cluster), .call = {}, .text = text};
  CollectiveCall& call = made.call;
  call.op = kOps[static_cast<std::size_t>(rng.between(0, kOps.size() - 1))];
  call.buffer = bytes(rng.between(1, rng.between(0, 1) == 0 ? 5'000 : 3'000'000));
  call.ranks = random_ranks(rng, made.cluster.gpus());
  const auto n = static_cast<std::int64_t>(call.ranks.size());
  call.root = static_cast<std::uint32_t>(rng.between(0, n - 1));
  call.target = static_cast<std::uint32_t>((call.root + rng.between(1, n - 1)) % n);
  const bool moves = !reduces(call.op);
  if (moves && nodes == 1 && rng.between(0, 3) == 0) {
    call.options.executor = CollectiveExecutor::dma;
    const bool same = call.op == CollectiveOp::all_gather || call.op == CollectiveOp::broadcast;
    call.options.dma = one_of<DmaPattern>(rng, {DmaPattern::direct, DmaPattern::back_to_back,
                                                same ? DmaPattern::broadcast : DmaPattern::direct});
  }
  const AlgorithmRow& row =
      kAlgorithmRows[static_cast<std::size_t>(rng.between(0, kAlgorithmRows.size() - 1))];
  const RankGroup group = group_of(made.cluster, call);
  if (is_possible(made.cluster, call, group, row.algorithm)) {
    call.options.algorithm.named = row.algorithm;
  }
  if (call.op == CollectiveOp::all_reduce && group.one_node && rng.between(0, 2) == 0) {
    const bool two_shot = rng.between(0, 1) == 0;
    call.options.algorithm = {.named = two_shot ? Algorithm::direct : Algorithm::one_shot,
                              .of_library = false,
                              .of_engine = true};
  }
  const bool by_switch = call.options.algorithm.named && by_switches(row.algorithm);
  if (rng.between(0, 1) == 0 && !by_switch) {
    call.options.protocol =
        one_of<Protocol>(rng, {Protocol::ll, Protocol::ll128, Protocol::simple});
  }
  if (call.op == CollectiveOp::all_to_all && rng.between(0, 1) == 0) {
    for (std::int64_t i = 0; i < n * n; ++i) {
      const bool own = i / n == i % n;
      call.pair_bytes.push_back(own || rng.between(0, 2) == 0 ? 0 : rng.between(1, 200'000));
    }
    call.pair_bytes[1] = 1;  // somebody sends something
  }
  made.text += std::string(name_of(call.op)) + " of " + std::to_string(call.buffer.count()) +
               " B on " + std::to_string(n) + " GPUs\n";
  return made;
}

std::string text_of(std::uint64_t seed) { return random_case(seed).text; }

TaskGraph lowered(const Case& of) {
  TaskGraph graph;
  CollectiveCall call = of.call;
  call.operator_id = graph.operators.push_back({.name = "it", .role = KernelRole::collective});
  add_collective(graph, of.cluster, call);
  graph.verify();
  return graph;
}

using Ranks = std::uint64_t;  // a bit each

// The graph's workers. Those of a dynamic list wait for nobody but in items that only add up, so
// each item may be a worker of its own.
class Heard {
 public:
  Heard(const TaskGraph& graph, const std::vector<std::uint32_t>& gpus)
      : graph_(graph), latches_(graph.latches.size()), left_(graph.latches.size()) {
    for (std::uint32_t i = 0; i < latches_.size(); ++i) left_[i] = graph.latches[LatchId(i)].target;
    for (const Kernel& kernel : graph.kernels) {
      const auto at = std::find(gpus.begin(), gpus.end(), kernel.gpu.value);
      const auto rank = static_cast<std::uint32_t>(at - gpus.begin());
      const bool fixed = kernel.work_list == WorkList::static_list;
      const std::uint32_t grid = fixed ? std::min(kernel.max_grid, kernel.items) : kernel.items;
      for (std::uint32_t w = 0; w < grid; ++w) {
        workers_.push_back(
            {.kernel = &kernel, .rank = rank, .next = w, .step = grid, .heard = Ranks{1} << rank});
      }
    }
  }

  // Whether all items ran.
  bool run(Rng rng) {
    std::size_t idle = 0;
    std::vector<std::size_t> going(workers_.size());
    std::iota(going.begin(), going.end(), std::size_t{0});
    while (!going.empty() && idle < going.size() * 40 + 1000) {
      const auto pick =
          static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(going.size()) - 1));
      Worker& worker = workers_[going[pick]];
      const Item& item = graph_.item(*worker.kernel, worker.next);
      if (!item.waits_for.is_none() && left_[item.waits_for.value] != 0) {
        ++idle;
        continue;
      }
      idle = 0;
      if (!item.waits_for.is_none()) worker.heard |= latches_[item.waits_for.value];
      send(worker, item.counts_down);
      worker.next += worker.step;
      if (worker.next < worker.kernel->items) continue;
      going[pick] = going.back();
      going.pop_back();
    }
    return going.empty();
  }

  // Of whom every channel that sends or waits has heard at least, with what has landed in place.
  [[nodiscard]] Ranks by(std::uint32_t rank) const {
    Ranks all = 0;
    for (const Worker& worker : workers_) {
      if (worker.rank != rank) continue;
      const LatchId finish = worker.kernel->finish;
      all |= worker.heard | (finish.is_none() ? 0 : latches_[finish.value]);
    }
    return all;
  }
  [[nodiscard]] std::int64_t received(std::uint32_t gpu) const {
    std::int64_t size = 0;
    for (const Send& send : graph_.sends) size += send.to == gpu ? send.size : 0;
    return size;
  }

 private:
  struct Worker {
    const Kernel* kernel;
    std::uint32_t rank;
    std::uint32_t next;
    std::uint32_t step;
    Ranks heard;
  };

  void send(const Worker& worker, LatchId latch) {
    if (latch.is_none() || --left_[latch.value] != 0) return;
    const TaskGraph::SendRange opened = graph_.sends_of(latch);
    for (std::uint32_t s = opened.first; s < opened.end(); ++s) {
      const Send& send = graph_.sends[s];
      if (send.arrives.is_none()) continue;
      // A sum is of what the loader knows to be ready: it adds nothing to what it has heard.
      const bool copied = send.in_switch == InSwitch::multicasts;
      const std::size_t copies = copied ? graph_.groups[send.group].size() : 1;
      for (std::uint32_t i = 0; i < copies; ++i) {
        latches_[send.arrives.value + i] |= worker.heard;
        --left_[send.arrives.value + i];
      }
    }
  }

  const TaskGraph& graph_;
  std::vector<Ranks> latches_;
  std::vector<std::uint32_t> left_;
  std::vector<Worker> workers_;
};

// Whose data a rank must end with.
Ranks promised(const CollectiveCall& call, std::uint32_t rank) {
  const auto n = static_cast<std::uint32_t>(call.ranks.size());
  const auto bit = [](std::uint32_t r) { return Ranks{1} << r; };
  if (call.op == CollectiveOp::broadcast) return bit(call.root) | bit(rank);
  if (call.op == CollectiveOp::point_to_point) {
    return rank == call.target ? bit(call.root) | bit(rank) : bit(rank);
  }
  if (call.pair_bytes.empty()) return bit(n) - 1;
  Ranks all = bit(rank);
  for (std::uint32_t from = 0; from < n; ++from) {
    if (call.pair_bytes[std::size_t{from} * n + rank] > 0) all |= bit(from);
  }
  return all;
}

TEST(LoweredCollectives, every_rank_hears_of_all_that_it_must_in_whatever_order) {
  for_each_seed(800, text_of, [](std::uint64_t seed, const std::string&) {
    const Case of = random_case(seed);
    const TaskGraph graph = lowered(of);
    Heard heard(graph, of.call.ranks);
    ASSERT_TRUE(heard.run(Rng(seed, "order"))) << graph.operators[OperatorId(0)].name;
    for (std::uint32_t rank = 0; rank < of.call.ranks.size(); ++rank) {
      EXPECT_EQ(heard.by(rank) & promised(of.call, rank), promised(of.call, rank)) << rank;
    }
  });
}

TEST(LoweredCollectives, messages_hold_what_the_plans_send) {
  for_each_seed(600, text_of, [](std::uint64_t seed, const std::string&) {
    const Case of = random_case(seed);
    const TaskGraph graph = lowered(of);
    const RankGroup group = group_of(of.cluster, of.call);
    const bool dma = of.call.options.executor == CollectiveExecutor::dma;
    const CollectiveChoice choice = dma ? CollectiveChoice{} : choose(of.cluster, of.call, group);
    if (choice.algorithm == Algorithm::in_switch) {
      // Each block is loaded once, and stored once; a flag of 8 B says that it is there.
      const double buffer = static_cast<double>(of.call.buffer.count());
      const bool loads = reduces(of.call.op);
      const bool stores = of.call.op != CollectiveOp::reduce_scatter;
      double sent = 0;
      for (const Send& send : graph.sends) sent += send.size;
      EXPECT_NEAR(sent, buffer * (loads && stores ? 2 : 1) + 8.0 * group.size(),
                  static_cast<double>(graph.sends.size()));
      return;
    }
    if (choice.algorithm == Algorithm::in_switch_tree) {
      // In each of m nodes all is loaded and stored once; m - 1 times it goes up and down a tree.
      const double buffer = static_cast<double>(of.call.buffer.count());
      double sent = 0;
      for (const Send& send : graph.sends) sent += send.size;
      EXPECT_NEAR(sent,
                  buffer * (2.0 * group.nodes() + 2.0 * (group.nodes() - 1)) + 8.0 * group.size(),
                  static_cast<double>(graph.sends.size()));
      return;
    }
    const Plan plan = plans_of(of.cluster, of.call, group, choice.algorithm).front();
    std::int64_t payload = 0;
    for (const RankBytes& bytes : rank_bytes(plan, of.call.buffer)) payload += bytes.sent.count();
    std::int64_t sent = 0;
    for (const Send& send : graph.sends) sent += send.size;
    const double factor = choice.protocol == Protocol::ll      ? 2
                          : choice.protocol == Protocol::ll128 ? 16.0 / 15
                                                               : 1;
    // Each message is rounded up to a byte, and blocks that do not divide evenly differ by one.
    // An engine's flags are messages of 8 B.
    const double over =
        (4 * plan.blocks + (choice.of_engine ? 8 : 0)) * static_cast<double>(graph.sends.size());
    EXPECT_NEAR(static_cast<double>(sent), factor * static_cast<double>(payload), over);
  });
}

TEST(LoweredCollectives, end_and_balance) {
  for_each_seed(300, text_of, [](std::uint64_t seed, const std::string& text) {
    const Case of = random_case(seed);
    const std::string scenario = text.substr(0, text.rfind("workload:"));
    const RunResult result = simulate(
        of.cluster, lowered(of),
        scenario_of(scenario + "workload: {kind: collective, op: broadcast, bytes: 1 B}\n").run);
    EXPECT_EQ(result.ending, Ending::finished);
    EXPECT_EQ(result.ledger.wgs.asked, result.ledger.wgs.done);
    EXPECT_EQ(result.ledger.messages.asked, result.ledger.messages.done);
    EXPECT_EQ(result.ledger.message_bytes.asked, result.ledger.message_bytes.done);
  });
}

// What the estimate before a run says is about what is made: never less, so that a run that is
// let through does not need more.
TEST(LoweredCollectives, are_no_larger_than_estimated) {
  for_each_seed(600, text_of, [](std::uint64_t seed, const std::string&) {
    const Case of = random_case(seed);
    const TaskGraph graph = lowered(of);
    const CollectiveCounts counts = count_collective(of.cluster, of.call);
    EXPECT_LE(static_cast<double>(graph.items.size()), counts.items);
    EXPECT_LE(static_cast<double>(graph.sends.size()), counts.sends);
  });
}

// The most that a channel has sent without having taken in as much, summed over all channels. What
// is on its way has been sent and not been taken in, so there is never more of it.
double ahead_at_most(const TaskGraph& graph) {
  std::int64_t all = 0;
  for (const Kernel& kernel : graph.kernels) {
    for (std::uint32_t channel = 0; channel < kernel.max_grid; ++channel) {
      std::int64_t ahead = 0;
      std::int64_t most = 0;
      for (std::uint32_t i = channel; i < kernel.items; i += kernel.max_grid) {
        const Item& item = graph.item(kernel, i);
        if (!item.waits_for.is_none()) ahead -= graph.latches[item.waits_for].target;
        if (!item.counts_down.is_none()) ahead += graph.sends_of(item.counts_down).count;
        most = std::max(most, ahead);
      }
      all += most;
    }
  }
  return static_cast<double>(all);
}

// Memory is estimated for as many messages as can be on their way at a time.
TEST(LoweredCollectives, have_no_more_messages_on_their_way_than_estimated) {
  int fewer_than_all = 0;
  for_each_seed(600, text_of, [&](std::uint64_t seed, const std::string&) {
    Case of = random_case(seed);
    const RankGroup group = group_of(of.cluster, of.call);
    const bool by_cus = of.call.options.executor != CollectiveExecutor::dma;
    if (seed % 2 == 0 && by_cus && !of.call.options.algorithm.of_engine &&
        is_possible(of.cluster, of.call, group, Algorithm::ring)) {
      of.call.options.algorithm.named = Algorithm::ring;
    }
    const CollectiveCounts counts = count_collective(of.cluster, of.call);
    if (counts.at_rest == 0) return;
    ++fewer_than_all;
    EXPECT_LE(ahead_at_most(lowered(of)), counts.sends - counts.at_rest);
  });
  EXPECT_GT(fewer_than_all, 50);
}

}  // namespace
}  // namespace weft::lowered_collectives_test
