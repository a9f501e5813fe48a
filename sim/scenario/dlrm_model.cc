// A recommendation model: its keys, and what its MLPs must be for its tables. The tables have the
// keys and rules of every embedding (embedding_operator.cc).
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/plural.h"
#include "sim/scenario/check.h"
#include "sim/scenario/model_kind.h"
#include "sim/scenario/model_size.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft::rules {
namespace {

void the_dense_vector_is_as_long_as_a_row(const Check& check) {
  if (!check.good_within({"workload.bottom_mlp", "workload.interaction", "workload.dim"})) return;
  const DlrmSpec& dlrm = check.scenario.workload.dlrm;
  const int dim = check.scenario.workload.embedding.dim;
  const int last = dlrm.bottom_mlp.back();
  if (dlrm.interaction == Interaction::concat || last == dim) return;
  check.fail("workload.bottom_mlp", "its last layer outputs " + text(last) +
                                        " elements, but they interact with rows of dim " +
                                        text(dim) + "; end it with " + text(dim) +
                                        ", or use interaction: concat");
}

void mlps_run_on_matrix_units(const Check& check) {
  if (!check.good({"workload.mlp_dtype"})) return;
  if (check.scenario.workload.dlrm.mlp_dtype != DataType::fp32) return;
  check.fail("workload.mlp_dtype", "the GPU's file has no matrix rate for fp32; use bf16 or fp16");
}

// In floating point: the products need not fit 63 bits.
void mlps_fit(const Check& check) {
  if (!check.good_within({"workload.bottom_mlp", "workload.top_mlp", "workload.interaction",
                          "workload.tables_per_gpu", "workload.dim", "workload.batch",
                          "cluster"})) {
    return;
  }
  const DlrmSpec& dlrm = check.scenario.workload.dlrm;
  const EmbeddingWork& tables = check.scenario.workload.embedding;
  const ClusterSpec& cluster = check.scenario.cluster;
  const std::int64_t vectors = std::int64_t{tables.tables_per_gpu} * cluster.gpus();
  constexpr std::int64_t kMostTables = 1'000'000;
  if (vectors > kMostTables) {
    return check.fail("workload.tables_per_gpu",
                      text(vectors) + " tables on all GPUs; at most " + text(kMostTables));
  }
  double weights = 0;
  for (const auto& layers : {bottom_layers(dlrm), top_layers(dlrm, vectors, tables.dim)}) {
    for (const MlpLayer& layer : layers) {
      weights += static_cast<double>(layer.in) * static_cast<double>(layer.out);
    }
  }
  const auto memory = static_cast<double>(cluster.gpu.memory.capacity.count());
  const double size = weights * static_cast<double>(size_of(dlrm.mlp_dtype).count());
  if (size > memory) {
    return check.fail("workload.top_mlp", "the weights of both MLPs take " +
                                              text(static_cast<std::int64_t>(size / 1e9)) +
                                              " GB on every GPU, whose memory holds " +
                                              to_text(cluster.gpu.memory.capacity) +
                                              "; use smaller layers, or interaction: sum");
  }
  constexpr double kMost = 1e18;
  const double samples = static_cast<double>(tables.batch) / cluster.gpus();
  if (2 * weights * samples > kMost) {
    check.fail("workload.batch", "too many operations to count; use a smaller batch");
  }
}

void it_trains_or_answers(const Check& check) {
  if (!check.good({"workload.phase"})) return;
  const Phase phase = check.scenario.workload.phase;
  if (phase == Phase::training || phase == Phase::inference) return;
  check.fail("workload.phase", "a model of kind dlrm has the phases training and inference");
}

}  // namespace

static void validate_dlrm(const Check& check) {
  the_dense_vector_is_as_long_as_a_row(check);
  mlps_run_on_matrix_units(check);
  mlps_fit(check);
  it_trains_or_answers(check);
}

}  // namespace weft::rules

namespace weft {
namespace {

constexpr Range<std::int64_t> kLayerSize{1, 10'000'000};

void dlrm_fields(Fields& workload_map, Workload& workload) {
  Fields map = workload_map.where("kind", words_of(model_kinds::dlrm));
  DlrmSpec& dlrm = workload.dlrm;
  map.list("bottom_mlp", dlrm.bottom_mlp, kLayerSize, {2, 1'000},
           "dense features of a sample, then the output size of each layer");
  map.list("top_mlp", dlrm.top_mlp, kLayerSize, {1, 1'000},
           "output size of each layer; the first reads the interaction");
  map.choice("interaction", dlrm.interaction, names::kInteractions,
             {.help = "what the top MLP reads: the products of all pairs of vectors, all vectors, "
                      "or their sum",
              .fallback = Interaction::dot});
  map.choice("mlp_dtype", dlrm.mlp_dtype, names::kDataTypes,
             {.help = "type of an element of the MLPs", .fallback = DataType::bf16});
  map.fraction(
      "pooling_spread", dlrm.pooling_spread,
      {.help = "the number of rows per lookup varies uniformly by +- this fraction of pooling",
       .range = {{0, 1}},
       .fallback = 0});
}

std::string tables_text(const Workload& workload) {
  const EmbeddingWork& embedding = workload.embedding;
  return fmt::format("{} {} per GPU, {} rows of {}", embedding.tables_per_gpu,
                     plural(embedding.tables_per_gpu, "table", "tables"), embedding.rows_per_table,
                     embedding.dim);
}

}  // namespace

constinit const ModelKind model_kinds::dlrm = {.fields = dlrm_fields,
                                               .rules = rules::validate_dlrm,
                                               .figures = tables_text,
                                               .gradient_bucket = mebibytes(25),
                                               .before_bucket = true};

}  // namespace weft
