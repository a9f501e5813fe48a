#include "sim/models/decoder_shapes.h"

namespace weft {

DecoderShapes shapes_of(const Workload& workload) {
  const TransformerSpec& spec = workload.transformer;
  DecoderShapes shapes;
  shapes.decoder = spec.decoder;
  shapes.parallel = spec.parallel;
  shapes.phase = workload.phase;
  shapes.sequences = spec.microbatch;
  shapes.length = spec.length;
  shapes.queries = workload.phase == Phase::decode ? 1 : spec.length / spec.parallel.context;
  shapes.tokens = shapes.sequences * shapes.queries;
  shapes.kept = shapes.keeps_its_tokens() ? shapes.tokens / spec.parallel.tensor : shapes.tokens;
  shapes.gradients = workload.gradients;
  shapes.again = recomputed_of(spec);
  shapes.fp8 = spec.fp8;
  shapes.scales_are_known =
      spec.fp8 == Fp8Scales::tensor && spec.fp8_scaling == Fp8Scaling::delayed;
  shapes.packed_experts = bytes_of_128(spec.weights);
  shapes.packed = spec.weights_of == PackedWeights::layers ? shapes.packed_experts : 0;
  const bool trains = workload.phase == Phase::training;
  shapes.input_casts = trains ? CastWay::both : CastWay::as_it_lies;
  shapes.share = heads_of(spec.decoder, spec.parallel.tensor);
  return shapes;
}

}  // namespace weft
