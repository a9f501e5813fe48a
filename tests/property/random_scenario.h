// Small random scenarios for the laws: a text from a seed, the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/core/rng.h"

namespace weft {

class RandomScenario {
 public:
  explicit RandomScenario(std::uint64_t seed)
      : rng_(seed, "property/scenario"), by_wave_(Rng(seed, "property/sent_by")() % 4 == 0) {}

  // Anything: every shape, mode, order and executor, several GPUs and NICs a node.
  std::string any() {
    choose_sizes();
    may_send_by_wave_ = true;
    may_use_switch_ = true;
    const int kind = static_cast<int>(between(1, 100));
    std::string text = "name: random\n" + cluster(true) +
                       (kind <= 40   ? embedding()
                        : kind <= 80 ? fusing()
                                     : all_to_all());
    if (nodes_ == 1 && !reduces_ && chance(30)) text += "collective: {executor: dma}\n";
    text += "run: {seed: " + number(1, 1'000'000) +
            ", launch: " + word({"host", "queue", "graph"}) + "}\n";
    return text;
  }

  // Any operator that fuses with its collective, few WGs.
  std::string fused() {
    choose_sizes();
    return "name: random\n" + cluster(true) + fusing() + "run: {seed: " + number(1, 1'000'000) +
           "}\n";
  }

  // An all-to-all in which only bandwidths take time, `factor` times some rates. All transfer times
  // are whole picoseconds at factors 1 and 2.
  std::string only_bandwidth(int factor) {
    choose_sizes();
    const auto rate = [&] {
      constexpr std::array kRates{10, 20, 50, 100};
      return std::to_string(kRates[static_cast<std::size_t>(between(0, 3))] * factor) + " GB/s";
    };
    std::string text = "name: random\ncluster:\n" + sizes() +
                       "  gpu: {base: gpus/ideal, cus: 8, collective: {exchange_rate: " + rate() +
                       ", channels: " + number(1, 16) + "}}\n";
    if (gpus_per_node_ > 1) {
      text += "  scale_up: {" + shape(gpus_per_node_) + ", link: {bandwidth: " + rate() +
              ", latency: 0 ns}, segment: " + word({"0 B", "4 KiB"}) + "}\n";
    }
    if (nodes_ > 1) {
      text += "  scale_out: {" + shape(nodes_ * nics_) + ", link: {bandwidth: " + rate() +
              ", latency: 0 ns}, segment: " + word({"0 B", "4 KiB"}) + "}\n";
      text += "  nic: {base: nics/ideal, per_node: " + std::to_string(nics_) +
              ", bandwidth: " + rate() + "}\n";
    }
    return text + all_to_all();
  }

  // GPUs that cannot be told apart, one a node and one NIC each, on a shape that looks the same
  // from everywhere. Work without jitter.
  std::string symmetric() {
    nodes_ = static_cast<int>(between(2, 16));
    gpus_per_node_ = 1;
    nics_ = 1;
    symmetric_ = true;
    const bool embeds = chance(70);
    return "name: random\n" + cluster(false) + (embeds ? embedding() : all_to_all());
  }

  // A GEMM concurrent with a collective on one node, in every mode that they have.
  std::string c3() {
    nodes_ = 1;
    gpus_per_node_ = static_cast<int>(between(2, 4));
    least_cus_ = 4;  // two parts
    const std::int64_t step = between(1, 2);
    const auto side = [&] { return std::to_string(16 * between(1, 8)); };
    std::string text = "name: random\n" + cluster(true);
    text.insert(text.find("wg_interval: "),
                "mask_step: " + std::to_string(step) +
                    ", arbitration: " + word({"in_order", "round_robin"}) + ", ");
    text += "workload:\n  kind: c3\n  gemm: {m: " + number(1, 500) + ", n: " + number(1, 500) +
            ", k: " + number(16, 2000) + ", tile_m: " + side() + ", tile_n: " + side() +
            ", split_k: " + number(1, 3) +
            ", schedule: " + word({"tiles", "persistent", "stream_k"}) +
            ", order: " + word({"row", "column", "swizzled"}) + "}\n";
    text += "  communication: {op: " +
            word({"all_to_all", "all_gather", "reduce_scatter", "all_reduce"}) +
            ", bytes: " + std::to_string(12 * between(400, 200'000)) + " B}\n";
    text += "c3: {partition_by: " + word({"masks", "channels"}) + "}\n";
    return text + "run: {launch: " + word({"host", "queue", "graph"}) + "}\n";
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) { return rng_.between(low, high); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::string number(std::int64_t low, std::int64_t high) {
    return std::to_string(between(low, high));
  }
  std::string word(std::initializer_list<const char*> words) {
    return words.begin()[between(0, static_cast<std::int64_t>(words.size()) - 1)];
  }
  int divisor(int n) {
    std::vector<int> divisors;
    for (int d = 1; d <= n; ++d) {
      if (n % d == 0) divisors.push_back(d);
    }
    return divisors[static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(divisors.size()) - 1))];
  }

  void choose_sizes() {
    nodes_ = static_cast<int>(between(1, 8));
    gpus_per_node_ = static_cast<int>(between(nodes_ == 1 ? 2 : 1, nodes_ > 4 ? 2 : 4));
    nics_ = chance(30) ? gpus_per_node_ * 2 : divisor(gpus_per_node_);
  }

  std::string sizes() {
    return "  name: random\n  nodes: " + std::to_string(nodes_) +
           "\n  gpus_per_node: " + std::to_string(gpus_per_node_) + "\n";
  }

  std::string shape(int endpoints) {
    std::vector<std::string> shapes{"shape: fully_connected", "shape: switch"};
    const auto ties = [&] {
      return symmetric_ ? std::string("positive") : word({"split", "positive"});
    };
    shapes.push_back("shape: ring, ring_ties: " + ties());
    for (int a = 2; a * 2 <= endpoints; ++a) {
      if (endpoints % a != 0) continue;
      shapes.push_back("shape: torus, ring_ties: " + ties() + ", dims: [" + std::to_string(a) +
                       ", " + std::to_string(endpoints / a) + "]");
      if (endpoints % (2 * a) == 0 && endpoints / a >= 4) {
        shapes.push_back("shape: torus, ring_ties: " + ties() + ", dims: [2, " + std::to_string(a) +
                         ", " + std::to_string(endpoints / a / 2) + "]");
      }
    }
    if (!symmetric_) {
      const int leaf = divisor(endpoints);
      shapes.push_back("shape: fat_tree, endpoints_per_leaf: " + std::to_string(leaf) +
                       ", oversubscription: " + std::to_string(divisor(leaf)) +
                       ", up_routing: " + word({"by_destination", "ecmp", "spray"}));
      const int group = divisor(endpoints);
      const int router = divisor(group);
      if (group < endpoints) {
        shapes.push_back("shape: dragonfly, endpoints_per_router: " + std::to_string(router) +
                         ", routers_per_group: " + std::to_string(group / router) +
                         ", links_between_groups: " + std::to_string(between(1, 5)) +
                         ", global_routing: " + word({"by_destination", "ecmp", "spray"}));
      }
    }
    return shapes[static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(shapes.size()) - 1))];
  }

  std::string duration(std::int64_t most_ns) {
    return chance(20) ? "0 ns" : number(1, most_ns * 1000) + " ps";
  }
  std::string bandwidth() { return number(10'000, 50'000) + " MB/s"; }
  std::string link() {
    return "link: {bandwidth: " + bandwidth() + ", latency: " + duration(1500) + "}";
  }
  std::string segment() {
    return chance(60) ? std::string() : ", segment: " + number(500, 20'000) + " B";
  }

  // HBM is faster than all links of a GPU together, so that its traffic has a bound.
  std::string cluster(bool odd) {
    std::string text = "cluster:\n" + sizes() +
                       "  gpu:\n    base: gpus/mi210\n    cus: " + number(least_cus_, 12) +
                       "\n    fp32_vector: " + number(50, 5000) + " GFLOP/s" +
                       "\n    bf16_matrix: " + number(50, 5000) + " GFLOP/s" +
                       "\n    l2: {capacity: 64 MiB}" + "\n    wave_sum: " + duration(500) + "\n";
    text += "    cu: {wgs: " + number(1, 8) + "}\n";
    text += "    memory: {bandwidth: " + number(800, 3000) +
            " GB/s, latency: " + number(100, 1000) + " ns, bend: " + (odd ? number(1, 8) : "100") +
            "}\n";
    text += "    launch: {host: " + duration(9000) + ", queue: " + duration(3000) +
            ", graph: " + duration(2000) + ", wg_interval: " + duration(2) + "}\n";
    text += "    dma: {engines: " + number(1, 6) + ", rate: " + bandwidth() +
            ", host: " + duration(5000) + ", schedule: " + duration(8000) +
            ", next: " + duration(1000) + ", signal: " + duration(4000) + "}\n";
    text += "    peer_store: {wg_rate: " + number(2, 40) + " GB/s, fence: " + duration(900) +
            ", fences: " + word({"independent", "one_a_cu"}) + ", flag: " + duration(400) + "}\n";
    text += "    collective: {";
    for (const char* protocol : {"ll", "ll128", "simple"}) {
      text += std::string(protocol) + ": {startup: " + number(1, 9'000'000) +
              " ps, step: " + duration(3000) + "}, ";
    }
    text += "channels: " + number(1, 8) + ", channel_rate: " + number(2, 40) +
            " GB/s, exchange_rate: " + number(2, 40) + " GB/s, chunk: " + number(2000, 100'000) +
            " B" + (chance(50) ? ", algorithms: [in_switch]" : "") + "}\n";
    if (gpus_per_node_ > 1) {
      const std::string fabric = shape(gpus_per_node_);
      const bool adds_up = fabric == "shape: switch" && chance(50);
      switch_adds_ = adds_up && nodes_ == 1;
      text += "  scale_up: {" + fabric +
              (adds_up ? ", reduces: true, in_switch_ratio: 0." + std::to_string(rng_.between(5, 9))
                       : "") +
              ", " + link() + segment() + "}\n";
    }
    if (nodes_ > 1) {
      text += "  scale_out: {" + shape(nodes_ * nics_) + ", " + link() + segment() + "}\n";
      text += "  nic: {per_node: " + std::to_string(nics_) + ", bandwidth: " + bandwidth() +
              ", latency: " + duration(700) + ", message_rate: " + number(1, 300) +
              " M/s, queue_depth: " + (chance(40) ? number(1, 6) : number(10, 2000)) +
              ", inline_up_to: " + number(0, 64) + " B, initiated_by: " + word({"gpu", "proxy"}) +
              ", post: " + duration(1000) + ", flush: " + duration(2000) +
              ", proxy_operation: " + duration(1500) + ", receive: " + duration(3000) + "}\n";
    }
    return text;
  }

  std::string all_to_all() {
    const std::int64_t of_pair = between(1, chance(50) ? 5'000 : 300'000);
    return "workload: {kind: collective, op: all_to_all, bytes: " +
           std::to_string(of_pair * nodes_ * gpus_per_node_) + " B}\nmodes: [bulk]\n";
  }

  std::string fusing() {
    const int kind = static_cast<int>(between(0, 6));
    if (kind == 0) return embedding("embedding_all_to_all");
    if (kind == 1) return embedding("embedding_backward");
    return kind == 2 ? gemv() : gemm();
  }

  std::string gemv() {
    reduces_ = true;
    const int gpus = nodes_ * gpus_per_node_;
    const std::int64_t rows = between(1, 20);
    const int wgs = static_cast<int>(between(1, 12));
    return "workload:\n  kind: gemv_all_reduce\n  gemv: {m: " + std::to_string(gpus * rows * wgs) +
           ", k: " + number(1, 3000) + ", rows_per_wg: " + std::to_string(rows) +
           ", weights: " + word({"in_hbm", "in_l2"}) + jitter() +
           ", wg: {threads: " + std::to_string(64 * between(1, 4)) +
           ", loads_in_flight: " + number(1, 8) + "}}\n" + chunks(wgs) + knobs(divisor(wgs));
  }

  std::string gemm() {
    const int gpus = nodes_ * gpus_per_node_;
    const std::string kind =
        word({"gemm_all_to_all", "gemm_reduce_scatter", "gemm_all_reduce", "all_gather_gemm"});
    reduces_ = kind == "gemm_reduce_scatter" || kind == "gemm_all_reduce";
    gathers_ = kind == "all_gather_gemm";
    const int rows = static_cast<int>(between(1, 6));  // of tiles, of a peer
    const int columns = static_cast<int>(between(1, 4));
    const int parts = chance(70) ? 1 : static_cast<int>(between(2, 3));
    const std::int64_t m = between(1, 16);
    const std::int64_t n = between(1, 16);
    std::string text =
        "workload:\n  kind: " + kind + "\n  gemm: {m: " + std::to_string(gpus * rows * m) +
        ", n: " + std::to_string(columns * n) + ", k: " + std::to_string(parts * between(1, 2000)) +
        ", tile_m: " + std::to_string(m) + ", tile_n: " + std::to_string(n) +
        ", split_k: " + std::to_string(parts) + tile_order() +
        ", schedule: " + word({"tiles", "persistent"}) + ", alone: 0." + number(3, 9) + jitter() +
        "}\n";
    return text + chunks(rows) +
           knobs(gathers_ ? divisor(rows) * columns * parts : divisor(rows * columns),
                 {.produces = !gathers_, .in_parts = parts > 1, .of_input = gathers_});
  }

  std::string chunks(int most) {
    return "modes: [all]\nkernel: {chunks: " + number(1, most) + "}\n";
  }

  std::string tile_order() {
    const std::string order = word({"row", "column", "swizzled"});
    return ", order: " + order + (order == "swizzled" ? ", swizzle: " + number(1, 4) : "");
  }

  std::string jitter() { return chance(60) ? ", jitter: 0." + number(1, 8) : ""; }

  struct Results {
    bool produces = true;   // it is they that travel
    bool in_parts = false;  // several WGs make one
    bool of_input = false;  // that comes from all GPUs, made by a GEMM
  };
  std::string knobs(int slice_wgs) { return knobs(slice_wgs, {}); }
  std::string knobs(int slice_wgs, Results results) {
    std::string text = "fused: {work_list: " + word({"dynamic", "static"}) +
                       ", put_by: " + word({"wg", "wave", "thread"}) +
                       ", fence_by: " + word({"wg", "wave"}) +
                       ", slice_wgs: " + std::to_string(slice_wgs);
    if (results.produces) {
      text += ", order: " + word({"remote_first", "local_first", "staggered", "in_turn", "given"}) +
              ", flag_per: " + word({"slice", "peer"});
      const std::string staging = ", staging: " + word({"zero_copy", "staged"});
      if (!results.in_parts) text += staging;
    }
    if (results.of_input && chance(40)) text += ", own_first: " + number(1, 20);
    if (chance(30)) text += ", max_wgs_per_cu: " + number(1, 4);
    if (may_send_by_wave_ && by_wave_) text += ", sent_by: wave";
    if (may_send_by_wave_ && results.of_input && chance(30)) {
      text += ", sending_wgs: " + number(1, 40) + ", piece: " + number(4, 512) + " KiB";
    }
    if (may_use_switch_ && switch_adds_ && (reduces_ || gathers_)) text += ", in_switch: true";
    return text + "}\n";
  }

  std::string embedding(const std::string& kind = "embedding_all_to_all") {
    const int gpus = nodes_ * gpus_per_node_;
    const std::int64_t rows = between(1, 6);
    const std::int64_t blocks = between(1, 5);
    const std::int64_t tables = between(1, 4);
    std::string text =
        "workload:\n  kind: " + kind + "\n  batch: " + std::to_string(gpus * rows * blocks) +
        "\n  tables_per_gpu: " + std::to_string(tables) +
        "\n  rows_per_table: 1000\n  zipf: " + word({"0", "0.7", "1", "1.3"}) +
        "\n  dim: " + std::to_string(4 * between(1, 80)) + "\n  pooling: " + number(1, 30) +
        "\n  dtype: " + word({"fp32", "fp16", "bf16"}) +
        "\n  rows_per_wg: " + std::to_string(rows) + "\n";
    text += "  wg: {threads: " + std::to_string(64 * between(1, 4)) +
            ", loads_in_flight: " + number(1, 8) + "}\n";
    if (!symmetric_ && chance(60)) text += "  jitter: 0." + number(1, 8) + "\n";
    text += "modes: [all]\nkernel: {chunks: " + number(1, tables) + "}\n";
    const bool scatters = kind == "embedding_backward";
    return text + knobs(scatters ? divisor(static_cast<int>(tables)) * static_cast<int>(blocks)
                                 : divisor(static_cast<int>(blocks * tables)),
                        {.produces = !scatters});
  }

  Rng rng_;
  bool by_wave_;
  bool may_send_by_wave_ = false;
  int nodes_ = 1;
  int gpus_per_node_ = 1;
  int nics_ = 1;
  std::int64_t least_cus_ = 1;
  bool symmetric_ = false;
  bool reduces_ = false;
  bool gathers_ = false;
  bool may_use_switch_ = false;
  bool switch_adds_ = false;  // that of the node, the only one
};

}  // namespace weft
