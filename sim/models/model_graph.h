// ModelGraph: a whole model (one training step, one inference) as operators, before any of them is
// cut into work-groups. Presets and recorded traces are converted to it; passes find in it what can
// be fused and what repeats; lower_model.h makes the task graph.
//
// One operator stands for all GPUs that do the same: `places` names them. So the graph of a
// Transformer on 1,024 GPUs is as long as on one; a recorded trace has one operator per rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/boxed.h"
#include "sim/core/ids.h"
#include "sim/gpu_model/library_gemm.h"
#include "sim/models/recorded_shape.h"
#include "sim/scenario/scenario.h"
#include "sim/workloads/row_forwards.h"

namespace weft {

using OpId = StrongId<struct OpTag>;
using PlaceId = StrongId<struct PlaceTag>;
using BlockId = StrongId<struct BlockTag>;

// Where an fp8 product's sums are kept: in the matrix units all along, whose accumulators are
// short, or every 128 of k added to fp32, with the scales of one operand's blocks or of both.
enum class Fp8Sums : std::uint8_t { fast, in_fp32, in_fp32_of_two_blocks };

// `batch` products C = A B, C of m x n, on each GPU: one for a layer, several for a batched product
// or one per expert. A library's kernel, unless the operator has one that is described.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  DataType dtype = DataType::bf16;  // of the result, and of operands unless they are fp8
  GemmLayout layout = GemmLayout::linear;
  Fp8Scales fp8 = Fp8Scales::none;
  Fp8Sums sums = Fp8Sums::fast;
  // The kernel adds its result to existing fp32 gradients of weights.
  bool accumulates = false;
  bool whole_k = false;  // the kernel does not split k
  int packed = 0;        // bytes of 128 elements of B, weights of 4 bits with their scales; 0: as A
  // For experts with different numbers of tokens: the m of each rank, instead of `m`. Else empty.
  std::vector<std::int64_t> m_by_rank = {};
  // The library's kernel for products of several sizes: `m` is their mean, unless m_of_each gives
  // them.
  bool grouped = false;
  std::vector<std::int64_t> m_of_each = {};
  GemmTile tile = {};  // of the library's kernel; 0: as it chooses
  bool operator==(const GemmShape&) const = default;
};

// Attention of `heads` heads on each GPU: `queries` tokens of each of `batch` sequences attend to
// `keys` tokens; if causal, each to those up to itself (the last query to all keys), and with a
// window only to the last so many of them.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;        // of queries and keys
  std::int64_t value_head_dim = 0;  // of values
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  bool causal = true;
  std::int64_t window = 0;  // tokens, its own included; 0: all
  bool backward = false;    // recomputes the scores: 5 products instead of 2
  bool engine = false;      // one new token, by an inference engine's kernel where it is known
  bool repeated = false;    // the same keys were read just before: the L2 has what it holds
  DataType dtype = DataType::bf16;
  bool operator==(const AttentionShape&) const = default;
};

// Whether some query sees fewer keys for its window.
inline bool sees_a_window(const AttentionShape& shape) {
  return shape.causal && shape.window > 0 && shape.window < shape.keys;
}

// Pools rows, or adds gradients to the rows that were pooled.
struct EmbeddingShape {
  EmbeddingWork work;
  bool backward = false;
  bool operator==(const EmbeddingShape&) const = default;
};

// Everything that streams through memory: norms, activations, interaction, optimiser.
struct StreamShape {
  Bytes read;
  Bytes written;
  Flops flops;
  std::int64_t instructions = 0;  // of threads, if they may take longer than the memory
  Bytes load = bytes(16);         // size of one load of a thread ...
  int loads_in_flight = 4;        // ... which has so many of them in flight
  // For an optimiser of many tensors: the number of chunks of weights, one per WG. 0: as many WGs
  // as fit share the work evenly.
  std::int64_t chunks = 0;
  std::int64_t most_wgs = 0;  // 0: as many as fit
  // Only puts rows of what was made just before in another order. A fused kernel needs no such
  // copy: its WGs read and send each row wherever it belongs.
  bool reorders = false;
  bool operator==(const StreamShape&) const = default;
};

// Of an all-to-all whose kernel puts each row of a token by itself (workloads/row_puts.h).
struct PutRows {
  Bytes made_from = {};      // what is read of a row where it is sent, which may be of another type
  int cus = 0;               // whose WGs put; 0: all, or those that `experts` need
  std::int64_t experts = 0;  // of all GPUs, of which each WG stands for equally many; 0: no matter
  int at_once = 0;           // rows that a CU puts at a time, those of a token; 0: as many as fit
  bool packs = false;        // the receiver's WGs move rows from where they have arrived
  // Each token once to each node and GPU (workloads/row_forwards.h), or home from there.
  std::optional<Reached> reached = {};
  bool home = false;
  bool operator==(const PutRows&) const = default;
};

// A collective in each group of its place; fields mean the same as in CollectiveCall.
struct CommunicationShape {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes buffer;  // per GPU: n blocks in a group of n, or all data (broadcast, point to point)
  std::uint32_t root = 0;
  std::uint32_t target = 1;
  std::vector<std::int64_t> pair_bytes;  // uneven all-to-all: [from * ranks + to], else empty
  Bytes row = {};                        // of tokens: size of one on its way; 0: not of tokens
  Boxed<PutRows> puts = {};              // none: as the library does it
  std::uint32_t turns = 1;  // above 1: its groups stand for so many times as many ranks
  bool meets = false;       // point to point: begins when both ranks are ready, not the root alone
  Boxed<CollectiveOptions> own = {};  // how it is run (collective_rules.h); none: as all are
  bool operator==(const CommunicationShape&) const = default;
};

// Of an all-to-all: what goes from one rank to another.
std::int64_t bytes_of_pair(const CommunicationShape& call, std::size_t from, std::size_t to,
                           std::size_t ranks);

// Of a call whose rows are put one by one: how many go from each rank to each.
std::vector<std::int64_t> rows_put(const CommunicationShape& call, std::size_t ranks);

using OpShape = std::variant<GemmShape, AttentionShape, EmbeddingShape, StreamShape, RecordedShape,
                             CommunicationShape>;

// GPUs, by group and rank. For computing operators groups matter only if fused with a collective.
struct Groups {
  std::vector<std::vector<std::uint32_t>> groups;
  bool operator==(const Groups&) const = default;
};

// Of all its groups.
std::size_t gpus_in(const Groups& place);

// A unit that recurs in the graph, such as a layer of one microbatch. Nothing in it waits for an
// operator after it in the graph, so that it can be run by itself, from start to end.
struct Block {
  std::string name;  // "stage 1, microbatch 3: forward of layer 7"
  int layer = -1;    // of a decoder; -1: none
};

// A receive whose kernel is on CUs before there is anything to receive.
struct PostedReceive {
  Bytes size;
  bool between_nodes = false;
  bool operator==(const PostedReceive&) const = default;
};

struct ModelOp {
  std::string name;  // "mlp_up"; the same in all layers, so that reports add them up
  std::string part;  // what reports count it as: "embedding", "mlp", "attention", "all_reduce"
  OpShape shape;
  Boxed<DescribedKernel> described = {};  // of single operators, instead of a library's
  PlaceId place;                          // on which GPUs
  std::uint32_t stream = 0;  // 0 computes. A GPU's operators of one stream run in graph order
  std::vector<OpId> after;   // earlier operators that it waits for besides, on the same GPU
  BlockId block = BlockId::none();
  Boxed<PostedReceive> beside = {};  // waits on the GPU's CUs while this computes
  std::uint64_t layer_rules = 0;     // rules_of_layer() of pair_rules.h
};

// There are tens of thousands in a recorded trace.
static_assert(sizeof(ModelOp) <= 264);

// Whether its WGs are those of a row of operators.h.
[[nodiscard]] inline bool is_described(const ModelOp& op) {
  return op.described && op.described->kind != nullptr;
}

// Whether both do the same, wherever they are and whatever they wait for.
bool do_the_same(const ModelOp& a, const ModelOp& b);

struct ModelGraph {
  IdVector<PlaceId, Groups> places;
  IdVector<BlockId, Block> blocks;
  IdVector<OpId, ModelOp> ops;

  // The index of these groups; groups recur, so each is kept once.
  PlaceId add_place(const Groups& groups);
  OpId add(ModelOp op) { return ops.push_back(std::move(op)); }

  // Aborts unless the graph makes sense: ids in range, dependencies point backwards, no GPU twice
  // in a place, collectives have groups of two or more, blocks contiguous on each of their streams.
  void verify() const;
};

[[nodiscard]] bool communicates(const ModelOp& op);

// Of one GPU (of rank 0 if ranks differ); a multiply-add counts as two.
Flops flops_of(const OpShape& shape);

// What --stop-after=model prints: one operator per line, with shape, GPUs and what it waits for.
std::string to_text(const ModelGraph& graph);

}  // namespace weft
