// Model FLOPs of a decoder, by its sizes as a whole: step_work.h has the formula.
#include "sim/models/decoder_layer.h"
#include "sim/models/step_work.h"
#include "sim/scenario/decoder_memory.h"
#include "sim/scenario/decoder_size.h"

namespace weft {
namespace {

// What one token is multiplied with in a layer.
std::int64_t weights_of_a_token(const TransformerSpec& spec, int layer) {
  const DecoderSpec& decoder = spec.decoder;
  const auto feed_forward = [&](int inner) { return feed_forward_weights(decoder, inner, 1); };
  const std::int64_t attention = attention_weights(decoder, 1);
  if (!has_experts(spec, layer)) return attention + feed_forward(decoder.inner);
  const MoeSpec& moe = *spec.moe;
  const std::int64_t router = std::int64_t{decoder.hidden} * moe.experts;
  return attention + router + feed_forward(moe.shared_inner) + moe.top_k * feed_forward(moe.inner);
}

// With those of modules that predict further tokens.
int layers_of(const TransformerSpec& spec) { return spec.decoder.layers + spec.mtp_modules; }

std::int64_t weights_of_a_token(const TransformerSpec& spec) {
  const std::int64_t hidden = spec.decoder.hidden;
  std::int64_t sum = spec.mtp_modules * 2 * hidden * hidden;
  for (int layer = 0; layer < layers_of(spec); ++layer) sum += weights_of_a_token(spec, layer);
  return sum;
}

// Forward, of all heads, layers and sequences; `masked`: without pairs that masks leave out.
double attention_in_all(const Workload& workload, bool masked) {
  Workload whole = workload;
  whole.transformer.parallel = {};
  const DecoderShapes shapes = shapes_of(whole);
  const TransformerSpec& spec = workload.transformer;
  double sum = 0;
  for (int layer = 0; layer < layers_of(spec); ++layer) {
    AttentionShape shape = attention_of(shapes, masked ? window_of(spec.decoder, layer) : 0);
    shape.causal = masked;
    sum += static_cast<double>(flops_of(shape).count());
  }
  return sum * static_cast<double>(spec.sequences) / static_cast<double>(spec.microbatch);
}

}  // namespace

namespace builders {

StepWork transformer_work(const Scenario& scenario, const ModelGraph& graph) {
  const Workload& workload = scenario.workload;
  const TransformerSpec& spec = workload.transformer;
  const bool trains = workload.phase == Phase::training;
  const std::int64_t tokens =
      workload.phase == Phase::decode ? spec.sequences : spec.sequences * spec.length;
  const double passes = trains ? 3 : 1;
  const auto rows = static_cast<double>(trains ? tokens : spec.sequences);
  const double head = rows * spec.decoder.hidden * spec.decoder.vocabulary * (1 + spec.mtp_modules);
  const double weights =
      static_cast<double>(tokens) * static_cast<double>(weights_of_a_token(spec));
  const auto model_flops = [&](bool masked) {
    return passes * (2 * (weights + head) + attention_in_all(workload, masked));
  };
  return {.model_flops = model_flops(true),
          .full_attention_flops = model_flops(false),
          .hardware_flops = product_flops(graph),
          .tokens = tokens,
          .samples = {},
          .memory_of_fullest_gpu = fullest_gpu(workload).all()};
}

}  // namespace builders

}  // namespace weft
