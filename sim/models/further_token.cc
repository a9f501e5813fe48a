#include "sim/models/further_token.h"

#include "sim/models/decoder_layer.h"
#include "sim/models/ends.h"

namespace weft {
namespace {

constexpr const char* kFurtherPart = "mtp";
constexpr std::int64_t kVectorsIn = 2;  // vectors of the model, and of the next token

}  // namespace

Linear FurtherToken::projection() const {
  const DecoderShapes& shapes = gpus_.shapes();
  return {.name = "mtp_projection",
          .part = kFurtherPart,
          .in = kVectorsIn * shapes.decoder.hidden,
          .out = shapes.decoder.hidden / shapes.parallel.tensor,
          .plain = true};
}

std::int64_t FurtherToken::inputs() const {
  return kVectorsIn * gpus_.shapes().kept * gpus_.shapes().decoder.hidden;
}

OpId FurtherToken::gather_inputs(const char* name, GradientOf of) {
  const DecoderShapes& shapes = gpus_.shapes();
  if (!shapes.keeps_its_tokens()) return OpId::none();
  return gpus_.out().exchange(
      name, even_call(CollectiveOp::all_gather, shapes.activations() * kVectorsIn), gpus_.place(),
      of);
}

OpId FurtherToken::reduce_inputs() {
  const DecoderShapes& shapes = gpus_.shapes();
  if (!shapes.splits()) return OpId::none();
  const CollectiveOp op =
      shapes.keeps_its_tokens() ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce;
  return gpus_.out().exchange("mtp_gradient_reduce",
                              even_call(op, shapes.activations() * kVectorsIn), gpus_.place());
}

void FurtherToken::gather_results(const char* name) {
  const DecoderShapes& shapes = gpus_.shapes();
  gpus_.out().wait_for(gpus_.out().exchange(
      name, even_call(CollectiveOp::all_gather, shapes.activations()), gpus_.place()));
}

void FurtherToken::project() {
  const DecoderShapes& shapes = gpus_.shapes();
  gpus_.compute("mtp_norm", "norm",
                shapes.stream({.elements = inputs(), .read = 1, .written = 1, .operations = 4}));
  gpus_.out().wait_for(gather_inputs("mtp_gather"));
  gpus_.product(projection());
  if (shapes.splits()) gather_results("mtp_projection_gather");
}

// Each GPU has the gradients of its columns, but with sequence parallelism only of its own tokens.
void FurtherToken::project_backward() {
  const DecoderShapes& shapes = gpus_.shapes();
  if (shapes.keeps_its_tokens()) gather_results("mtp_projection_gradient_gather");
  const OpId gathered = gather_inputs("mtp_gather_again", GradientOf::weights);
  gpus_.input_gradient(projection());
  const OpId summed = reduce_inputs();
  gpus_.out().wait_for(gathered);
  gpus_.weight_gradient(projection());
  gpus_.out().wait_for(gathered);
  gpus_.out().wait_for(summed);
  norm_backward(gpus_, "mtp_norm", kVectorsIn * shapes.kept, 2);
}

void FurtherToken::forward() {
  token_embedding(gpus_);
  project();
  layer_.forward();
  head(gpus_);
}

void FurtherToken::backward(bool last) {
  head_backward(gpus_);
  if (!last) add_further_gradient(gpus_);
  layer_.backward();
  project_backward();
  token_embedding_backward(gpus_);
}

void add_further_gradient(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  gpus.compute("mtp_gradient_add", kFurtherPart,
               shapes.stream({.elements = shapes.kept * shapes.decoder.hidden,
                              .read = 2,
                              .written = 1,
                              .operations = 1}));
}

}  // namespace weft
