#include "sim/models/links_bound.h"

#include <algorithm>
#include <map>
#include <vector>

namespace weft {
namespace {

// Bytes that have to leave somewhere and arrive somewhere, at least.
struct Traffic {
  double out = 0;
  double in = 0;
};

class LeastTraffic {
 public:
  explicit LeastTraffic(const NetworkSpec& network)
      : network_(network),
        of_gpu_(static_cast<std::size_t>(network.nodes) * gpus_per_node()),
        of_node_(static_cast<std::size_t>(network.nodes)) {}

  void add(const CommunicationShape& call, const std::vector<std::uint32_t>& group) {
    std::map<std::size_t, std::size_t> ranks_on;  // of each node
    for (const std::uint32_t gpu : group) ++ranks_on[node_of(gpu)];
    if (call.op == CollectiveOp::point_to_point) {
      add_message(group[call.root], group[call.target], to_double(call.buffer));
    } else if (call.op == CollectiveOp::all_to_all) {
      add_exchange(call, group);
    } else if (ranks_on.size() == 1) {
      for (std::size_t rank = 0; rank < group.size(); ++rank) {
        if (call.op == CollectiveOp::broadcast && rank == call.root) continue;
        add_to(of_gpu_[group[rank]], call, share_not_of(call, 1, group.size()));
      }
    } else {
      for (const auto& [node, ranks] : ranks_on) {
        if (call.op == CollectiveOp::broadcast && node == node_of(group[call.root])) continue;
        add_to(of_node_[node], call, share_not_of(call, ranks, group.size()));
      }
    }
  }

  [[nodiscard]] double seconds() const {
    return std::max(longest(of_gpu_, rate_of_gpu()), longest(of_node_, rate_of_node()));
  }

 private:
  static double to_double(Bytes size) { return static_cast<double>(size.count()); }
  [[nodiscard]] std::size_t gpus_per_node() const {
    return static_cast<std::size_t>(network_.gpus_per_node);
  }
  [[nodiscard]] std::size_t node_of(std::uint32_t gpu) const { return gpu / gpus_per_node(); }

  // Of a buffer what so many of its ranks do not have from the start, or keep.
  static double share_not_of(const CommunicationShape& call, std::size_t ranks, std::size_t all) {
    const double whole = to_double(call.buffer);
    if (call.op == CollectiveOp::broadcast) return whole;
    return whole * static_cast<double>(all - ranks) / static_cast<double>(all);
  }

  // Sums may be made on the way, so that little arrives; copies too, so that little leaves.
  static void add_to(Traffic& traffic, const CommunicationShape& call, double size) {
    (reduces(call.op) ? traffic.out : traffic.in) += size;
  }

  void add_message(std::uint32_t from, std::uint32_t to, double size) {
    if (from == to) return;
    const bool in_node = node_of(from) == node_of(to);
    (in_node ? of_gpu_[from] : of_node_[node_of(from)]).out += size;
    (in_node ? of_gpu_[to] : of_node_[node_of(to)]).in += size;
  }

  void add_exchange(const CommunicationShape& call, const std::vector<std::uint32_t>& group) {
    for (std::size_t from = 0; from < group.size(); ++from) {
      for (std::size_t to = 0; to < group.size(); ++to) {
        add_message(group[from], group[to],
                    static_cast<double>(bytes_of_pair(call, from, to, group.size())));
      }
    }
  }

  static double longest(const std::vector<Traffic>& all, double rate) {
    double most = 0;
    for (const Traffic& one : all) most = std::max({most, one.out, one.in});
    return rate > 0 ? most / rate : 0;
  }

  // B/s; 0: there are none.
  [[nodiscard]] double rate_of_gpu() const {
    if (!network_.scale_up) return 0;
    const FabricSpec& fabric = *network_.scale_up;
    const double links =
        static_cast<double>(fabric.topology->links_of_endpoint(network_.gpus_per_node));
    // Copy engines and sums in the switch may have another share of the link's bytes for payload.
    const double best =
        std::max({1.0, fabric.link.engine_ratio, fabric.topology->sums_on_the_way().ratio});
    return links * best * static_cast<double>(fabric.link.bandwidth.count());
  }
  [[nodiscard]] double rate_of_node() const {
    if (!network_.nic) return 0;
    return network_.nic->per_node * static_cast<double>(network_.nic->bandwidth.count());
  }

  const NetworkSpec& network_;
  std::vector<Traffic> of_gpu_;   // on the links of its node
  std::vector<Traffic> of_node_;  // on its NICs
};

}  // namespace

double links_bound_us(const ModelGraph& graph, const NetworkSpec& network) {
  LeastTraffic traffic(network);
  for (const ModelOp& op : graph.ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr || call->puts || call->turns > 1) continue;
    for (const std::vector<std::uint32_t>& group : graph.places[op.place].groups) {
      traffic.add(*call, group);
    }
  }
  return traffic.seconds() * 1e6;
}

}  // namespace weft
