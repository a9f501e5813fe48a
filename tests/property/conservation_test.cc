// Nothing is lost: the ledger balances, and every link carries the bytes that are routed over it.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/modes.h"
#include "tests/property/cases.h"
#include "tests/property/random_scenario.h"

namespace weft::conservation_test {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

TEST(Conservation, every_run_finishes_and_its_ledger_balances) {
  for_each_seed(800, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
      EXPECT_TRUE(result.ledger.balanced()) << name_of(prepared.mode);
      Bytes sent;
      Bytes received;
      for (const GpuUse& gpu : result.gpus) {
        sent += gpu.sent;
        received += gpu.received;
      }
      EXPECT_EQ(sent.count(), result.ledger.sent_bytes.done);
      EXPECT_EQ(received.count(), result.ledger.message_bytes.done);
      if (prepared.graph.groups.empty()) {  // else a switch made it more or less
        EXPECT_EQ(sent.count(), received.count());
      }
      std::uint64_t wgs = 0;
      for (const OperatorUse& use : result.operators) wgs += use.wgs;
      EXPECT_EQ(wgs, prepared.graph.items.size());
    }
  });
}

// Memories slower than the links that end at them: 1 to 40 GB/s, where links have 10 to 50 each.
std::string slow_memory(std::uint64_t seed) {
  std::string text = RandomScenario(seed).any();
  const std::string key = "memory: {bandwidth: ";
  const std::size_t from = text.find(key) + key.size();
  text.replace(from, text.find(' ', from) - from, std::to_string(1 + seed * 7 % 40));
  return text;
}

TEST(Conservation, no_memory_moves_more_than_its_bandwidth) {
  for_each_seed(400, slow_memory, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      ASSERT_EQ(result.ending, Ending::finished) << result.stopped_because;
      EXPECT_EQ(result.ledger.overdrawn, "") << name_of(prepared.mode);
      for (const GpuUse& gpu : result.gpus) {
        const Bandwidth bandwidth = prepared.cluster.spec.gpu.memory.bandwidth;
        // 1 ps of each WG's time may be missing.
        EXPECT_LE(static_cast<double>(gpu.hbm.count()),
                  static_cast<double>(bandwidth.count()) * to_seconds(result.time) * 1.001);
      }
    }
  });
}

// The GPU that issues each latch's sends.
std::vector<std::uint32_t> senders(const TaskGraph& graph) {
  std::vector<std::uint32_t> sender(graph.latches.size(), UINT32_MAX);
  for (const Kernel& kernel : graph.kernels) {
    for (std::uint32_t i = 0; i < kernel.items; ++i) {
      const LatchId latch = graph.item(kernel, i).counts_down;
      if (!latch.is_none()) sender[latch.value] = kernel.gpu.value;
    }
  }
  // A latch opened by the sends of another: the flag of a peer.
  for (std::uint32_t l = 0; l < graph.latches.size(); ++l) {
    const TaskGraph::SendRange its = graph.sends_of(LatchId(l));
    for (std::uint32_t s = its.first; s < its.end(); ++s) {
      const LatchId issued = graph.sends[s].issued;
      if (!issued.is_none()) sender[issued.value] = sender[l];
    }
  }
  return sender;
}

// Bytes of each link, walking every send's route.
class Routed {
 public:
  explicit Routed(const Prepared& prepared)
      : spec_(prepared.cluster.spec), graph_(prepared.graph), transport_(prepared.cluster.network) {
    carried_.resize(transport_.links());
    const TaskGraph& graph = prepared.graph;
    const std::vector<std::uint32_t> sender = senders(graph);
    for (std::uint32_t l = 0; l < graph.latches.size(); ++l) {
      const TaskGraph::SendRange its = graph.sends_of(LatchId(l));
      for (std::uint32_t s = its.first; s < its.end(); ++s) {
        add(sender[l], graph.sends[s], s);
      }
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& carried() const { return carried_; }

 private:
  void add(std::uint32_t from, const Send& send, std::uint32_t tag) {
    const auto per_node = static_cast<std::uint32_t>(spec_.gpus_per_node);
    const auto nodes = static_cast<std::uint32_t>(spec_.nodes);
    const auto up_links = static_cast<std::uint32_t>(
        transport_.scale_up() ? transport_.scale_up()->links().size() : 0);
    if (send.in_switch != InSwitch::nothing) {
      const std::uint32_t base = from / per_node * up_links;
      const bool copied = send.in_switch == InSwitch::multicasts;
      const auto& group = graph_.groups[send.group];
      for (const std::uint32_t gpu : group) {
        carried_[base + gpu % per_node + (copied ? per_node : 0)] += send.size;
      }
      carried_[base + from % per_node + (copied ? 0 : per_node)] += send.size;
      return;
    }
    if (from / per_node == send.to / per_node) {
      walk(*transport_.scale_up(), from / per_node * up_links, from % per_node, send.to % per_node,
           send.size);
      return;
    }
    const std::uint64_t lane = Transport::lane({.tag = tag,
                                                .from_gpu = from,
                                                .to_gpu = send.to,
                                                .size = {},
                                                .ordered = send.ordered != 0});
    const std::uint32_t nic = transport_.nic_of(from, lane);
    const std::uint32_t to = transport_.nic_of(send.to, lane);
    const std::uint32_t base = nodes * up_links;
    const auto out_links = static_cast<std::uint32_t>(transport_.scale_out()->links().size());
    const std::uint32_t nics = nodes * static_cast<std::uint32_t>(spec_.nic->per_node);
    carried_[base + out_links + nic] += send.size;
    walk(*transport_.scale_out(), base, nic, to, send.size);
    carried_[base + out_links + nics + to] += send.size;
  }
  void walk(const Shape& shape, std::uint32_t base, std::uint32_t from, std::uint32_t to,
            std::int64_t size) {
    for (std::uint32_t at = from; at != to;) {
      const std::uint32_t link = shape.next(at, to, 0);
      carried_[base + link] += size;
      at = shape.links()[link].to;
    }
  }

  const ClusterSpec& spec_;
  const TaskGraph& graph_;
  Transport transport_;
  std::vector<std::int64_t> carried_;
};

TEST(Conservation, every_link_carries_what_is_routed_over_it) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      const Routed routed(prepared);
      ASSERT_EQ(result.links.size(), routed.carried().size());
      // A hash may choose the spine: then only the sums of a class are known here.
      const ClusterSpec& spec = prepared.cluster.spec;
      const auto hashes = [](const std::optional<FabricSpec>& fabric) {
        return fabric && fabric->topology->route_by() != RouteBy::destination;
      };
      const bool hashed = hashes(spec.scale_out) || hashes(spec.scale_up);
      std::map<std::string, std::int64_t> classes;
      for (std::size_t i = 0; i < result.links.size(); ++i) {
        const LinkRow& row = result.links[i];
        classes[row.link_class] += row.use.carried.count() - routed.carried()[i];
        if (!hashed) {
          EXPECT_EQ(row.use.carried.count(), routed.carried()[i]) << row.name;
        }
      }
      for (const auto& [name, difference] : classes) EXPECT_EQ(difference, 0) << name;
    }
  });
}

TEST(Conservation, a_byte_more_would_be_noticed) {
  // The canary: a law that cannot fail is none.
  for (Prepared& prepared : prepare(any(1))) {
    const RunResult result = run(prepared);
    Send first = prepared.graph.sends[0];
    first.size += 1;
    prepared.graph.sends.put(0, first);
    const Routed routed(prepared);
    std::int64_t difference = 0;
    for (std::size_t i = 0; i < result.links.size(); ++i) {
      difference += routed.carried()[i] - result.links[i].use.carried.count();
    }
    EXPECT_GT(difference, 0);
  }
}

TEST(Conservation, last_links_carry_the_bytes_delivered) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult result = run(prepared);
      const auto per_node = static_cast<std::uint32_t>(prepared.cluster.spec.gpus_per_node);
      std::int64_t between_nodes = 0;
      const std::vector<std::uint32_t> sender = senders(prepared.graph);
      for (std::uint32_t l = 0; l < sender.size(); ++l) {
        const TaskGraph::SendRange its = prepared.graph.sends_of(LatchId(l));
        for (std::uint32_t s = its.first; s < its.end(); ++s) {
          const Send& send = prepared.graph.sends[s];
          if (send.to / per_node != sender[l] / per_node) between_nodes += send.size;
        }
      }
      std::int64_t in = 0;
      std::int64_t out = 0;
      for (const LinkRow& row : result.links) {
        if (row.link_class == "nic_send") out += row.use.carried.count();
        if (row.link_class == "nic_receive") in += row.use.carried.count();
      }
      EXPECT_EQ(in, between_nodes);
      EXPECT_EQ(out, between_nodes);
    }
  });
}

bool is_of_barrier(const Prepared& prepared, const Send& send) {
  return prepared.graph.operators[OperatorId(send.op)].name == "barrier";
}

// Bytes of flags that are messages of their own, by GPU they go to: what other sends issue, and
// those of barriers.
std::vector<std::int64_t> flag_bytes(const Prepared& prepared) {
  std::vector<std::int64_t> to(prepared.cluster.gpus());
  for (const Send& send : prepared.graph.sends) {
    if (is_of_barrier(prepared, send)) to[send.to] += send.size;
  }
  std::set<std::uint32_t> counted;
  for (const Send& send : prepared.graph.sends) {
    if (send.issued.is_none() || !counted.insert(send.issued.value).second) continue;
    const TaskGraph::SendRange flags = prepared.graph.sends_of(send.issued);
    for (std::uint32_t s = flags.first; s < flags.end(); ++s) {
      const Send& flag = prepared.graph.sends[s];
      to[flag.to] += flag.size;
    }
  }
  return to;
}

bool exchanges(const Prepared& prepared) {
  const WorkloadKind kind = prepared.scenario.workload.kind;
  return kind == WorkloadKind::embedding_all_to_all || kind == WorkloadKind::embedding_backward ||
         kind == WorkloadKind::gemm_all_to_all;
}

// By sender and receiver.
using PairBytes = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

TEST(Conservation, pipelined_each_pair_is_copied_once_by_copy_engines) {
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      if (prepared.mode != Mode::pipelined) continue;
      const std::vector<std::uint32_t> sender = senders(prepared.graph);
      PairBytes copied;
      for (std::uint32_t l = 0; l < sender.size(); ++l) {
        const TaskGraph::SendRange its = prepared.graph.sends_of(LatchId(l));
        for (std::uint32_t s = its.first; s < its.end(); ++s) {
          const Send& send = prepared.graph.sends[s];
          EXPECT_NE(send.from_engine != 0, is_of_barrier(prepared, send));
          if (send.from_engine != 0) copied[{sender[l], send.to}] += send.size;
        }
      }
      const std::uint32_t gpus = prepared.cluster.gpus();
      EXPECT_EQ(copied.size(), gpus * (gpus - 1));
      for (const auto& [pair, size] : copied) EXPECT_EQ(size, copied.begin()->second);
    }
  });
}

TEST(Conservation, every_mode_delivers_the_same_results) {
  // The same rows and tiles go to the same GPUs, however they are grained.
  for_each_seed(600, any, [](std::uint64_t, const std::string& text) {
    const std::vector<Prepared> all = prepare(text);
    if (all.size() < 3 || !exchanges(all[0])) return;
    const RunResult bulk = run(all[0]);
    for (const Prepared& prepared : all) {
      const RunResult result = run(prepared);
      std::vector<std::int64_t> flags(result.gpus.size());
      if (is_fused(prepared.mode) || prepared.mode == Mode::pipelined) {
        flags = flag_bytes(prepared);
      }
      for (std::size_t g = 0; g < result.gpus.size(); ++g) {
        EXPECT_EQ(result.gpus[g].received.count(), bulk.gpus[g].received.count() + flags[g]);
      }
      EXPECT_EQ(result.ledger.flops.done, bulk.ledger.flops.done) << name_of(prepared.mode);
    }
  });
}

}  // namespace
}  // namespace weft::conservation_test
