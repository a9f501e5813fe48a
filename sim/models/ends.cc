#include "sim/models/ends.h"

#include "sim/models/decoder_layer.h"

namespace weft {
namespace {

// Number of tokens whose logits are needed.
std::int64_t rows(const DecoderShapes& shapes) {
  return shapes.phase == Phase::training ? shapes.tokens : shapes.sequences;
}

Product logits(const DecoderShapes& shapes) {
  return {.m = rows(shapes),
          .n = vocabulary_of(shapes.decoder, shapes.parallel.tensor),
          .k = shapes.decoder.hidden};
}

void compute_head(TensorParallel& gpus, const char* name, const Product& product) {
  gpus.compute(name, "head", gemm_of(product, gpus.shapes().decoder.dtype));
}

// With sequence parallelism, each GPU needs all tokens whose logits are computed. After a prompt
// these are the last of each sequence, which the last GPU has.
OpId gather_rows(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  if (!shapes.keeps_its_tokens()) return OpId::none();
  if (shapes.phase != Phase::prefill) return gpus.gather("head_gather");
  CommunicationShape call =
      even_call(CollectiveOp::broadcast, shapes.size(rows(shapes) * shapes.decoder.hidden));
  call.root = static_cast<std::uint32_t>(shapes.parallel.tensor - 1);
  return gpus.out().exchange("head_broadcast", call, gpus.place());
}

// What is summed up per token, in fp32: the largest logit, the sum of all, and the right one.
void loss(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  const Product of = logits(shapes);
  gpus.compute("loss", "loss",
               shapes.stream({.elements = of.m * of.n,
                              .read = 1,
                              .operations = 4,
                              .instructions = kLossInstructions}));
  if (shapes.splits()) {
    const Bytes size = bytes_of(3 * shapes.tokens, DataType::fp32);
    gpus.out().wait_for(gpus.out().exchange(
        "loss_reduce", even_call(CollectiveOp::all_reduce, size), gpus.place()));
  }
  gpus.compute("loss_gradient", "loss",
               shapes.stream({.elements = of.m * of.n,
                              .read = 1,
                              .written = 1,
                              .operations = 3,
                              .instructions = kLossGradientInstructions}));
}

}  // namespace

void token_embedding(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  const std::int64_t elements = shapes.tokens * shapes.decoder.hidden;
  gpus.compute("token_embedding", "embedding",
               shapes.stream({.elements = elements, .read = 1, .written = 1}));
  gpus.out().wait_for(gpus.reduce("token_embedding_reduce"));
  drop(gpus, "token_embedding");
}

void token_embedding_backward(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  drop_backward(gpus, "token_embedding");
  gpus.out().wait_for(gpus.gather("token_embedding_gather", GradientOf::weights));
  gpus.compute("token_embedding_backward", "embedding",
               shapes.stream({.elements = shapes.tokens * shapes.decoder.hidden,
                              .read = 2,
                              .written = 1,
                              .operations = 1}),
               GradientOf::weights);
}

void head(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  const bool trains = shapes.phase == Phase::training;
  const std::int64_t kept = trains ? shapes.kept : rows(shapes);
  gpus.compute(
      "final_norm", "norm",
      shapes.stream(
          {.elements = kept * shapes.decoder.hidden, .read = 1, .written = 1, .operations = 4}));
  gpus.out().wait_for(gather_rows(gpus));
  compute_head(gpus, "head", logits(shapes));
  if (trains) return loss(gpus);
  if (!shapes.splits()) return;
  const Product of = logits(shapes);
  const Bytes all = shapes.size(of.m * of.n * shapes.parallel.tensor);
  gpus.out().exchange("logits_gather", even_call(CollectiveOp::all_gather, all), gpus.place());
}

void head_backward(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  const OpId gathered = gpus.gather("head_gather_again", GradientOf::weights);
  const Product of = logits(shapes);
  compute_head(gpus, "head_input_gradient",
               {.m = of.m, .n = of.k, .k = of.n, .layout = GemmLayout::nn});
  const OpId summed = gpus.reduce("head_gradient_reduce");
  gpus.out().wait_for(gathered);
  gpus.weight_gradient("head_weight_gradient", "head", {.m = of.n, .n = of.k, .k = of.m},
                       gpus.place());
  gpus.out().wait_for(gathered);
  gpus.out().wait_for(summed);
  norm_backward(gpus, "final_norm", shapes.kept, 2);
}

}  // namespace weft
