// A decoder of language: what must divide among the GPUs that share it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/check.h"
#include "sim/scenario/decoder_size.h"

namespace weft::rules {
namespace {

const TransformerSpec& spec_of(const Check& check) { return check.scenario.workload.transformer; }

std::string nearest_divisors(std::int64_t whole, std::int64_t value) {
  return "; nearest: " + divisors_around(whole, value);
}

void it_trains_or_decodes(const Check& check) {
  if (check.scenario.workload.phase != Phase::inference) return;
  check.fail("workload.phase",
             "a decoder has the phases training, prefill and decode; inference belongs to dlrm");
}

void parallel_sizes_multiply_to_the_gpus(const Check& check) {
  const ParallelSpec& p = spec_of(check).parallel;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  const std::int64_t others = std::int64_t{p.tensor} * p.context * p.pipeline;
  if (others * p.data == gpus) return;
  const bool shares = p.context > 1;
  check.fail("workload.parallel",
             "tensor " + text(p.tensor) + (shares ? " x context " + text(p.context) : "") +
                 " x data " + text(p.data) + " x pipeline " + text(p.pipeline) + " = " +
                 text(others * p.data) + " GPUs, but the cluster has " + text(gpus) +
                 (gpus % others == 0 ? "; data: " + text(gpus / others) + " would be right"
                                     : std::string("; tensor x ") + (shares ? "context x " : "") +
                                           "pipeline must divide that"));
}

void heads_divide(const Check& check) {
  const DecoderSpec& d = spec_of(check).decoder;
  const int tensor = spec_of(check).parallel.tensor;
  if (d.heads % tensor != 0) {
    check.fail("workload.parallel.tensor", text(d.heads) + " heads do not divide among " +
                                               text(tensor) + " GPUs" +
                                               nearest_divisors(d.heads, tensor));
  }
  if (d.latent) {
    if (d.latent->position < d.head_dim) return;
    return check.fail("workload.model.latent.position",
                      text(d.latent->position) + " of a head's " + text(d.head_dim) +
                          " elements; at most " + text(d.head_dim - 1));
  }
  if (d.heads % d.kv_heads != 0) {
    check.fail("workload.model.kv_heads", text(d.kv_heads) + " do not divide the " + text(d.heads) +
                                              " query heads" +
                                              nearest_divisors(d.heads, d.kv_heads));
  }
  if (d.kv_heads % tensor == 0 || tensor % d.kv_heads == 0) return;
  check.fail("workload.parallel.tensor", text(d.kv_heads) + " heads of keys and values among " +
                                             text(tensor) + " GPUs: neither divides the other" +
                                             nearest_divisors(d.kv_heads, tensor));
}

// A GPU has two chunks of each sequence; with ulysses, consecutive tokens. With all_gather a chunk
// attends, on average over all, to a whole number of chunks and a half.
void chunks_divide(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const ParallelSpec& p = spec.parallel;
  if (p.context == 1 || check.scenario.workload.phase == Phase::decode) return;
  const bool consecutive = p.context_exchange == ContextExchange::ulysses;
  const bool halves = p.context_exchange == ContextExchange::all_gather;
  const std::int64_t step = std::int64_t{p.context} * (consecutive ? 1 : halves ? 4 : 2);
  if (spec.length % step == 0) return;
  check.fail("workload.sequence_length",
             text(spec.length) + " tokens do not divide among " + text(p.context) +
                 " GPUs that share a sequence" +
                 (consecutive ? ""
                  : halves    ? ", each of which has two chunks of an even number"
                              : ", each of which has two chunks") +
                 " (parallel.context); nearest: " + multiples_around(spec.length, step));
}

void one_token_is_not_shared(const Check& check) {
  if (spec_of(check).parallel.context == 1 || check.scenario.workload.phase != Phase::decode) {
    return;
  }
  check.fail("workload.parallel.context",
             "one new token of a sequence is not shared: phase decode has no context parallelism; "
             "use parallel.data or parallel.tensor");
}

// Ulysses: a GPU has whole heads, or heads of keys and values that others have as well.
void exchanged_heads_divide(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const ParallelSpec& p = spec.parallel;
  if (p.context == 1 || p.context_exchange != ContextExchange::ulysses) return;
  const DecoderSpec& d = spec.decoder;
  if (d.heads % p.tensor != 0) return;  // said elsewhere
  const auto fail = [&](std::int64_t heads, const char* what) {
    check.fail("workload.parallel.context",
               text(heads) + what + " of a tensor-parallel GPU do not divide among " +
                   text(p.context) + " GPUs (context_exchange: ulysses)" +
                   nearest_divisors(heads, p.context) + "; or use ring or all_gather");
  };
  const HeadShare own = heads_of(d, p.tensor);
  if (own.heads % p.context != 0) return fail(own.heads, " heads");
  if (d.latent || own.kv_heads % p.context == 0 || p.context % own.kv_heads == 0) return;
  fail(own.kv_heads, " heads of keys and values");
}

// Rings pass all keys and values to all (as Transformer Engine, which refuses it too).
void rings_have_no_window(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const ParallelSpec& p = spec.parallel;
  const std::int64_t window = spec.decoder.window;
  if (p.context == 1 || p.context_exchange != ContextExchange::ring) return;
  if (window == 0 || window >= spec.length) return;
  check.fail("workload.parallel.context_exchange",
             "ring: layers with a window of " + text(window) + " of " + text(spec.length) +
                 " tokens (model.window) do not need what comes round; use all_gather or ulysses");
}

void feed_forwards_divide(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const int tensor = spec.parallel.tensor;
  const auto divides = [&](int inner, const char* key) {
    if (inner % tensor == 0) return;
    check.fail(key, text(inner) + " elements do not divide among " + text(tensor) +
                        " tensor-parallel GPUs; nearest: " + multiples_around(inner, tensor));
  };
  if (!spec.moe || spec.moe->dense_layers > 0) divides(spec.decoder.inner, "workload.model.inner");
  if (spec.moe) divides(spec.moe->shared_inner, "workload.moe.shared_inner");
}

void further_tokens_can_be_predicted(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  if (spec.mtp_modules == 0) return;
  const int tensor = spec.parallel.tensor;
  if (spec.decoder.hidden % tensor != 0) {
    check.fail("workload.model.hidden", text(spec.decoder.hidden) +
                                            " elements do not divide among " + text(tensor) +
                                            " tensor-parallel GPUs, which share the product of "
                                            "mtp_layers; nearest: " +
                                            multiples_around(spec.decoder.hidden, tensor));
  }
  if (!spec.parallel.shards(Sharding::parameters)) return;
  check.fail("workload.parallel.shard",
             std::string("parameters: not with model.mtp_layers, whose gathers are not modelled; "
                         "use shard: ") +
                 (spec.parallel.pipeline > 1 ? "optimizer" : "gradients") + ", or 'mtp_layers: ~'");
}

void the_schedule_can_be_made(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  if (check.scenario.workload.phase != Phase::training || spec.parallel.pipeline == 1) return;
  if (spec.sequences % (spec.microbatch * spec.parallel.data) != 0) return;  // said elsewhere
  const ScheduleRow& row = schedule_row(spec.parallel.schedule);
  const std::string obstacle = row.obstacle(pipeline_of(spec, true));
  if (obstacle.empty()) return;
  check.fail("workload.parallel.schedule", std::string(row.word) + ": " + obstacle);
}

void sequences_divide_into_microbatches(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const std::int64_t step = spec.microbatch * spec.parallel.data;
  if (spec.sequences % step == 0) return;
  check.fail("workload.sequences",
             text(spec.sequences) + " do not divide among " + text(spec.parallel.data) +
                 " copies of the model in microbatches of " + text(spec.microbatch) +
                 "; nearest: " + multiples_around(spec.sequences, step));
}

// Where each GPU of a tensor-parallel group takes some of the tokens.
void tokens_divide(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const int tensor = spec.parallel.tensor;
  if (tensor == 1 || (!spec.parallel.sequence && !spec.moe)) return;
  const bool decodes = check.scenario.workload.phase == Phase::decode;
  const std::int64_t tokens = decodes ? spec.microbatch : spec.length;
  const int context = decodes ? 1 : spec.parallel.context;
  const std::int64_t sharers = std::int64_t{tensor} * context;
  if (tokens % sharers == 0) return;
  check.fail(decodes ? "workload.microbatch" : "workload.sequence_length",
             text(tokens) + " tokens do not divide among " + text(tensor) +
                 (context > 1 ? " x " + text(context) + " tensor- and context-parallel GPUs"
                              : " tensor-parallel GPUs") +
                 ", each of which sends some" +
                 (spec.parallel.sequence ? " (parallel.sequence)" : " to the experts") +
                 "; nearest: " + multiples_around(tokens, sharers));
}

void it_runs_on_matrix_units(const Check& check) {
  if (spec_of(check).decoder.dtype != DataType::fp32) return;
  check.fail("workload.model.dtype",
             "the GPU's file has no matrix rate for fp32; use bf16 or fp16");
}

// Experts whose tokens come in fp8 multiply them so, too.
void the_gpu_multiplies_fp8(const Check& check) {
  if (check.scenario.cluster.gpu.fp8_matrix.count() > 0) return;
  constexpr const char* kNone =
      "the GPU's matrix units have no fp8 (cluster.gpu.fp8_matrix: 0 TFLOP/s); use ";
  const TransformerSpec& spec = spec_of(check);
  if (spec.fp8 != Fp8Scales::none) check.fail("workload.fp8", kNone + std::string("none"));
  if (spec.moe && spec.moe->dispatch == DispatchType::fp8) {
    check.fail("workload.moe.dispatch_dtype", kNone + std::string("model"));
  }
}

// Rows that come to experts have a scale for each 128 elements.
void experts_multiply_what_comes(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  if (!spec.moe || spec.moe->dispatch != DispatchType::fp8) return;
  if (spec.fp8 == Fp8Scales::none || spec.fp8 == Fp8Scales::block) return;
  check.fail("workload.moe.dispatch_dtype",
             "fp8: tokens come with a scale for each 128 elements, which products by tensor or row "
             "do not take; use workload.fp8: block or none, or dispatch_dtype: model");
}

void packed_weights_multiply_what_comes(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  if (spec.weights == WeightType::model) return;
  if (spec.moe && spec.moe->dispatch == DispatchType::fp8) {
    check.fail("workload.moe.dispatch_dtype",
               "fp8: packed weights (workload.weights) multiply tokens of the model's type; use "
               "model");
  }
  if (!spec.moe && spec.weights_of == PackedWeights::experts) {
    check.fail("workload.weights_of", "experts: the model has none; use layers");
  }
  if (check.scenario.cluster.gpu.caches) {
    check.fail(
        "workload.weights",
        "the cache model (cluster.gpu.caches) knows operands of one type only; use model, or "
        "leave out caches");
  }
}

void what_is_computed_again_is_there(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  if (spec.recompute != Recompute::selective) return;
  if (recomputed_of(spec).mla_up_proj && !spec.decoder.latent) {
    check.fail("workload.recompute_modules", "mla_up_proj: only of models with latent; remove it");
  }
  if (recomputed_of(spec).moe && !spec.moe) {
    check.fail("workload.recompute_modules", "moe: only of kind moe; did you mean mlp?");
  }
  if (recomputed_of(spec).mlp && spec.moe && spec.moe->dense_layers == 0) {
    check.fail("workload.recompute_modules",
               "mlp: every layer has experts (moe.dense_layers: 0); did you mean moe?");
  }
  if (spec.recompute_modules) return;
  check.warn("workload.recompute",
             "attention's kernel keeps no scores, so core_attn, the default, saves 4 B a head and "
             "token and computes attention once more; what saves memory is recompute_modules: "
             "[layernorm, activation" +
                 std::string(spec.decoder.latent ? ", mla_up_proj]" : "]"));
}

// Groups of copies that share what is sharded.
void shards_are_divided(const Check& check) {
  const TransformerSpec& spec = spec_of(check);
  const int all = copies_of_weights(spec.parallel);
  const int group = copies_that_share(spec.parallel);
  if (group == all) return;
  constexpr const char* kCopies = "workload.parallel.shard_copies";
  if (all % group != 0) {
    check.fail(kCopies, std::to_string(all) +
                            " copies (context x data) do not divide into groups of " +
                            std::to_string(group) + nearest_divisors(all, group));
  }
  const std::int64_t tensor = spec.parallel.tensor;
  const std::int64_t with_experts = gpus_with_experts(spec.parallel);
  if (!spec.moe || all % group != 0 || group * tensor % with_experts == 0) return;
  std::string others;
  for (int other = 2; other < all; ++other) {
    if (all % other != 0 || other * tensor % with_experts != 0) continue;
    others += (others.empty() ? "; possible: " : ", ") + std::to_string(other);
  }
  check.fail(kCopies,
             fmt::format("a group of copies has {} GPUs, which do not divide into those that have "
                         "all experts, {} (expert x expert_tensor){}",
                         group * tensor, with_experts, others));
}

// Gradients and parameters that several copies of the whole model share.
void shards_have_copies(const Check& check) {
  constexpr const char* kShard = "workload.parallel.shard";
  const ParallelSpec& p = spec_of(check).parallel;
  if (!p.shards(Sharding::gradients)) return;
  const std::string what = p.shards(Sharding::parameters) ? "parameters" : "gradients";
  if (copies_of_weights(p) == 1) {
    check.fail(kShard, what +
                           ": with parallel.data: 1 there is no other copy to share them with; "
                           "use more copies, or shard: none");
  }
  if (p.pipeline > 1 && !p.shards(Sharding::parameters)) {
    check.fail(kShard,
               "gradients: not in a pipeline, whose stages keep them whole until the last "
               "microbatch, as DeepSpeed's do; use shard: optimizer, or parameters");
  }
  if (p.pipeline > 1 && p.sums_each()) {
    check.fail("workload.parallel.gradient_sums",
               "each: only with parallel.pipeline: 1, because sums of every microbatch between the "
               "sends of a pipeline are not modelled; use last, as PyTorch's pipelines do");
  }
  if (p.shards(Sharding::parameters) && check.scenario.workload.gradient_bucket != Bytes{}) {
    check.fail("workload.gradient_bucket",
               "with parallel.shard: parameters gradients are summed layer by layer, as parameters "
               "are gathered; remove it, or use shard: gradients");
  }
}

}  // namespace

// What was read without a mistake is asked for first, so that no rule hides what another finds.
void validate_transformer(const Check& check) {
  const bool phase = check.good({"workload.phase"});
  const bool model = check.good_within({"workload.model"});
  const bool moe = check.good_within({"workload.moe"}) && spec_of(check).moe;
  const bool parallel = check.good_within({"workload.parallel"});
  const bool step =
      check.good({"workload.sequences", "workload.sequence_length", "workload.microbatch"});
  const bool gpus = check.good({"cluster.nodes", "cluster.gpus_per_node"});
  if (phase) it_trains_or_decodes(check);
  if (parallel && gpus) parallel_sizes_multiply_to_the_gpus(check);
  if (model && parallel) {
    heads_divide(check);
    exchanged_heads_divide(check);
    if (phase) further_tokens_can_be_predicted(check);
    validate_layers_of_parts(check);
  }
  if (model && parallel && (moe || !spec_of(check).moe)) feed_forwards_divide(check);
  if (step && parallel) sequences_divide_into_microbatches(check);
  if (step && parallel && phase) the_schedule_can_be_made(check);
  if (parallel && phase) one_token_is_not_shared(check);
  if (step && parallel && phase) chunks_divide(check);
  if (step && parallel && phase && model) rings_have_no_window(check);
  if (step && parallel && phase) tokens_divide(check);
  if (parallel && phase) shards_have_copies(check);
  if (parallel) shards_are_divided(check);
  if (model) it_runs_on_matrix_units(check);
  if (check.good_within({"cluster.gpu"})) the_gpu_multiplies_fp8(check);
  if (moe && check.good({"workload.fp8"})) experts_multiply_what_comes(check);
  if ((moe || !spec_of(check).moe) && check.good({"workload.weights", "workload.weights_of"}) &&
      check.good_within({"cluster.gpu"})) {
    packed_weights_multiply_what_comes(check);
  }
  if (model && check.good({"workload.recompute", "workload.recompute_modules"})) {
    what_is_computed_again_is_there(check);
  }
  if (moe) validate_experts(check, parallel, model);
  validate_transformer_size(check);
}

}  // namespace weft::rules
