// Whole models, as a scenario describes them (docs/model.md, "Whole models").
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/pipeline/pipeline.h"
#include "sim/scenario/data_type.h"

namespace weft {

// A step of training; an answer; of a language model, the prompt, or one more token of each.
enum class Phase { training, inference, prefill, decode };

// How the bottom MLP's output and the pooled rows of one sample become the top MLP's input.
enum class Interaction {
  dot,     // products of all pairs of them, behind the bottom MLP's output
  concat,  // one behind the other
  sum      // added up
};

// A recommendation model. Its tables are the EmbeddingWork next to it; both MLPs are on every GPU.
struct DlrmSpec {
  std::vector<int> bottom_mlp;  // dense features of a sample, then what each layer gives
  std::vector<int> top_mlp;     // what each layer gives; the first reads the interaction
  Interaction interaction = Interaction::dot;
  DataType mlp_dtype = DataType::bf16;
  double pooling_spread = 0;  // rows pooled vary evenly by +- this fraction
};

// Keys and values of all heads made from one short vector of each token, which is what is cached;
// queries made from another (DeepSeek's multi-head latent attention).
struct LatentSpec {
  int queries = 0;   // elements of a token's vector that its queries are made from
  int keys = 0;      // that keys and values are made from
  int position = 0;  // of a head's dimension, those that know the position, alike in all heads
};

// How often each expert is used.
enum class RouterSkew { uniform, zipf, histogram };

// How the products of a GPU's experts are computed together.
enum class ExpertKernel {
  batched,  // one kernel for products of one size
  grouped,  // one for products of several
  each      // a kernel for each expert, one after another
};

// How rows of tokens come into the order of the experts that multiply them, and back.
enum class Permutation {
  fused,        // a kernel, at the memory's speed
  in_products,  // the products' kernels find them where they lie
  index,        // by index; the way back sorts the indices and adds up
  scatter       // by index; what comes home, and the way back, by atomic additions
};

// How tokens are sent to their experts and home.
enum class TokenExchange {
  library,  // a kernel copies them, then the library's all-to-all
  put,      // a kernel puts each row of each token by itself
  once      // each token goes once to each node, and from there once to each GPU
};

// Type of tokens on their way to the experts.
enum class DispatchType { model, fp8 };

// How weights lie in memory where they are not as the model computes: 4 bits and scales, which the
// products' kernels unpack.
enum class WeightType : std::uint8_t {
  model,
  mxfp4,  // a scale of 8 bits for each 32 (OCP Microscaling Formats 1.0)
  nvfp4,  // the same for each 16
  int4    // a scale of 16 bits for each 128 (AWQ, GPTQ)
};
constexpr int bytes_of_128(WeightType type) {  // 0: as the model computes
  constexpr int kBytes[] = {0, 64 + 4, 64 + 8, 64 + 2};
  return kBytes[static_cast<std::size_t>(type)];
}
enum class PackedWeights : std::uint8_t { layers, experts };

// Whether operands are fp8, and what has a scale of its own.
enum class Fp8Scales { none, tensor, row, block };
// Where a tensor's scale is from: its own largest element, or those of earlier steps.
enum class Fp8Scaling : std::uint8_t { current, delayed };

// Which experts a token is sent to: as many go to each as expected, or they are drawn.
enum class Routing { expected, drawn };

// How GPUs know how many tokens come from each.
enum class TokenCounts { exchanged, known };

// Feed-forward layers as experts, of which each token goes through a few.
struct MoeSpec {
  int experts = 0;
  int top_k = 0;
  int groups = 1;        // of experts with consecutive numbers ...
  int top_groups = 1;    // ... of which a token takes so many
  int inner = 0;         // of one expert
  int shared_inner = 0;  // of what every token goes through besides; 0: nothing
  int dense_layers = 0;  // the first so many have no experts but the model's own feed-forward
  ExpertKernel kernel = ExpertKernel::batched;
  RouterSkew skew = RouterSkew::uniform;
  double exponent = 0;           // Zipf: the i-th expert is asked for as often as i^-exponent
  std::vector<int> histogram{};  // how often each expert is asked for
  Routing routing = Routing::expected;
  TokenExchange exchange = TokenExchange::library;
  Permutation permutation = Permutation::fused;  // with `library`
  int exchange_cus = 0;                          // that put; 0: all
  DispatchType dispatch = DispatchType::model;
  TokenCounts counts = TokenCounts::known;
  double capacity = 0;  // times an even share that one expert takes; 0: what comes
};

// A decoder-only language model.
struct DecoderSpec {
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int value_head_dim = 0;
  int inner = 0;      // of the feed-forward
  bool gated = true;  // two products side by side, one gating the other
  int vocabulary = 0;
  bool tied = false;  // the head's weights are the embedding's
  int positions = 0;  // learned ones; 0: rotary
  DataType dtype = DataType::bf16;
  std::optional<LatentSpec> latent;
  // Of layers with a window a token sees that many, itself included; 0: no layer has one.
  std::int64_t window = 0;
  int full_every = 0;    // each so many-th layer has none; 0: all have it
  int mtp_layers = 0;    // modules that predict a further token each, in training
  bool dropout = false;  // in training, of embedded tokens and of what each half of a layer adds
};

// How GPUs that share a sequence attend to one another's tokens.
enum class ContextExchange {
  all_gather,  // each gets the keys and values of all
  ring,        // keys and values go round, beside the attention to those that are there
  ulysses      // heads are exchanged for tokens, and back
};

// What copies of the model share instead of each keeping all of it: stages 1 to 3 of ZeRO
// (arXiv:1910.02054), each with those before it.
enum class Sharding : std::uint8_t { none, optimizer, gradients, parameters };

// After which microbatch gradients that copies share are summed.
enum class GradientSums : std::uint8_t { each, last };

// tensor x context x data x pipeline GPUs; `expert` x `expert_tensor` of those of one stage share
// the experts.
struct ParallelSpec {
  int tensor = 1;
  int context = 1;  // that share each sequence
  ContextExchange context_exchange = ContextExchange::ring;
  int data = 1;
  int pipeline = 1;
  Schedule schedule = Schedule::one_forward_one_backward;
  int virtual_stages = 1;  // of each stage
  int first_layers = -1;   // of the pipeline's first part; -1: as many as others
  int last_layers = -1;    // of its last
  std::vector<std::int64_t> layers_of_parts = {};  // of each; empty: as the two above say
  SendOrder sends = SendOrder::free;
  int expert = 1;
  int expert_tensor = 1;           // neighbours that split each expert's matrices
  bool sequence = false;           // between tensor-parallel layers each GPU keeps its tokens only
  bool sharded_optimizer = false;  // the older key: whether `shard` is more than none
  Sharding shard = Sharding::none;
  int shard_copies = 0;               // neighbouring copies that share; 0: all
  int prefetch = 1;                   // layers ahead whose parameters are gathered
  bool reshard_after_forward = true;  // parameters are gathered again for the backward pass
  GradientSums gradient_sums = GradientSums::each;
  [[nodiscard]] bool shards(Sharding what) const { return shard >= what; }
  // Whether the copies' gradients are summed after each microbatch; else its own are added up.
  [[nodiscard]] bool sums_each() const {
    return shards(Sharding::gradients) && gradient_sums == GradientSums::each;
  }
};

// Of a stage, those with the same weights; and all.
inline int copies_of_weights(const ParallelSpec& parallel) {
  return parallel.context * parallel.data;
}
// Of these, those that share what is sharded.
inline int copies_that_share(const ParallelSpec& parallel) {
  return parallel.shard_copies > 0 ? parallel.shard_copies : copies_of_weights(parallel);
}
// That together have all experts of a stage.
inline std::int64_t gpus_with_experts(const ParallelSpec& parallel) {
  return std::int64_t{parallel.expert} * parallel.expert_tensor;
}
// Of a node, those that exchange tokens: they have the same part of each expert.
inline int exchanging_of_node(const ParallelSpec& parallel, int gpus_per_node) {
  return std::clamp(gpus_per_node / parallel.expert_tensor, 1, parallel.expert);
}
inline int gpus_of_stage(const ParallelSpec& parallel) {
  return parallel.tensor * copies_of_weights(parallel);
}
// Of a stage, those with the same part of the same experts.
inline int copies_of_expert_weights(const ParallelSpec& parallel) {
  return static_cast<int>(gpus_of_stage(parallel) / gpus_with_experts(parallel));
}

// Of these, in a group of copies that share; 1: it has each expert once.
inline int expert_copies_that_share(const ParallelSpec& parallel) {
  const std::int64_t gpus = std::int64_t{copies_that_share(parallel)} * parallel.tensor;
  return std::max(1, static_cast<int>(gpus / gpus_with_experts(parallel)));
}

enum class Recompute { none, selective, layer };

// Parts of a layer that the backward pass can compute again by themselves (Megatron-LM's
// --recompute-modules; its moe_act is of experts only).
enum class RecomputeModule : std::uint8_t {
  core_attn,
  layernorm,
  activation,
  mla_up_proj,
  mlp,
  moe
};

// Which of them it does.
struct Recomputed {
  bool core_attn = false;
  bool layernorm = false;
  bool activation = false;
  bool mla_up_proj = false;
  bool mlp = false;  // of layers without experts
  bool moe = false;  // of layers with them
};

struct TransformerSpec {
  DecoderSpec decoder;
  std::optional<MoeSpec> moe;
  ParallelSpec parallel;
  std::int64_t sequences = 0;  // of all GPUs together
  std::int64_t length = 0;     // tokens of each; decode: that the new one looks at, itself included
  std::int64_t microbatch = 0;      // sequences that go through the pipeline together
  int mtp_modules = 0;              // decoder.mtp_layers, where it trains
  Fp8Scales fp8 = Fp8Scales::none;  // of layers' products, forward and backward
  Fp8Scaling fp8_scaling = Fp8Scaling::current;
  WeightType weights = WeightType::model;  // of layers' products, where nothing is trained
  PackedWeights weights_of = PackedWeights::layers;
  Recompute recompute = Recompute::none;
  std::optional<std::vector<RecomputeModule>> recompute_modules;  // none: Megatron-LM's default
};

// What a workload has of each.
struct ModelSpecs {
  DlrmSpec dlrm;
  TransformerSpec transformer;  // of kind moe too
};

}  // namespace weft
