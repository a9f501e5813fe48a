// The keys of whole models.
#include <array>
#include <string>

#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kLayerSize{1, 10'000'000};

constexpr std::array kAutomatic = {
    Choice<bool>{"auto", true, "those that are faster this way when run alone"},
    Choice<bool>{"none", false},
};

void fuse_field(Fields map, FuseOptions& fuse) {
  map.word_or_choices("fuse", fuse.automatic, fuse.patterns, kAutomatic, names::kFusePatterns,
                      "pairs to fuse, or to cut into chunks");
  fuse.automatic = fuse.automatic && fuse.patterns.empty();
}

void dlrm_fields(Fields map, DlrmSpec& dlrm) {
  map.list("bottom_mlp", dlrm.bottom_mlp, kLayerSize, {2, 1'000},
           "dense features of a sample, then the output size of each layer");
  map.list("top_mlp", dlrm.top_mlp, kLayerSize, {1, 1'000},
           "output size of each layer; the first reads the interaction");
  map.choice("interaction", dlrm.interaction, names::kInteractions,
             {.help = "what the top MLP reads: the products of all pairs of vectors, all vectors, "
                      "or their sum",
              .fallback = Interaction::dot});
  map.choice("mlp_dtype", dlrm.mlp_dtype, names::kDataTypes,
             {.help = "type bytes of an element of the MLPs", .fallback = DataType::bf16});
  map.fraction(
      "pooling_spread", dlrm.pooling_spread,
      {.help = "the number of rows per lookup varies uniformly by +- this fraction of pooling",
       .range = {{0, 1}},
       .fallback = 0});
}

// Of recommendation models as PyTorch's data parallelism has it (bucket_cap_mb).
void bucket_field(Fields map, bool is_dlrm, Bytes& bucket) {
  map.where("phase", {"training"}, "phase: training")
      .add("gradient_bucket", bucket,
           {.help = "gradients are collected, the last layers' first, until they have this size, "
                    "then summed; default: dlrm 25 MiB, transformers those of each layer",
            .range = {{bytes(1), kAnySize.high}},
            .fallback = is_dlrm ? mebibytes(25) : Bytes{},
            .means = "optional",
            .quiet = !is_dlrm});
}

}  // namespace

void model_fields(Fields& map, Workload& workload) {
  fuse_field(map.where("kind", names::words_that(names::kWorkloadKinds, is_model),
                       "kinds that are whole models"),
             workload.fuse);
  map.where("kind", {"dlrm", "transformer", "moe"})
      .choice("phase", workload.phase, names::kPhases, {.help = "which step of the model is run"});
  map.where("phase", {"training"})
      .choice(
          "gradient_dtype", workload.gradients, names::kDataTypes,
          {.help = "type of a gradient that data parallelism sums", .fallback = DataType::fp32});
  map.where("phase", {"training"})
      .where("kind", {"transformer", "moe"})
      .choice("optimizer_dtype", workload.optimizer, names::kDataTypes,
              {.help = "type of the optimizer's moments, and of its copy of the weights if theirs "
                       "is narrower",
               .fallback = DataType::fp32});
  dlrm_fields(map.where("kind", {"dlrm"}), workload.dlrm);
  const bool is_dlrm = map.says("kind", {"dlrm"}).value_or(false);
  bucket_field(map.where("kind", {"dlrm", "transformer", "moe"}), is_dlrm,
               is_dlrm ? workload.dlrm.gradient_bucket : workload.transformer.gradient_bucket);
  transformer_fields(map, workload);
}

}  // namespace weft
