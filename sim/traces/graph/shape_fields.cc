// The keys of what an operator of a graph does.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/models/recorded_shape.h"
#include "sim/scenario/names.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

constexpr Range<Bytes> kBytesOfOperator{bytes(0), bytes(trace_limits::kBytes)};
constexpr Range<std::int64_t> kTokens{1, 100'000'000};

std::size_t square_root(std::size_t square) {
  std::size_t root = 0;
  while (root * root < square) ++root;
  return root;
}

constexpr std::array kLayouts = {
    Choice<GemmLayout>{"linear", GemmLayout::linear, "both along k, as in a layer"},
    Choice<GemmLayout>{"nn", GemmLayout::nn, "A along k, B along n: a gradient of inputs"},
    Choice<GemmLayout>{"tn", GemmLayout::tn, "A along m, B along n: a gradient of weights"},
};
constexpr std::array kScalesOfFp8 = {
    Choice<Fp8Scales>{"none", Fp8Scales::none, "operands are of dtype"},
    Choice<Fp8Scales>{"tensor", Fp8Scales::tensor, "fp8 operands, one scale for each"},
    Choice<Fp8Scales>{"row", Fp8Scales::row, "fp8 operands, a scale for each row"},
    Choice<Fp8Scales>{"block", Fp8Scales::block, "fp8 operands, a scale for each block"},
};

constexpr std::array kSumsOfFp8 = {
    Choice<Fp8Sums>{"fast", Fp8Sums::fast, "in the matrix units"},
    Choice<Fp8Sums>{"in_fp32", Fp8Sums::in_fp32, "every 128 of k added in fp32"},
    Choice<Fp8Sums>{"in_fp32_of_two_blocks", Fp8Sums::in_fp32_of_two_blocks,
                    "the same, where each 128 elements of A and of B have a scale"},
};

const std::array<Choice<RecordedKind>, 6>& kinds_of_recorded() {
  static const std::array<Choice<RecordedKind>, 6> kinds = {
      {{name_of(RecordedKind::gemm), RecordedKind::gemm},
       {name_of(RecordedKind::attention), RecordedKind::attention},
       {name_of(RecordedKind::norm), RecordedKind::norm},
       {name_of(RecordedKind::elementwise), RecordedKind::elementwise},
       {name_of(RecordedKind::embedding), RecordedKind::embedding},
       {name_of(RecordedKind::copy), RecordedKind::copy}}};
  return kinds;
}

// A truth that is false where nothing is said.
void truth(Fields& map, std::string_view key, bool& member, std::string_view help) {
  map.choice(key, member, names::kTruths, {.help = help, .fallback = false, .quiet = true});
}

template <class T, class Rows>
void boxed_map(Fields& map, std::string_view key, Boxed<T>& member, std::string_view help,
               Rows rows) {
  std::optional<T> value;
  if (member) value = *member;
  map.optional_map(key, value, help, rows);
  if (!map.writes()) member = std::move(value);
}

void dtype_field(Fields& map, DataType& dtype, std::string_view help) {
  map.choice("dtype", dtype, names::kDataTypes, {.help = help, .fallback = DataType::bf16});
}

void moved_fields(Fields& map, Bytes& read, Bytes& written) {
  map.add("read", read,
          {.help = "what it reads from memory",
           .range = kBytesOfOperator,
           .fallback = Bytes{},
           .quiet = true});
  map.add("written", written,
          {.help = "what it writes to memory",
           .range = kBytesOfOperator,
           .fallback = Bytes{},
           .quiet = true});
}

void recorded_gemm_fields(Fields& map, RecordedGemm& gemm) {
  constexpr Range<int> kTile{1, 4'096};
  map.add("m", gemm.m, {.help = "rows of C"});
  map.add("n", gemm.n, {.help = "columns of C"});
  map.add("k", gemm.k, {.help = "length of the sums"});
  map.add("batch", gemm.batch, {.help = "products of that size", .fallback = 1, .quiet = true});
  map.add("tile_m", gemm.tile_m,
          {.help = "rows of C per WG",
           .range = kTile,
           .fallback = 0,
           .means = "not known: the kernel is not fused",
           .quiet = true});
  map.add("tile_n", gemm.tile_n,
          {.help = "columns of C per WG",
           .range = kTile,
           .fallback = 0,
           .means = "not known",
           .quiet = true});
  map.add("split_k", gemm.split_k,
          {.help = "WGs that share a tile, each with a part of k",
           .range = {{1, 1'024}},
           .fallback = 1,
           .quiet = true});
}

void recorded_attention_fields(Fields& map, RecordedAttention& attention) {
  const auto size = [&map](const char* key, std::int32_t& member, const char* help) {
    map.add(key, member, {.help = help, .range = {{1, INT32_MAX}}});
  };
  size("batch", attention.batch, "sequences");
  size("heads", attention.heads, "heads on each GPU");
  size("kv_heads", attention.kv_heads, "heads of keys and values on each GPU");
  size("head_dim", attention.head_dim, "elements of a head's query, and key");
  size("value_head_dim", attention.value_head_dim, "elements of a head's value");
  size("queries", attention.queries, "tokens of each sequence that attend");
  size("keys", attention.keys, "tokens of each sequence that they attend to");
  truth(map, "causal", attention.causal, "each attends only up to itself, the last one to all");
  truth(map, "backward", attention.backward, "the backward pass");
}

void recorded_work_fields(Fields& map, RecordedWork& work) {
  map.choice("kind", work.kind, kinds_of_recorded(), {.help = "what it computes"});
  map.add("flops", work.flops,
          {.help = "operations; a multiply-add counts as two", .fallback = Flops{}, .quiet = true});
  moved_fields(map, work.read, work.written);
  map.add("element_bytes", work.element_bytes,
          {.help = "bytes of an element", .range = {{1, 16}}, .fallback = 2, .quiet = true});
  truth(map, "matrix", work.matrix, "whether its operations run on the matrix units");
  map.add("rows", work.rows,
          {.help = "of an embedding's result, which is made row by row",
           .range = {{1, 1'000'000'000'000}},
           .fallback = 0,
           .means = "none",
           .quiet = true});
  map.optional_map("gemm", work.gemm, "C = A B, of m x n", recorded_gemm_fields);
  map.optional_map("attention", work.attention, "attention's sizes", recorded_attention_fields);
}

// Rows of `width` values each.
Fields::Table in_rows(const std::vector<std::int64_t>& values, std::size_t width) {
  Fields::Table rows;
  for (std::size_t first = 0; first < values.size(); first += width) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

std::vector<std::int64_t> one_after_another(const Fields::Table& rows) {
  std::vector<std::int64_t> values;
  for (const std::vector<std::int64_t>& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

// How many go to each GPU is in the call's matrix.
void reached_fields(Fields& map, Reached& reached) {
  constexpr Range<int> kPerNode{1, 1'024};
  int per_node = static_cast<int>(reached.per_node);
  map.add("gpus_per_node", per_node,
          {.help = "ranks of the group on each node, node by node", .range = kPerNode});
  reached.per_node = static_cast<std::uint32_t>(per_node);
  const std::size_t ranks = square_root(reached.gpus.size());
  Fields::Table to_nodes =
      in_rows(reached.nodes, std::max<std::size_t>(1, ranks / std::max(1U, reached.per_node)));
  map.counts_table("to_nodes", to_nodes, {0, 1'000'000'000},
                   "one row per rank: its tokens that go to a GPU of each node");
  if (map.writes()) return;
  for (const std::vector<std::int64_t>& row : to_nodes) {
    if (row.size() == to_nodes.front().size()) continue;
    return map.fail("to_nodes", "must have as many values in each row");
  }
  reached.nodes = one_after_another(to_nodes);
}

void puts_fields(Fields& map, PutRows& puts) {
  map.add("made_from", puts.made_from,
          {.help = "what is read of a row where it is sent", .range = kBytesOfOperator});
  map.add("cus", puts.cus,
          {.help = "CUs whose WGs put",
           .range = {{1, 100'000}},
           .fallback = 0,
           .means = "all, or those that experts need",
           .quiet = true});
  map.add("experts", puts.experts,
          {.help = "experts of all ranks; each WG stands for equally many",
           .range = {{1, 1'000'000}},
           .fallback = 0,
           .means = "not known",
           .quiet = true});
  map.add("at_once", puts.at_once,
          {.help = "rows that a CU puts at a time, those of a token",
           .range = {{1, 100'000}},
           .fallback = 0,
           .means = "as many as fit",
           .quiet = true});
  truth(map, "packs", puts.packs, "whether the receiver moves rows from where they have arrived");
  map.optional_map("once", puts.reached,
                   "each row goes once to each node and is forwarded there to each GPU; needs the "
                   "call's matrix",
                   reached_fields);
  truth(map, "home", puts.home, "of once: back from where rows have gone, summed on the way");
}

// As rows of a square; a square it is if graph_of has accepted it.
void matrix_field(Fields map, std::vector<std::int64_t>& pairs) {
  Fields::Table rows = in_rows(pairs, std::max<std::size_t>(1, square_root(pairs.size())));
  map.sizes_table("matrix", rows,
                  "uneven all-to-all: one row per rank, with what it sends to each rank");
  if (map.writes()) return;
  for (const std::vector<std::int64_t>& row : rows) {
    if (row.size() == rows.size()) continue;
    return map.fail("matrix", "must be a square: as many values in each row as there are rows");
  }
  pairs = one_after_another(rows);
}

// From the rows that are sent; home, they come back the way they went.
void fill_reached(CommunicationShape& call) {
  Reached& reached = *call.puts->reached;
  const std::size_t ranks = square_root(call.pair_bytes.size());
  if (call.row == Bytes{} || ranks * ranks != call.pair_bytes.size()) return;  // refused elsewhere
  reached.gpus.resize(call.pair_bytes.size());
  for (std::size_t pair = 0; pair < reached.gpus.size(); ++pair) {
    const std::size_t from = pair / ranks;
    const std::size_t to = pair % ranks;
    const std::size_t went = call.puts->home ? to * ranks + from : pair;
    reached.gpus[went] = call.pair_bytes[pair] / call.row.count();
  }
}

void rank_field(Fields map, const char* key, std::uint32_t& rank, int usual, const char* help) {
  int number = static_cast<int>(rank);
  map.add(key, number, {.help = help, .range = {{0, 65'535}}, .fallback = usual});
  rank = static_cast<std::uint32_t>(number);
}

}  // namespace

void fields(Fields& map, RecordedShape& kernel) {
  map.add("time", kernel.time,
          {.help = "how long it takes alone",
           .range = {{Duration{}, microseconds(trace_limits::kMicroseconds)}}});
  map.add("wgs", kernel.wgs,
          {.help = "WGs of its grid", .range = {{1, trace_limits::kWgs}}, .fallback = 1});
  map.add("threads", kernel.threads,
          {.help = "threads of a WG", .range = {{1, 1'024}}, .fallback = 256, .quiet = true});
  map.add("registers_per_thread", kernel.registers_per_thread,
          {.help = "32-bit vector registers of a thread",
           .range = {{1, 1'024}},
           .fallback = 32,
           .quiet = true});
  map.add("lds", kernel.lds,
          {.help = "local data share of a WG", .fallback = Bytes{}, .quiet = true});
  truth(map, "beside", kernel.beside,
        "others ran at the same time when it was recorded, and what they cost it is in its time");
  truth(map, "host", kernel.host,
        "no kernel: so long the host was at work before it launched what waits for this");
  boxed_map(map, "computes", kernel.work,
            "what it computes; absent: it moves nothing and takes its time whatever runs",
            recorded_work_fields);
}

void fields(Fields& map, GemmShape& gemm) {
  map.add("m", gemm.m, {.help = "rows of C; of products of several sizes their mean"});
  map.add("n", gemm.n, {.help = "columns of C"});
  map.add("k", gemm.k, {.help = "length of the sums"});
  map.add("batch", gemm.batch, {.help = "products of that size", .fallback = 1, .quiet = true});
  dtype_field(map, gemm.dtype, "type of an element of C, and of the operands unless they are fp8");
  map.choice("layout", gemm.layout, kLayouts,
             {.help = "along which dimension rows of A and B lie in memory",
              .fallback = GemmLayout::linear,
              .quiet = true});
  map.choice("fp8", gemm.fp8, kScalesOfFp8,
             {.help = "whether operands are fp8", .fallback = Fp8Scales::none, .quiet = true});
  map.choice("sums", gemm.sums, kSumsOfFp8,
             {.help = "of fp8: where they are kept", .fallback = Fp8Sums::fast, .quiet = true});
  truth(map, "accumulates", gemm.accumulates, "the result is added to fp32 gradients of weights");
  truth(map, "whole_k", gemm.whole_k, "the kernel does not split k");
  map.add("packed", gemm.packed,
          {.help = "bytes of 128 elements of B, weights of 4 bits with their scales",
           .range = {{1, 256}},
           .fallback = 0,
           .means = "B as A",
           .quiet = true});
  map.list_or_none("m_by_rank", gemm.m_by_rank, {0, kCount.high},
                   "rows of C on each rank of a group, instead of m");
  truth(map, "grouped", gemm.grouped, "the library's kernel for products of several sizes");
  map.where("grouped", {"true"})
      .list_or_none("m_of_each", gemm.m_of_each, {0, kCount.high},
                    "rows of each of the products; default: all have m");
}

void fields(Fields& map, AttentionShape& attention) {
  map.add("batch", attention.batch, {.help = "sequences", .fallback = 1});
  map.add("heads", attention.heads, {.help = "heads on each GPU"});
  map.add("kv_heads", attention.kv_heads, {.help = "heads of keys and values on each GPU"});
  map.add("head_dim", attention.head_dim,
          {.help = "elements of a head's query, and key", .range = {{1, 65'536}}});
  map.add("value_head_dim", attention.value_head_dim,
          {.help = "elements of a head's value", .range = {{1, 65'536}}});
  map.add("queries", attention.queries,
          {.help = "tokens of each sequence that attend", .range = kTokens});
  map.add("keys", attention.keys,
          {.help = "tokens of each sequence that they attend to", .range = kTokens});
  map.choice("causal", attention.causal, names::kTruths,
             {.help = "each attends only up to itself, the last one to all", .fallback = true});
  map.where("causal", {"true"})
      .add("window", attention.window,
           {.help = "each attends to so many of these, itself included; default: all",
            .range = kTokens,
            .fallback = 0,
            .means = "optional",
            .quiet = true});
  truth(map, "backward", attention.backward, "the backward pass, which recomputes the scores");
  truth(map, "engine", attention.engine,
        "one new token a sequence, by an inference engine's kernel where the GPU's file has one");
  dtype_field(map, attention.dtype, "type of an element");
}

void fields(Fields& map, StreamShape& stream) {
  moved_fields(map, stream.read, stream.written);
  map.add("flops", stream.flops,
          {.help = "operations of the vector units", .fallback = Flops{}, .quiet = true});
  map.add("instructions", stream.instructions,
          {.help = "instructions of threads, if they may take longer than the memory",
           .range = {{0, trace_limits::kFlops}},
           .fallback = 0,
           .quiet = true});
  map.add("load", stream.load,
          {.help = "size of one load of a thread",
           .range = {{bytes(1), bytes(1'024)}},
           .fallback = bytes(16),
           .quiet = true});
  map.add("loads_in_flight", stream.loads_in_flight,
          {.help = "loads that a thread keeps outstanding",
           .range = {{1, 1'024}},
           .fallback = 4,
           .quiet = true});
  map.add("chunks", stream.chunks,
          {.help = "of an optimiser: chunks of weights, one per WG",
           .range = {{1, kCount.high}},
           .fallback = 0,
           .means = "as many WGs as fit share the work evenly",
           .quiet = true});
  map.add("most_wgs", stream.most_wgs,
          {.help = "WGs that share the work, at most",
           .range = {{1, kCount.high}},
           .fallback = 0,
           .means = "as many as fit",
           .quiet = true});
  truth(map, "reorders", stream.reorders,
        "only puts rows of what was made just before in another order, which a fused kernel does "
        "as it reads or sends them");
}

void fields(Fields& map, CommunicationShape& call) {
  map.choice("op", call.op, names::kCollectiveOps,
             {.help = "what the GPUs of a group do together"});
  map.add("bytes", call.buffer,
          {.help = "buffer of each GPU: what it sends from, gathers into or reduces; of an uneven "
                   "all-to-all the largest",
           .range = {{bytes(1), kBytesOfOperator.high}}});
  matrix_field(map.where("op", {"all_to_all"}), call.pair_bytes);
  rank_field(map.where("op", {"broadcast", "point_to_point"}), "root", call.root, 0,
             "rank of the group that sends");
  Fields of_message = map.where("op", {"point_to_point"});
  rank_field(of_message, "target", call.target, 1, "rank of the group that receives");
  truth(of_message, "meets", call.meets,
        "the sender's kernel, too, begins when both are ready, not when it is itself");
  Fields of_rows = map.where("op", {"all_to_all"});
  of_rows.add("row", call.row,
              {.help = "of tokens: size of one on its way",
               .range = {{bytes(1), kBytesOfOperator.high}},
               .fallback = Bytes{},
               .means = "not of tokens",
               .quiet = true});
  boxed_map(of_rows, "puts", call.puts,
            "each row is put by itself by a kernel of its own, not by the library", puts_fields);
  if (!map.writes() && call.puts && call.puts->reached) fill_reached(call);
}

}  // namespace weft
