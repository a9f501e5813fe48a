// Keys of whole models.
#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kLayerSize{1, 10'000'000};

DlrmSpec read_dlrm(MapReader map) {
  return {.bottom_mlp = map.counts("bottom_mlp", kLayerSize, {2, 1'000},
                                   "dense features of a sample, then what each layer gives"),
          .top_mlp = map.counts("top_mlp", kLayerSize, {1, 1'000},
                                "what each layer gives; the first reads the interaction"),
          .interaction =
              map.choice_or("interaction", Interaction::dot, names::table(names::kInteractions),
                            "what the top MLP reads: products of all pairs of vectors,"
                            " all of them, or their sum"),
          .mlp_dtype = map.choice_or("mlp_dtype", DataType::bf16, names::table(names::kDataTypes),
                                     "type of an element of the MLPs"),
          .pooling_spread = map.fraction_or("pooling_spread", 0, {0, 1},
                                            "rows of a lookup vary evenly by +- this fraction"
                                            " of pooling"),
          .gradient_bucket = {}};
}

}  // namespace

void read_model(MapReader map, std::optional<WorkloadKind> kind, Workload& workload) {
  const auto when = [&](bool applies) { return kind ? std::optional(applies) : std::nullopt; };
  const bool is_any = kind && is_model(*kind);
  const bool is_decoder = kind && is_transformer(*kind);
  const bool is_described = is_any && !is_trace(*kind);
  const auto phase = map.where(when(is_described), "kind: dlrm, transformer, moe")
                         .choice<Phase>("phase", names::kPhases, "which step of the model is run");
  workload.phase = phase.value_or(Phase::inference);
  const bool known = kind && (!is_described || phase);
  const bool trains = workload.phase == Phase::training;
  const auto when_known = [&](bool applies) {
    return known ? std::optional(applies) : std::nullopt;
  };
  workload.gradients =
      map.where(when_known(is_any && trains), "phase: training")
          .choice_or("gradient_dtype", DataType::fp32, names::table(names::kDataTypes),
                     "type of a gradient that data parallelism adds up");
  const auto fuse =
      map.where(when(is_any), "kinds that are whole models")
          .word_or_choices(
              "fuse", {{"auto", "those that are faster so by themselves"}, {"none", ""}},
              names::table(names::kFusePatterns), "pairs that are fused, or cut into chunks");
  workload.fuse = {.automatic = fuse.word == 0 && fuse.choices.empty(), .patterns = fuse.choices};
  const bool is_dlrm = kind == WorkloadKind::dlrm;
  workload.dlrm = read_dlrm(map.where(when(is_dlrm), "kind: dlrm"));
  // As PyTorch's data parallelism has it (bucket_cap_mb).
  workload.dlrm.gradient_bucket =
      map.where(when_known(is_dlrm && trains), "phase: training of a dlrm")
          .size_or("gradient_bucket", mebibytes(25),
                   "gradients of several layers are added up together, from so many on",
                   {bytes(1), kAnySize.high});
  read_transformer(map,
                   {.is_transformer = when(is_decoder),
                    .has_experts = when(kind == WorkloadKind::moe),
                    .trains = when_known(trains),
                    .trains_transformer = when_known(is_decoder && trains)},
                   workload);
}

}  // namespace weft
