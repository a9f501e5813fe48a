#include "sim/models/decoder_layer.h"

#include "sim/models/norm_backward.h"

namespace weft {
namespace {

std::int64_t kept_elements(const DecoderShapes& shapes) {
  return shapes.kept * shapes.decoder.hidden;
}

// A byte an element, as PyTorch keeps it.
Bytes mask_of(const DecoderShapes& shapes) { return bytes(kept_elements(shapes)); }

StreamShape dropping(const DecoderShapes& shapes) {
  return shapes.stream(
      {.elements = kept_elements(shapes), .read = 1, .written = 1, .operations = 1});
}

// Two matrices side by side where one gates the other.
std::int64_t sides(const DecoderSpec& decoder) { return decoder.gated ? 2 : 1; }

Linear up(const DecoderShapes& shapes, const FeedForward& layer) {
  return {.name = layer.names + "_up",
          .part = "mlp",
          .in = shapes.decoder.hidden,
          .out = sides(shapes.decoder) * layer.inner / shapes.parallel.tensor};
}

Linear down(const DecoderShapes& shapes, const FeedForward& layer) {
  return {.name = layer.names + "_down",
          .part = "mlp",
          .in = layer.inner / shapes.parallel.tensor,
          .out = shapes.decoder.hidden};
}

// `of`: computed again, only the weights' gradients of what follows need it.
void activation(TensorParallel& gpus, const FeedForward& layer, GradientOf of) {
  const DecoderShapes& shapes = gpus.shapes();
  const std::int64_t inner = shapes.tokens * layer.inner / shapes.parallel.tensor;
  gpus.compute(
      layer.names + "_activation", "mlp",
      shapes.stream(
          {.elements = inner, .read = sides(shapes.decoder), .written = 1, .operations = 6}),
      of);
}

}  // namespace

void norm(TensorParallel& gpus, const std::string& name, GradientOf of) {
  const DecoderShapes& shapes = gpus.shapes();
  gpus.compute(
      name, "norm",
      shapes.stream({.elements = kept_elements(shapes), .read = 1, .written = 1, .operations = 4}),
      of);
}

void residual(TensorParallel& gpus, const std::string& name) {
  const DecoderShapes& shapes = gpus.shapes();
  StreamShape shape =
      shapes.stream({.elements = kept_elements(shapes), .read = 2, .written = 1, .operations = 1});
  if (shapes.drops()) shape.written += mask_of(shapes);
  gpus.compute(name, "norm", shape);
}

void drop(TensorParallel& gpus, const std::string& name) {
  const DecoderShapes& shapes = gpus.shapes();
  if (!shapes.drops()) return;
  StreamShape shape = dropping(shapes);
  shape.written += mask_of(shapes);
  gpus.compute(name + "_dropout", "norm", shape);
}

void drop_backward(TensorParallel& gpus, const std::string& name) {
  const DecoderShapes& shapes = gpus.shapes();
  if (!shapes.drops()) return;
  StreamShape shape = dropping(shapes);
  shape.read += mask_of(shapes);
  gpus.compute(name + "_dropout_backward", "norm", shape);
}

void norm_backward(TensorParallel& gpus, const std::string& name, std::int64_t rows,
                   std::int64_t read) {
  const NormBackward kernels =
      norm_backward_of(rows, gpus.shapes().decoder.hidden, read, gpus.shapes().decoder.dtype);
  if (!kernels.at_once) gpus.compute(name + "_weight_gradient", "norm", kernels.weights);
  gpus.compute(name + "_backward", "norm", kernels.inputs);
  if (kernels.at_once) gpus.compute(name + "_weight_gradient", "norm", kernels.weights);
}

void cast_input_again(TensorParallel& gpus, const FeedForward& layer) {
  gpus.cast_column_again(up(gpus.shapes(), layer));
}

OpId feed_forward(TensorParallel& gpus, const FeedForward& layer) {
  const DecoderShapes& shapes = gpus.shapes();
  gpus.column(layer.names, up(shapes, layer));
  activation(gpus, layer, GradientOf::inputs);
  return gpus.row(layer.names + "_down", down(shapes, layer));
}

void feed_forward_backward(TensorParallel& gpus, const FeedForward& layer) {
  const DecoderShapes& shapes = gpus.shapes();
  if (layer.activates_again) {
    activation(gpus, layer, GradientOf::weights);
    gpus.cast_row_again(down(shapes, layer));
  }
  gpus.row_backward(layer.names + "_down", down(shapes, layer));
  const std::int64_t inner = shapes.tokens * layer.inner / shapes.parallel.tensor;
  gpus.compute(layer.names + "_activation_backward", "mlp",
               shapes.stream({.elements = inner,
                              .read = sides(shapes.decoder) + 1,
                              .written = sides(shapes.decoder),
                              .operations = 12,
                              .instructions = gate_instructions(shapes.decoder)}));
  gpus.column_backward(layer.names, up(shapes, layer));
}

}  // namespace weft
