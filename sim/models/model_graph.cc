#include "sim/models/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/overloaded.h"
#include "sim/core/plural.h"

namespace weft {
namespace {

// Of those that a causal mask leaves, the pairs that a window leaves out: of the query that sees
// `n` keys n - window.
std::int64_t pairs_beyond_window(const AttentionShape& shape) {
  if (!sees_a_window(shape)) return 0;
  const std::int64_t most = shape.keys - shape.window;  // of the last query
  const std::int64_t queries = std::min(shape.queries, most);
  return queries * (2 * most - queries + 1) / 2;
}

// The number of (query, key) pairs that are multiplied.
std::int64_t pairs_of(const AttentionShape& shape) {
  const std::int64_t all = shape.queries * shape.keys;
  if (!shape.causal) return all;
  return all - shape.queries * (shape.queries - 1) / 2 - pairs_beyond_window(shape);
}

Flops attention_flops(const AttentionShape& shape) {
  const std::int64_t products = shape.backward ? 5 : 2;
  // Scores take one product of head_dim, and backward two more; the others are of value_head_dim.
  const std::int64_t with_keys = shape.backward ? 3 : 1;
  const std::int64_t dims =
      with_keys * shape.head_dim + (products - with_keys) * shape.value_head_dim;
  return flops(2 * pairs_of(shape)) * (shape.batch * shape.heads * dims);
}

std::string text_of(const Boxed<RecordedWork>& work) {
  if (!work) return {};
  std::string text = fmt::format(", {}", name_of(work->kind));
  if (const auto& gemm = work->gemm) {
    text += fmt::format(" {} x {} x {}, {} of them", gemm->m, gemm->n, gemm->k, gemm->batch);
    if (gemm->tile_m > 0) text += fmt::format(", tiles {} x {}", gemm->tile_m, gemm->tile_n);
  }
  return text + fmt::format(", {} B read, {} B written", work->read.count(), work->written.count());
}

std::string kernel_of(const GemmShape& gemm) {
  constexpr std::array kScaled = {"", ", fp8 by tensor", ", fp8 by row", ", fp8 by block"};
  return fmt::format("{}{}{}{}{}", kScaled.at(static_cast<std::size_t>(gemm.fp8)),
                     gemm.packed == 0 ? "" : fmt::format(", B packed in {} B of 128", gemm.packed),
                     gemm.sums == Fp8Sums::fast ? "" : ", sums in fp32",
                     gemm.grouped ? ", grouped" : "", gemm.accumulates ? ", added to fp32" : "");
}

std::string text_of(const Boxed<DescribedKernel>& kernel) {
  const auto* tiles = kernel ? std::get_if<GemmWork>(&kernel->work) : nullptr;
  return tiles == nullptr ? "" : fmt::format(", tiles {} x {}", tiles->tile_m, tiles->tile_n);
}

std::string text_of(const OpShape& shape) {
  return std::visit(
      Overloaded{
          [](const GemmShape& gemm) {
            return fmt::format("gemm {} x {} x {}, {} of them{}", gemm.m, gemm.n, gemm.k,
                               gemm.batch, kernel_of(gemm));
          },
          [](const AttentionShape& attention) {
            return fmt::format(
                "attention {}, {} sequences, {} heads ({} of keys), {} x {} tokens{}{}",
                attention.backward ? "backward" : "forward", attention.batch, attention.heads,
                attention.kv_heads, attention.queries, attention.keys,
                attention.causal ? ", causal" : "",
                sees_a_window(attention) ? fmt::format(", window {}", attention.window) : "");
          },
          [](const EmbeddingShape& bag) {
            return fmt::format("embedding {}, {} tables, batch {}, pooling {}, dim {}",
                               bag.backward ? "backward" : "forward", bag.work.tables_per_gpu,
                               bag.work.batch, bag.work.pooling, bag.work.dim);
          },
          [](const StreamShape& stream) {
            return fmt::format("stream {} B read, {} B written", stream.read.count(),
                               stream.written.count());
          },
          [](const RecordedShape& kernel) {
            return fmt::format("recorded {:.3f} us, {} WGs{}", to_microseconds(kernel.time),
                               kernel.wgs, text_of(kernel.work));
          },
          [](const CommunicationShape& call) {
            return fmt::format("{} {} B{}", name_of(call.op), call.buffer.count(),
                               call.pair_bytes.empty() ? "" : ", uneven") +
                   (call.puts ? (call.puts->reached ? ", each token once" : ", put row by row")
                              : "") +
                   (call.own ? ", by a rule" : "");
          }},
      shape);
}

void verify_place(const Groups& place) {
  std::set<std::uint32_t> gpus;
  for (const std::vector<std::uint32_t>& group : place.groups) {
    SIM_ASSERT(!group.empty());
    for (const std::uint32_t gpu : group) SIM_ASSERT(gpus.insert(gpu).second);
  }
}

void verify_shape(const ModelOp& op, const Groups& place) {
  if (const auto* gemm = std::get_if<GemmShape>(&op.shape)) {
    for (const std::vector<std::uint32_t>& group : place.groups) {
      SIM_ASSERT(gemm->m_by_rank.empty() || gemm->m_by_rank.size() == group.size());
    }
  }
  const auto* call = std::get_if<CommunicationShape>(&op.shape);
  if (call == nullptr) return;
  for (const std::vector<std::uint32_t>& group : place.groups) {
    SIM_ASSERT(group.size() >= 2);
    SIM_ASSERT(call->pair_bytes.empty() || call->pair_bytes.size() == group.size() * group.size());
  }
}

}  // namespace

PlaceId ModelGraph::add_place(const Groups& groups) {
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (places[PlaceId(i)] == groups) return PlaceId(i);
  }
  return places.push_back(groups);
}

void ModelGraph::verify() const {
  for (const Groups& place : places) verify_place(place);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const ModelOp& op = ops[OpId(i)];
    SIM_ASSERT(op.place.value < places.size());
    SIM_ASSERT(op.block.is_none() || op.block.value < blocks.size());
    for (const OpId before : op.after) SIM_ASSERT(before.value < i);
    verify_shape(op, places[op.place]);
  }
}

bool do_the_same(const ModelOp& a, const ModelOp& b) {
  return a.name == b.name && a.part == b.part && a.stream == b.stream && a.shape == b.shape &&
         a.beside == b.beside && a.layer_rules == b.layer_rules;
}

bool communicates(const ModelOp& op) {
  return std::holds_alternative<CommunicationShape>(op.shape);
}

std::int64_t bytes_of_pair(const CommunicationShape& call, std::size_t from, std::size_t to,
                           std::size_t ranks) {
  return call.pair_bytes.empty() ? call.buffer.count() / static_cast<std::int64_t>(ranks)
                                 : call.pair_bytes[from * ranks + to];
}

std::vector<std::int64_t> rows_put(const CommunicationShape& call, std::size_t ranks) {
  std::vector<std::int64_t> rows;
  for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
    const std::int64_t size = bytes_of_pair(call, pair / ranks, pair % ranks, ranks);
    SIM_ASSERT(size % call.row.count() == 0);
    rows.push_back(size / call.row.count());
  }
  return rows;
}

std::size_t gpus_in(const Groups& place) {
  return std::accumulate(place.groups.begin(), place.groups.end(), std::size_t{0},
                         [](std::size_t sum, const auto& group) { return sum + group.size(); });
}

Flops flops_of(const OpShape& shape) {
  return std::visit(
      Overloaded{
          [](const GemmShape& gemm) {
            const std::int64_t m = gemm.m_by_rank.empty() ? gemm.m : gemm.m_by_rank.front();
            return flops(2 * m * gemm.n) * (gemm.k * gemm.batch);
          },
          [](const AttentionShape& attention) { return attention_flops(attention); },
          [](const EmbeddingShape& bag) {
            return flops(bag.work.batch * bag.work.tables_per_gpu) *
                   (std::int64_t{bag.work.pooling} * bag.work.dim);
          },
          [](const StreamShape& stream) { return stream.flops; },
          [](const RecordedShape& kernel) { return kernel.work ? kernel.work->flops : Flops{}; },
          [](const CommunicationShape&) { return Flops{}; }},
      shape);
}

std::string to_text(const ModelGraph& graph) {
  std::string text =
      fmt::format("model: {} {}, {} blocks\n", graph.ops.size(),
                  plural(graph.ops.size(), "operator", "operators"), graph.blocks.size());
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    const ModelOp& op = graph.ops[OpId(i)];
    const Groups& place = graph.places[op.place];
    text += fmt::format("{:5} {:<28} {:<12} {}{}; {} groups of {}, stream {}", i, op.name, op.part,
                        text_of(op.shape), text_of(op.described), place.groups.size(),
                        place.groups.front().size(), op.stream);
    for (std::size_t a = 0; a < op.after.size(); ++a) {
      text += (a == 0 ? ", after " : " ") + std::to_string(op.after[a].value);
    }
    if (op.beside) text += fmt::format(", beside a receive of {} B", op.beside->size.count());
    if (op.beside && op.beside->between_nodes) text += " from another node";
    text += "\n";
  }
  return text;
}

}  // namespace weft
