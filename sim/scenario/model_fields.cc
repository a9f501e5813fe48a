// The keys of whole models.
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/scenario/model_kind.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

constexpr std::array kAutomatic = {
    Choice<bool>{"auto", true, "those that are faster this way when run alone"},
    Choice<bool>{"none", false, "no pair is looked for, or tried by itself"},
};

void knob(Fields map, const char* key, int& value, const char* help) {
  map.add(
      key, value,
      {.help = help, .range = {{1, 1'000'000}}, .fallback = 0, .means = "optional", .quiet = true});
}

// A knob of a pair, for some of its modes.
void knob(Fields& map, std::initializer_list<const char*> modes, const char* key, int& value,
          const char* help) {
  knob(map.where("mode", {modes.begin(), modes.end()}), key, value, help);
}

void layer(Fields& map, const char* key, int& value, const char* help) {
  map.add(
      key, value,
      {.help = help, .range = {{0, 10'000}}, .fallback = -1, .means = "optional", .quiet = true});
}

void fuse_field(Fields map, FuseOptions& fuse) {
  map.word_or_choices("fuse", fuse.automatic, fuse.patterns, kAutomatic, names::kFusePatterns,
                      "pairs to fuse, or to cut into chunks");
  fuse.automatic = fuse.automatic && fuse.patterns.empty();
}

// The words of a key of the scenario, or `same`: as that key says.
template <class Value, std::size_t n>
constexpr auto or_same(const std::array<Choice<Value>, n>& words, const char* meaning) {
  std::array<Choice<std::optional<Value>>, n + 1> choices{};
  choices[0] = {"same", std::nullopt, meaning};
  for (std::size_t i = 0; i < n; ++i) {
    choices[i + 1] = {words[i].name, words[i].value, words[i].meaning};
  }
  return choices;
}
constexpr auto kOrdersOrSame = or_same(names::kOrders, "as fused.order");
constexpr auto kAddsOrSame = or_same(names::kFusedAdds, "as fused.add");
constexpr auto kAlgorithmsOrSame = or_same(names::kAlgorithmChoices, "as collective.algorithm");
constexpr auto kProtocolsOrSame = or_same(names::kProtocolWords, "as collective.protocol");

// What a rule says of collectives that the library runs.
template <class Rule>
void by_library(Fields map, Rule& rule) {
  map.choice(
      "algorithm", rule.algorithm, kAlgorithmsOrSame,
      {.help = "collective.algorithm of these", .fallback = std::optional<AskedAlgorithm>{}});
  map.choice("protocol", rule.protocol, kProtocolsOrSame,
             {.help = "collective.protocol of these", .fallback = std::optional<Protocol>{}});
  knob(map, "channels", rule.channels, "collective.channels of these");
}

// Of recommendation models as PyTorch's data parallelism has it (bucket_cap_mb).
void bucket_field(Fields map, const ModelKind* model, Bytes& bucket) {
  const Bytes usual = model != nullptr ? model->gradient_bucket : Bytes{};
  map.where("phase", {"training"}, "phase: training")
      .add("gradient_bucket", bucket,
           {.help = "gradients are collected, the last layers' first, until they have this size, "
                    "then summed; default: dlrm 25 MiB, transformers those of each layer",
            .range = {{bytes(1), kAnySize.high}},
            .fallback = usual,
            .means = "optional",
            .quiet = usual == Bytes{}});
}

// The words of the kinds whose model suits.
std::vector<std::string_view> words_where(bool (*suits)(const ModelKind& model)) {
  std::vector<std::string_view> words;
  for (const KindRow& row : kKindRows) {
    if (row.model != nullptr && suits(*row.model)) words.emplace_back(row.name);
  }
  return words;
}

// Of each model once, that of the first kind that is one.
void own_fields(Fields& map, Workload& workload, bool before_bucket) {
  const ModelKind* last = nullptr;
  for (const KindRow& row : kKindRows) {
    if (row.model == nullptr || row.model == last) continue;
    last = row.model;
    if (last->before_bucket == before_bucket) last->fields(map, workload);
  }
}

}  // namespace

void fields(Fields& map, PairRule& rule) {
  map.name_or_none("pair", rule.pair,
                   "name of the pair (fusions.csv), of its operator or its collective, or its "
                   "pattern; default: all pairs");
  layer(map, "from_layer", rule.from_layer, "first of the layers whose pairs are meant, from 0");
  layer(map, "to_layer", rule.to_layer, "last of the layers whose pairs are meant");
  map.choice("mode", rule.mode, names::kGrains, {.help = "in which mode they are run"});
  map.where("mode", {"fused", "role_split", "copy_fed"})
      .choice("order", rule.order, kOrdersOrSame,
              {.help = "fused.order of these", .fallback = std::optional<DestinationOrder>{}});
  knob(map, {"fused", "role_split", "copy_fed"}, "slice_wgs", rule.slice_wgs,
       "fused.slice_wgs of these");
  knob(map, {"fused", "role_split", "copy_fed"}, "max_wgs_per_cu", rule.max_wgs_per_cu,
       "fused.max_wgs_per_cu of these");
  knob(map, {"fused", "role_split", "copy_fed"}, "own_first", rule.own_first,
       "fused.own_first of these");
  map.where("mode", {"fused"})
      .choice("add", rule.add, kAddsOrSame,
              {.help = "fused.add of these", .fallback = std::optional<FusedAdd>{}});
  knob(map, {"role_split"}, "sending_cus", rule.sending_cus, "fused.sending_cus of these");
  knob(map, {"kernel"}, "chunks", rule.chunks, "kernel.chunks of these");
  map.add("tile_m", rule.tile_m,
          {.help = "rows of C per WG of their GEMMs, of the library's tiles; default: its choice",
           .range = {{1, 4'096}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  map.add("tile_n", rule.tile_n,
          {.help = "columns of C per WG",
           .range = {{1, 4'096}},
           .fallback = 0,
           .means = "optional",
           .quiet = true});
  by_library(map.where("mode", {"bulk", "kernel"}), rule);
}

void fields(Fields& map, CollectiveRule& rule) {
  map.name_or_none("collective", rule.collective,
                   "name of the collective (operators.csv); default: all");
  layer(map, "from_layer", rule.from_layer, "first of the layers whose collectives are meant");
  layer(map, "to_layer", rule.to_layer, "last of the layers whose collectives are meant");
  by_library(map, rule);
}

std::vector<std::string_view> words_of(const ModelKind& model) {
  std::vector<std::string_view> words;
  for (const KindRow& row : kKindRows) {
    if (row.model == &model) words.emplace_back(row.name);
  }
  return words;
}

void model_fields(Fields& map, Workload& workload) {
  fuse_field(map.where("kind", names::words_that(names::kWorkloadKinds, is_model),
                       "kinds that are whole models"),
             workload.fuse);
  map.where("kind", names::words_that(names::kWorkloadKinds, is_model),
            "kinds that are whole models")
      .optional_maps("pairs", workload.pairs,
                     "mode mixed: how pairs are overlapped; the last rule that a pair fits counts");
  map.where("kind", names::words_that(names::kWorkloadKinds, is_model),
            "kinds that are whole models")
      .optional_maps("collectives", workload.collectives,
                     "how the library runs single collectives; the last rule that one fits counts, "
                     "and where it says so, that of its pair");
  const std::vector<std::string_view> described =
      words_where([](const ModelKind& /*model*/) { return true; });
  map.where("kind", described)
      .choice("phase", workload.phase, names::kPhases, {.help = "which step of the model is run"});
  map.where("phase", {"training"})
      .choice(
          "gradient_dtype", workload.gradients, names::kDataTypes,
          {.help = "type of a gradient that data parallelism sums", .fallback = DataType::fp32});
  Fields trained =
      map.where("phase", {"training"}).where("kind", words_where([](const ModelKind& model) {
                                               return model.has_moments;
                                             }));
  trained.choice("optimizer_dtype", workload.optimizer, names::kDataTypes,
                 {.help = "type of the optimizer's moments, and of its copy of the weights if "
                          "theirs is narrower",
                  .fallback = DataType::fp32});
  trained.choice(
      "gradient_scaling", workload.scales_gradients, names::kGradientScalings,
      {.help = "how the sum over data-parallel copies becomes a mean", .fallback = false});
  own_fields(map, workload, true);
  bucket_field(map.where("kind", described), row_of(workload.kind).model, workload.gradient_bucket);
  own_fields(map, workload, false);
}

}  // namespace weft
