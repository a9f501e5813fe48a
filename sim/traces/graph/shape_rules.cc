// What must hold of several keys of an operator's shape, and of its groups.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/traces/graph/graph_file.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

class ShapeRules {
 public:
  ShapeRules(const Groups& place, std::string path, Reading& reading)
      : place_(place), path_(std::move(path)), reading_(reading) {}

  void check(const GemmShape& gemm) const {
    if (gemm.m_by_rank.empty()) {
      size_fits(gemm, gemm.m);
    } else {
      of_every_rank("gemm.m_by_rank", gemm.m_by_rank.size());
      size_fits(gemm, *std::max_element(gemm.m_by_rank.begin(), gemm.m_by_rank.end()));
    }
    const auto products = static_cast<std::int64_t>(gemm.m_of_each.size());
    if (products > 0 && products != gemm.batch) {
      fail("gemm.m_of_each", fmt::format("{} products, but batch is {}", products, gemm.batch));
    }
    for (const std::int64_t m : gemm.m_of_each) size_fits(gemm, m);
  }

  void check(const RecordedShape& kernel) const {
    if (!kernel.work || !kernel.work->gemm) return;
    const RecordedGemm& gemm = *kernel.work->gemm;
    if ((gemm.tile_m > 0) != (gemm.tile_n > 0)) {
      fail("recorded.computes.gemm", "a tile has both tile_m and tile_n");
    }
    bytes_fit("recorded.computes.gemm",
              real(gemm.m) * real(gemm.n) * real(gemm.batch) * real(kernel.work->element_bytes));
  }

  void check(const AttentionShape& attention) const {
    if (attention.heads % attention.kv_heads != 0) {
      fail("attention.kv_heads", fmt::format("{} heads of queries do not divide among {} of keys",
                                             attention.heads, attention.kv_heads));
    }
    if (attention.causal && attention.queries > attention.keys) {
      fail("attention.queries",
           fmt::format("{} queries, but only {} keys: the first ones would see none",
                       attention.queries, attention.keys));
    }
    const std::int64_t fewest = std::min(attention.queries, attention.keys);
    if (fewest < kFewTokens && (attention.backward || attention.queries >= kFewTokens)) {
      fail("attention.keys",
           fmt::format("kernels of {} queries or more, and backward passes, are for {} tokens or "
                       "more",
                       kFewTokens, kFewTokens));
    }
    if (attention.engine && (attention.queries != 1 || attention.backward)) {
      fail("attention.engine", "is for one query of each sequence, forward");
    }
    const double heads = real(attention.batch) * real(attention.heads);
    if (heads > kMostHeads) {
      fail("attention.heads", "more than 10^9 heads, of all sequences together");
    }
    const double dims = real(attention.head_dim + attention.value_head_dim);
    flops_fit("attention", 5 * heads * real(attention.queries) * real(attention.keys) * dims);
    bytes_fit("attention", heads * real(attention.queries + attention.keys) * dims * 4);
  }

  void check(const StreamShape& /*stream*/) const {}  // each key has its bounds

  void check(const CommunicationShape& call) const {
    for (const std::vector<std::uint32_t>& group : place_.groups) {
      if (group.size() < 2) return fail("", "a collective has groups of two GPUs or more");
    }
    const std::size_t ranks = fewest_ranks();
    rank_exists("collective.root", call.root, ranks);
    if (call.op == CollectiveOp::point_to_point) {
      rank_exists("collective.target", call.target, ranks);
      if (call.root == call.target) {
        fail("collective.target", "a rank sends nothing to itself; target and root must differ");
      }
    }
    check_matrix(call);
    check_rows(call, ranks);
  }

 private:
  static constexpr std::int64_t kFewTokens = 16;
  static constexpr double kMostHeads = 1e9;

  static double real(std::int64_t count) { return static_cast<double>(count); }

  void fail(const std::string& key, std::string message) const {
    reading_.error_at_key(key.empty() ? path_ : path_ + '.' + key, std::move(message));
  }
  void flops_fit(const std::string& key, double flops) const {
    if (flops > real(trace_limits::kFlops)) fail(key, "more than 10^18 operations");
  }
  void bytes_fit(const std::string& key, double bytes) const {
    if (bytes > real(trace_limits::kBytes)) fail(key, "an operand of more than 64 TiB");
  }

  void size_fits(const GemmShape& gemm, std::int64_t m) const {
    if (gemm.packed > 0 && gemm.fp8 != Fp8Scales::none) {
      fail("gemm.packed", "weights of 4 bits multiply in the model's type; not with fp8");
    }
    const double batch = real(gemm.batch);
    flops_fit("gemm", 2 * real(m) * real(gemm.n) * real(gemm.k) * batch);
    const double largest =
        std::max({real(m) * real(gemm.n), real(m) * real(gemm.k), real(gemm.n) * real(gemm.k)});
    bytes_fit("gemm", largest * batch * 4);
  }

  [[nodiscard]] std::size_t fewest_ranks() const {
    std::size_t fewest = place_.groups.front().size();
    for (const auto& group : place_.groups) fewest = std::min(fewest, group.size());
    return fewest;
  }

  void rank_exists(const char* key, std::uint32_t rank, std::size_t ranks) const {
    if (rank < ranks) return;
    fail(key, fmt::format("there is no rank {} in a group of {}; the last is {}", rank, ranks,
                          ranks - 1));
  }

  // A list with a value for each rank is for groups of that size only.
  void of_every_rank(const char* key, std::size_t values) const {
    for (const std::vector<std::uint32_t>& group : place_.groups) {
      if (group.size() == values) continue;
      return fail(key,
                  fmt::format("for {} ranks, but there is a group of {}", values, group.size()));
    }
  }

  void check_matrix(const CommunicationShape& call) const {
    if (call.pair_bytes.empty()) return;
    std::size_t ranks = 0;
    while (ranks * ranks < call.pair_bytes.size()) ++ranks;
    of_every_rank("collective.matrix", ranks);
    if (std::all_of(call.pair_bytes.begin(), call.pair_bytes.end(),
                    [](std::int64_t size) { return size == 0; })) {
      fail("collective.matrix", "nothing is sent; at least one value must be above 0");
    }
    double all = 0;
    for (const std::int64_t size : call.pair_bytes) all += real(size);
    if (all > real(trace_limits::kBytes)) fail("collective.matrix", "more than 64 TiB in all");
  }

  void check_rows(const CommunicationShape& call, std::size_t ranks) const {
    if (!call.puts) return;
    if (call.row == Bytes{}) return fail("collective.puts", "requires row, the size of one");
    if (call.puts->reached) {
      check_reached(*call.puts->reached, ranks);
    } else if (call.puts->home) {
      fail("collective.puts.home", "requires once");
    }
    for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
      if (!call.pair_bytes.empty() && call.pair_bytes.size() != ranks * ranks) return;
      if (bytes_of_pair(call, pair / ranks, pair % ranks, ranks) % call.row.count() == 0) continue;
      return fail("collective.row", "what one rank sends to another is not a number of whole rows");
    }
  }

  // Rows reach a GPU by way of its node, each node once.
  void check_reached(const Reached& reached, std::size_t ranks) const {
    const std::string once = "collective.puts.once";
    if (reached.gpus.size() != ranks * ranks) return fail(once, "requires collective.matrix");
    const std::size_t per_node = reached.per_node;
    if (ranks % per_node != 0) {
      return fail(once + ".gpus_per_node",
                  fmt::format("{} ranks are not a number of nodes of {}", ranks, per_node));
    }
    const std::size_t nodes = ranks / per_node;
    if (reached.nodes.size() != ranks * nodes) {
      return fail(
          once + ".to_nodes",
          fmt::format("must have {} rows, one per rank, of {}, one per node", ranks, nodes));
    }
    for (std::size_t part = 0; part < reached.nodes.size(); ++part) {
      const auto first = reached.gpus.begin() + static_cast<std::ptrdiff_t>(part * per_node);
      const auto last = first + static_cast<std::ptrdiff_t>(per_node);
      const std::int64_t least = *std::max_element(first, last);
      const std::int64_t most = std::accumulate(first, last, std::int64_t{0});
      const std::int64_t given = reached.nodes[part];
      if (given >= least && given <= most) continue;
      return fail(once + ".to_nodes",
                  fmt::format("rank {} sends {} rows to node {}, but by the matrix {} to {} go to "
                              "GPUs there",
                              part / nodes, given, part % nodes, least, most));
    }
  }

  const Groups& place_;
  std::string path_;
  Reading& reading_;
};

}  // namespace

void check_shape(const GraphOperator& op, const Groups& place, const std::string& path,
                 Reading& reading) {
  const ShapeRules rules(place, path, reading);
  const auto check = [&rules](const auto& shape) {
    if (shape) rules.check(*shape);
  };
  check(op.recorded);
  check(op.gemm);
  check(op.attention);
  check(op.memory);
  check(op.collective);
}

}  // namespace weft
