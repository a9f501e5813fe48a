// The keys of decoders of language.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/model_kind.h"
#include "sim/scenario/model_names.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

constexpr Range<int> kSize{1, 10'000'000};
constexpr Range<int> kHeads{1, 65'536};
constexpr Range<int> kHeadDim{1, 65'536};
constexpr Range<int> kLayers{1, 10'000};

void latent_fields(Fields& map, LatentSpec& latent) {
  map.add("queries", latent.queries,
          {.help = "elements of the short vector from which a token's queries are made",
           .range = kSize});
  map.add("keys", latent.keys,
          {.help = "elements of the short vector from which its keys and values are made",
           .range = kSize});
  map.add("position", latent.position,
          {.help = "part of head_dim that encodes the position, the same in all heads",
           .range = kHeadDim});
}

void head_fields(Fields& map, DecoderSpec& decoder) {
  map.add("heads", decoder.heads, {.help = "query heads", .range = kHeads});
  map.optional_map("latent", decoder.latent, "keys and values come from one short vector per token",
                   latent_fields);
  map.only_if(!decoder.latent, "models without latent")
      .add("kv_heads", decoder.kv_heads,
           {.help = "heads of keys and values; default: same as heads",
            .range = kHeads,
            .fallback = decoder.heads,
            .means = "optional"});
  map.add("head_dim", decoder.head_dim,
          {.help = "elements of a head's query and key; default: hidden / heads",
           .range = kHeadDim,
           .fallback = std::max(1, decoder.hidden / std::max(1, decoder.heads)),
           .means = "optional"});
  map.add("value_head_dim", decoder.value_head_dim,
          {.help = "elements of a head's value; default: head_dim",
           .range = kHeadDim,
           .fallback = decoder.head_dim,
           .means = "optional"});
}

void window_fields(Fields& map, DecoderSpec& decoder) {
  map.add("window", decoder.window,
          {.help = "tokens that a token attends to, itself included (sliding window); default: all "
                   "before it",
           .range = {{1, 100'000'000}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.only_if(decoder.window > 0, "models with a window")
      .add("full_every", decoder.full_every,
           {.help = "every so many-th layer attends to all tokens, without the window; default: "
                    "none does",
            .range = {{2, 10'000}},
            .fallback = 0,
            .means = "optional",
            .quiet = true});
}

void decoder_fields(Fields& map, DecoderSpec& decoder, std::optional<bool> has_dense_layers) {
  map.add("layers", decoder.layers, {.help = "layers", .range = kLayers});
  map.add("hidden", decoder.hidden, {.help = "elements of a token between layers", .range = kSize});
  head_fields(map, decoder);
  window_fields(map, decoder);
  map.only_if(has_dense_layers, "layers without experts")
      .add("inner", decoder.inner, {.help = "elements inside the feed-forward", .range = kSize});
  map.choice("gated", decoder.gated, names::kTruths,
             {.help = "whether one product of the feed-forward gates another", .fallback = true});
  map.add("vocabulary", decoder.vocabulary, {.help = "number of distinct tokens", .range = kSize});
  map.choice("tied", decoder.tied, names::kTruths,
             {.help = "whether the head's weights are the embedding's", .fallback = false});
  map.add("mtp_layers", decoder.mtp_layers,
          {.help = "training: modules that predict a further token each (multi-token prediction), "
                   "a layer with the head's product once more; default: none",
           .range = {{1, 16}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.choice("dropout", decoder.dropout, names::kTruths,
             {.help = "training: whether elements of embedded tokens, and of what each half of a "
                      "layer adds to them, are dropped, by masks that are kept",
              .fallback = false,
              .quiet = true});
  map.add("positions", decoder.positions,
          {.help = "learned position embeddings; default: none (rotary)",
           .range = kSize,
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.choice("dtype", decoder.dtype, names::kDataTypes,
             {.help = "type of weights and activations", .fallback = DataType::bf16});
}

void moe_fields(Fields& map, MoeSpec& moe) {
  map.add("experts", moe.experts, {.help = "experts per layer", .range = {{1, 65'536}}});
  map.add("top_k", moe.top_k,
          {.help = "experts that a token goes through", .range = {{1, 65'536}}});
  map.add("groups", moe.groups,
          {.help = "groups of experts with consecutive numbers; 1: a token takes any experts",
           .range = {{1, 65'536}},
           .fallback = 1,
           .quiet = true});
  map.only_if(moe.groups > 1, "moe.groups above 1")
      .add("top_groups", moe.top_groups,
           {.help = "groups that a token takes its experts from, those of its best experts",
            .range = {{1, 65'536}}});
  map.add("inner", moe.inner, {.help = "elements inside one expert", .range = kSize});
  map.add(
      "shared_inner", moe.shared_inner,
      {.help =
           "elements inside the shared expert that every token also goes through; default: none",
       .range = kSize,
       .fallback = 0,
       .means = "optional",
       .quiet = true});
  map.add("dense_layers", moe.dense_layers,
          {.help = "number of first layers that have model.inner instead of experts; default: none",
           .range = kLayers,
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.choice("kernel", moe.kernel, names::kExpertKernels,
             {.help = "kernel that computes the products of all experts of a GPU",
              .fallback = ExpertKernel::batched});
  map.choice("router", moe.skew, names::kRouterSkews,
             {.help = "how often each expert is used", .fallback = RouterSkew::uniform});
  map.where("router", {"zipf"})
      .add("exponent", moe.exponent,
           {.help = "the i-th expert is used in proportion to i^-exponent",
            .range = {{0, 10}},
            .fallback = 1});
  map.where("router", {"histogram"})
      .list("histogram", moe.histogram, {0, 1'000'000'000}, {1, 65'536},
            "how often each expert is used, in any unit");
  map.add(
      "capacity", moe.capacity,
      {.help =
           "tokens that an expert accepts from a GPU, as a multiple of an even share; 0: no limit",
       .range = {{0, 1'000'000}},
       .fallback = 0});
  map.choice("routing", moe.routing, names::kRoutings,
             {.help = "which experts a token is sent to", .fallback = Routing::expected});
  map.choice("exchange", moe.exchange, names::kTokenExchanges,
             {.help = "how tokens are sent to their experts and home",
              .fallback = TokenExchange::library});
  map.where("exchange", {"put", "once"})
      .add("exchange_cus", moe.exchange_cus,
           {.help =
                "CUs whose WGs put, or half of which send and half forward and receive; default: "
                "all",
            .range = {{moe.exchange == TokenExchange::once ? 2 : 1, 100'000}},
            .fallback = 0,
            .means = "optional",
            .quiet = true});
  map.where("exchange", {"library"})
      .choice("counts", moe.counts, names::kTokenCounts,
              {.help = "how a GPU knows how many tokens will come from each; those that are put "
                       "say so themselves",
               .fallback = TokenCounts::known});
  map.where("exchange", {"library"})
      .choice(
          "permutation", moe.permutation, names::kPermutations,
          {.help = "how rows of tokens come into the order of the experts of each GPU, and back",
           .fallback = Permutation::fused});
  map.choice("dispatch_dtype", moe.dispatch, names::kDispatchTypes,
             {.help = "type of tokens on their way to the experts, and of what these multiply",
              .fallback = DispatchType::model});
}

// The words of all schedules, and of some.
const std::vector<Choice<Schedule>>& schedule_choices() {
  static const std::vector<Choice<Schedule>> all = [] {
    std::vector<Choice<Schedule>> choices;
    for (const ScheduleRow& row : schedules()) {
      choices.push_back({row.word, row.schedule, row.meaning});
    }
    return choices;
  }();
  return all;
}
template <class Holds>
std::vector<std::string_view> schedules_that(const Holds& holds) {
  std::vector<std::string_view> words;
  for (const ScheduleRow& row : schedules()) {
    if (holds(row)) words.push_back(row.word);
  }
  return words;
}

void schedule_fields(Fields& map, ParallelSpec& parallel, std::optional<bool> trains) {
  const std::optional<bool> holds =
      trains ? std::optional<bool>(*trains && parallel.pipeline > 1) : std::nullopt;
  map.only_if(holds, "training with parallel.pipeline above 1")
      .choice("schedule", parallel.schedule, std::span(schedule_choices()),
              {.help = "in which order stages come to microbatches",
               .fallback = Schedule::one_forward_one_backward,
               .quiet = true});
  map.where("schedule",
            schedules_that([](const ScheduleRow& row) { return row.virtual_stages == 0; }))
      .add("virtual_stages", parallel.virtual_stages,
           {.help = "parts of the model on each stage", .range = {{2, 10'000}}, .fallback = 2});
  map.where("schedule", schedules_that(has_a_choice_of_sends))
      .choice("sends", parallel.sends, names::kSendOrders,
              {.help = "how a GPU's sends and receives follow one another",
               .fallback = SendOrder::free,
               .quiet = true});
  const auto ends = [&](std::string_view key, int& member, std::string_view help) {
    map.only_if(parallel.pipeline > 1, "parallel.pipeline above 1")
        .add(key, member,
             {.help = help,
              .range = {{0, 10'000}},
              .fallback = -1,
              .means = "optional",
              .quiet = true});
  };
  ends("first_layers", parallel.first_layers,
       "layers of the pipeline's first part, which has the embedding; default: as others");
  ends("last_layers", parallel.last_layers,
       "layers of its last part, which has the head; default: as others");
  map.only_if(parallel.pipeline > 1, "parallel.pipeline above 1")
      .list_or_none("layers_of_parts", parallel.layers_of_parts, {0, 10'000},
                    "layers of each part of the pipeline (pipeline x virtual_stages of them) in "
                    "order, model.layers together; the first and last may have none; instead of "
                    "first_layers and last_layers");
  const int fixed = schedule_row(parallel.schedule).virtual_stages;
  if (fixed > 0) parallel.virtual_stages = fixed;
}

// What the copies of the model share. `sharded_optimizer` is older: it says the first step.
void shard_fields(Fields& map, ParallelSpec& parallel, std::optional<bool> trains) {
  Fields training = map.only_if(trains, "phase: training");
  training.choice(
      "sharded_optimizer", parallel.sharded_optimizer, names::kTruths,
      {.help = "whether each copy updates only its part of the weights", .fallback = false});
  training.choice("shard", parallel.shard, names::kShards,
                  {.help = "what the copies of the model share instead of each having all of it",
                   .fallback = parallel.sharded_optimizer ? Sharding::optimizer : Sharding::none,
                   .means = "as sharded_optimizer",
                   .quiet = true});
  training.only_if(parallel.shards(Sharding::optimizer), "shard above none")
      .add("shard_copies", parallel.shard_copies,
           {.help = "neighbouring copies that share among themselves; gradients are then summed "
                    "over their groups (FSDP's hybrid sharding, Megatron-LM's instances of a "
                    "distributed optimizer); default: all",
            .range = {{2, 65'536}},
            .fallback = 0,
            .means = "optional",
            .quiet = true});
  Fields gathered = map.where("shard", {"parameters"});
  gathered.add("prefetch", parallel.prefetch,
               {.help = "layers ahead of the one that computes whose parameters are gathered",
                .range = {{0, 10'000}},
                .fallback = 1});
  gathered.choice("reshard_after_forward", parallel.reshard_after_forward, names::kTruths,
                  {.help = "whether a layer's parameters are freed after its forward pass and "
                           "gathered again for its backward pass",
                   .fallback = true});
  map.where("shard", {"gradients", "parameters"})
      .choice("gradient_sums", parallel.gradient_sums, names::kGradientSums,
              {.help = "after which microbatch gradients are summed; default: each, in a pipeline "
                       "last (FSDP's set_requires_gradient_sync, as PyTorch's pipelines use it)",
               .fallback = parallel.pipeline > 1 ? GradientSums::last : GradientSums::each,
               .means = "as the pipeline has it",
               .quiet = true});
  const bool shares = parallel.shards(Sharding::optimizer);
  if (map.gives("sharded_optimizer") && parallel.sharded_optimizer != shares) {
    map.fail("shard", std::string("contradicts sharded_optimizer: ") + (shares ? "false" : "true") +
                          "; remove that, or if it comes from a base write "
                          "'sharded_optimizer: ~'");
  }
  parallel.sharded_optimizer = shares;
}

void parallel_fields(Fields& map, ParallelSpec& parallel, const Fields& workload) {
  constexpr Range<int> kGpus{1, 65'536};
  map.add("tensor", parallel.tensor,
          {.help = "neighbouring GPUs that share each layer", .range = kGpus, .fallback = 1});
  map.add("context", parallel.context,
          {.help = "GPUs that share each sequence",
           .range = {{1, 4'096}},
           .fallback = 1,
           .quiet = true});
  map.only_if(parallel.context > 1, "parallel.context above 1")
      .choice(
          "context_exchange", parallel.context_exchange, names::kContextExchanges,
          {.help = "how they attend to one another's tokens", .fallback = ContextExchange::ring});
  map.add("data", parallel.data, {.help = "copies of the model", .range = kGpus, .fallback = 1});
  map.add("pipeline", parallel.pipeline,
          {.help = "pipeline stages", .range = kGpus, .fallback = 1});
  schedule_fields(map, parallel, workload.says("phase", {"training"}));
  Fields experts = map.only_if(workload.says("kind", {"moe"}), "kind: moe");
  experts.add("expert", parallel.expert,
              {.help = "GPUs of a stage that share the experts", .range = kGpus, .fallback = 1});
  experts.add("expert_tensor", parallel.expert_tensor,
              {.help = "neighbouring GPUs that split each expert's matrices (Megatron-LM's "
                       "expert-tensor-parallel-size); expert x expert_tensor GPUs have all experts",
               .range = kGpus,
               .fallback = 1,
               .quiet = true});
  map.only_if(parallel.tensor > 1, "parallel.tensor above 1")
      .choice(
          "sequence", parallel.sequence, names::kTruths,
          {.help =
               "sequence parallelism: between a layer's parts each GPU keeps only its own tokens",
           .fallback = false});
  shard_fields(map, parallel, workload.says("phase", {"training"}));
}

void expert_fields(Fields& map, std::optional<MoeSpec>& experts) {
  MoeSpec moe = experts.value_or(MoeSpec{});
  map.where("kind", {"moe"}).map("moe", "the mixture of experts", [&](Fields& inner) {
    moe_fields(inner, moe);
  });
  if (map.says("kind", {"moe"}).value_or(false)) experts = std::move(moe);
}

// Whether there are layers without experts; nothing where the kind is not known.
std::optional<bool> has_dense_layers(const Fields& map, const std::optional<MoeSpec>& experts) {
  const std::optional<bool> is_moe = map.says("kind", {"moe"});
  if (!is_moe) return std::nullopt;
  return !*is_moe || (experts && experts->dense_layers > 0);
}

void step_fields(Fields& map, TransformerSpec& spec) {
  constexpr Range<std::int64_t> kTokens{1, 100'000'000};
  map.add("sequences", spec.sequences,
          {.help = "sequences per step, of all GPUs together", .range = kTokens});
  map.add("sequence_length", spec.length,
          {.help = "tokens per sequence; decode: tokens that a new one attends to, itself included",
           .range = kTokens});
  map.add("microbatch", spec.microbatch,
          {.help = "sequences that go through a copy of the model together", .range = kTokens});
  map.choice("fp8", spec.fp8, names::kFp8Scales,
             {.help = "products of layers (not router, embedding, head) in fp8, whose operands "
                      "kernels of their own cast; what has a scale of its own",
              .fallback = Fp8Scales::none});
  map.where("fp8", {"tensor"})
      .choice("fp8_scaling", spec.fp8_scaling, names::kFp8Scalings,
              {.help = "what a tensor's scale is made from",
               .fallback = Fp8Scaling::current,
               .quiet = true});
  const bool plain = spec.fp8 == Fp8Scales::none;
  const std::optional<bool> trains = map.says("phase", {"training"});
  const std::optional<bool> packs = trains ? std::optional<bool>(!*trains && plain) : std::nullopt;
  map.only_if(packs, "phase: prefill or decode, with fp8: none")
      .choice("weights", spec.weights, names::kWeightTypes,
              {.help = "how weights of layers' products lie in memory, which multiply as the model "
                       "computes",
               .fallback = WeightType::model,
               .quiet = true});
  map.only_if(packs ? std::optional<bool>(*packs && spec.weights != WeightType::model) : packs,
              "weights: mxfp4, nvfp4 or int4")
      .choice("weights_of", spec.weights_of, names::kPackedWeights,
              {.help = "which of them do", .fallback = PackedWeights::layers, .quiet = true});
  map.where("phase", {"training"}, "phase: training of a transformer")
      .choice("recompute", spec.recompute, names::kRecomputes,
              {.help = "what the backward pass recomputes instead of keeping it",
               .fallback = Recompute::none});
  map.where("recompute", {"selective"})
      .choices("recompute_modules", spec.recompute_modules, names::kRecomputeModules,
               "[core_attn], as Megatron-LM's",
               "parts of each layer that the backward pass recomputes");
}

}  // namespace

void transformer_fields(Fields& map, Workload& workload) {
  TransformerSpec& spec = workload.transformer;
  Fields own = map.where("kind", words_of(model_kinds::decoder));
  // The experts say whether there are layers without: they are read first, and written after.
  if (!map.writes()) expert_fields(map, spec.moe);
  own.map("model", "decoder-only language model", [&](Fields& inner) {
    decoder_fields(inner, spec.decoder, has_dense_layers(map, spec.moe));
  });
  if (map.writes()) expert_fields(map, spec.moe);
  own.map_of_defaults(
      "parallel",
      "how the GPUs share the model; tensor x context x data x pipeline is the number of GPUs",
      [&](Fields& inner) { parallel_fields(inner, spec.parallel, map); });
  step_fields(own, spec);
  spec.mtp_modules = map.says("phase", {"training"}).value_or(false) ? spec.decoder.mtp_layers : 0;
}

}  // namespace weft
