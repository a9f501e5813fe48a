// Keys of decoders of language.
#include <algorithm>

#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kSize{1, 10'000'000};
constexpr Range<std::int64_t> kHeads{1, 65'536};
constexpr Range<std::int64_t> kHeadDim{1, 65'536};

LatentSpec read_latent(MapReader map) {
  const LatentSpec latent{
      .queries = map.count("queries", kSize, "elements that a token's queries are made from"),
      .keys = map.count("keys", kSize, "elements that its keys and values are made from"),
      .position = map.count("position", kHeadDim,
                            "of head_dim, what knows the position, alike in all heads")};
  map.finish();
  return latent;
}

DecoderSpec read_decoder(MapReader map, std::optional<bool> has_dense_layers) {
  DecoderSpec decoder;
  decoder.layers = map.count("layers", {1, 10'000}, "layers");
  decoder.hidden = map.count("hidden", kSize, "elements of a token between layers");
  decoder.heads = map.count("heads", kHeads, "heads of queries");
  if (auto latent = map.optional_map("latent", "keys and values from one short vector a token")) {
    decoder.latent = read_latent(*latent);
    if (latent->reading().describes()) decoder.latent.reset();
  }
  const int heads = decoder.heads;
  decoder.kv_heads =
      map.where(!decoder.latent, "models without latent")
          .optional_count("kv_heads", kHeads, "heads of keys and values; default: heads")
          .value_or(heads);
  decoder.head_dim =
      map.optional_count("head_dim", kHeadDim,
                         "elements of a head's query and key; default: hidden / heads")
          .value_or(std::max(1, decoder.hidden / heads));
  decoder.value_head_dim =
      map.optional_count("value_head_dim", kHeadDim, "of a head's value; default: head_dim")
          .value_or(decoder.head_dim);
  decoder.inner = map.where(has_dense_layers, "layers without experts")
                      .count("inner", kSize, "elements inside the feed-forward");
  decoder.gated = map.choice_or("gated", true, names::table(names::kTruths),
                                "whether one product of the feed-forward gates another");
  decoder.vocabulary = map.count("vocabulary", kSize, "tokens that there are");
  decoder.tied = map.choice_or("tied", false, names::table(names::kTruths),
                               "whether the head's weights are the embedding's");
  decoder.positions =
      map.optional_count("positions", kSize, "learned ones; default: none, but rotary").value_or(0);
  decoder.dtype = map.choice_or("dtype", DataType::bf16, names::table(names::kDataTypes),
                                "type of a weight and of what goes through");
  map.finish();
  return decoder;
}

MoeSpec read_moe(MapReader map) {
  MoeSpec moe;
  moe.experts = map.count("experts", {1, 65'536}, "experts of a layer");
  moe.top_k = map.count("top_k", {1, 65'536}, "experts that a token goes through");
  moe.inner = map.count("inner", kSize, "elements inside one expert");
  moe.shared_inner =
      map.optional_count("shared_inner", kSize,
                         "inside what every token goes through besides; default: nothing")
          .value_or(0);
  moe.dense_layers =
      map.optional_count("dense_layers", {1, 10'000},
                         "first layers, with model.inner instead of experts; default: none")
          .value_or(0);
  moe.skew = map.choice_or("router", RouterSkew::uniform, names::table(names::kRouterSkews),
                           "how often each expert is asked for");
  moe.exponent = map.where(moe.skew == RouterSkew::zipf, "router: zipf")
                     .number_or("exponent", 1, {0, 10}, "the i-th expert: i^-exponent");
  moe.histogram = map.where(moe.skew == RouterSkew::histogram, "router: histogram")
                      .counts("histogram", {0, 1'000'000'000}, {1, 65'536},
                              "how often each expert is asked for, in any unit");
  moe.capacity =
      map.number_or("capacity", 0, {0, 1'000'000},
                    "times an even share that an expert takes from a GPU; 0: all that comes");
  map.finish();
  return moe;
}

ParallelSpec read_parallel(MapReader map, std::optional<bool> trains, std::optional<bool> experts) {
  constexpr Range<std::int64_t> kGpus{1, 65'536};
  ParallelSpec parallel;
  parallel.tensor = map.count_or("tensor", 1, kGpus, "neighbours that share each layer");
  parallel.data = map.count_or("data", 1, kGpus, "copies of the model");
  parallel.pipeline = map.count_or("pipeline", 1, kGpus, "stages of layers");
  parallel.expert = map.where(experts, "kind: moe")
                        .count_or("expert", 1, kGpus, "GPUs of a stage that share the experts");
  parallel.sequence =
      map.where(parallel.tensor > 1, "parallel.tensor above 1")
          .choice_or("sequence", false, names::table(names::kTruths),
                     "whether each keeps its tokens only between the layers' parts");
  parallel.sharded_optimizer =
      map.where(trains, "phase: training")
          .choice_or("sharded_optimizer", false, names::table(names::kTruths),
                     "whether each copy updates its part of the weights");
  map.finish();
  return parallel;
}

}  // namespace

void read_transformer(MapReader map, const ModelKind& kind, Workload& workload) {
  constexpr Range<std::int64_t> kTokens{1, 100'000'000};
  MapReader own = map.where(kind.is_transformer, "kind: transformer, moe");
  TransformerSpec& spec = workload.transformer;
  const MoeSpec moe = read_moe(map.where(kind.has_experts, "kind: moe").map("moe", "its experts"));
  if (kind.has_experts.value_or(false)) spec.moe = moe;
  const auto has_dense_layers =
      kind.has_experts ? std::optional(!*kind.has_experts || moe.dense_layers > 0) : std::nullopt;
  spec.decoder = read_decoder(own.map("model", "a decoder of language"), has_dense_layers);
  spec.parallel =
      read_parallel(own.map_of_defaults("parallel", "how GPUs share it: their product is all GPUs"),
                    kind.trains, kind.has_experts);
  spec.sequences = own.integer("sequences", kTokens, "of all GPUs together, in one step");
  spec.length = own.integer("sequence_length", kTokens,
                            "tokens of each; decode: that a new one looks at, with itself");
  spec.microbatch =
      own.integer("microbatch", kTokens, "sequences that go through a copy of the model together");
  spec.recompute = map.where(kind.trains_transformer, "phase: training of a transformer")
                       .choice_or("recompute", Recompute::none, names::table(names::kRecomputes),
                                  "what the way back computes again instead of keeping it");
}

}  // namespace weft
