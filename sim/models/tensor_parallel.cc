#include "sim/models/tensor_parallel.h"

#include <utility>

#include "sim/models/casts.h"

namespace weft {

OpId TensorParallel::compute(const std::string& name, const std::string& part, OpShape shape,
                             GradientOf of) {
  return out_.compute(name, part, std::move(shape), place_, of);
}

OpId TensorParallel::gather(const std::string& names, GradientOf of) {
  if (!shapes_.keeps_its_tokens()) return OpId::none();
  return out_.exchange(names, even_call(CollectiveOp::all_gather, shapes_.activations()), place_,
                       of);
}

OpId TensorParallel::reduce(const std::string& names) {
  if (!shapes_.splits()) return OpId::none();
  const CollectiveOp op =
      shapes_.keeps_its_tokens() ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce;
  return out_.exchange(names, even_call(op, shapes_.activations()), place_);
}

OpId TensorParallel::gather_operand(const std::string& names, GradientOf of) {
  if (!shapes_.in_fp8() || !shapes_.keeps_its_tokens()) return gather(names, of);
  const Bytes all = bytes(shapes_.tokens * shapes_.decoder.hidden);
  return out_.exchange(names, even_call(CollectiveOp::all_gather, all), place_, of);
}

// Where tokens are gathered each GPU casts its own.
void TensorParallel::cast_kept(const std::string& name, std::int64_t width) {
  const CastWay way = shapes_.keeps_its_tokens() ? CastWay::as_it_lies : shapes_.input_casts;
  cast_to_fp8(out_, shapes_, place_,
              {.name = name, .rows = shapes_.kept, .width = width, .way = way});
}

void TensorParallel::cast_column_again(const Linear& linear) {
  const CastWay way = shapes_.keeps_its_tokens() ? CastWay::as_it_lies : CastWay::transposed;
  cast_to_fp8(out_, shapes_, place_,
              {.name = linear.name + "_input",
               .rows = shapes_.kept,
               .width = linear.in,
               .way = way,
               .of = GradientOf::weights});
}

void TensorParallel::cast_row_again(const Linear& linear) {
  cast_to_fp8(out_, shapes_, place_,
              {.name = linear.name + "_input",
               .rows = shapes_.tokens,
               .width = linear.in,
               .way = CastWay::transposed,
               .of = GradientOf::weights});
}

void TensorParallel::transpose_gathered(const std::string& name, std::int64_t width) {
  if (!shapes_.keeps_its_tokens()) return;
  transpose_fp8(out_, shapes_, place_,
                {.name = name, .rows = shapes_.tokens, .width = width, .of = GradientOf::weights});
}

void TensorParallel::cast_weights(const Linear& linear) {
  if (linear.plain) return;
  cast_to_fp8(out_, shapes_, place_,
              {.name = linear.name + "_weights",
               .rows = linear.out,
               .width = linear.in,
               .way = shapes_.weight_casts,
               .square = shapes_.fp8 == Fp8Scales::block});
}

void TensorParallel::cast_tokens(const Linear& linear, const char* what, std::int64_t width,
                                 CastWay way) {
  if (linear.plain) return;
  cast_to_fp8(out_, shapes_, place_,
              {.name = linear.name + what, .rows = shapes_.tokens, .width = width, .way = way});
}

void TensorParallel::multiply(const Linear& linear) {
  const GemmShape gemm =
      gemm_of({.m = shapes_.tokens, .n = linear.out, .k = linear.in}, shapes_.decoder.dtype);
  compute(linear.name, linear.part,
          linear.plain ? gemm : as_layers_do(gemm, shapes_, Fp8Sums::fast));
}

void TensorParallel::multiply_gradient(const Linear& linear) {
  const GemmShape gemm =
      gemm_of({.m = shapes_.tokens, .n = linear.in, .k = linear.out, .layout = GemmLayout::nn},
              shapes_.decoder.dtype);
  compute(linear.name + "_input_gradient", linear.part,
          linear.plain ? gemm : as_layers_do(gemm, shapes_, Fp8Sums::in_fp32));
}

void TensorParallel::product(const Linear& linear) {
  cast_weights(linear);
  cast_tokens(linear, "_input", linear.in, shapes_.input_casts);
  multiply(linear);
}

void TensorParallel::input_gradient(const Linear& linear) {
  cast_weights(linear);
  cast_tokens(linear, "_gradient", linear.out, CastWay::both);
  multiply_gradient(linear);
}

void TensorParallel::weight_gradient(const std::string& name, const std::string& part,
                                     const Product& product, PlaceId place, std::int64_t batch) {
  out_.compute(name, part, gradient_of(product, shapes_, batch), place, GradientOf::weights);
  add_gradient(name, part, product.m * product.n * batch, place);
}

void TensorParallel::add_gradient(const std::string& name, const std::string& part,
                                  std::int64_t weights, PlaceId place) {
  if (!shapes_.adds) return;
  out_.compute(name + "_add", part,
               shapes_.stream({.elements = weights, .read = 2, .written = 1, .operations = 1}),
               place, GradientOf::weights);
}

void TensorParallel::weight_gradient(const Linear& linear) {
  weight_gradient(linear.name + "_weight_gradient", linear.part,
                  {.m = linear.out, .n = linear.in, .k = shapes_.tokens, .of_layer = !linear.plain},
                  place_);
  if (made_ && out_.writes(GradientOf::weights)) made_(linear.in * linear.out);
}

void TensorParallel::column(const std::string& names, const Linear& linear) {
  cast_weights(linear);
  cast_kept(linear.name + "_input", linear.in);
  out_.wait_for(gather_operand(names + "_gather"));
  multiply(linear);
}

void TensorParallel::column_backward(const std::string& names, const Linear& linear) {
  const OpId gathered = gather_operand(names + "_gather_again", GradientOf::weights);
  input_gradient(linear);
  const OpId summed = reduce(names + "_gradient_reduce");
  out_.wait_for(gathered);
  transpose_gathered(linear.name + "_input", linear.in);
  weight_gradient(linear);
  out_.wait_for(gathered);
  out_.wait_for(summed);
}

OpId TensorParallel::row(const std::string& names, const Linear& linear) {
  product(linear);
  return reduce(names + "_reduce");
}

void TensorParallel::row_backward(const std::string& names, const Linear& linear) {
  cast_weights(linear);
  cast_kept(linear.name + "_gradient", linear.out);
  out_.wait_for(gather_operand(names + "_gradient_gather"));
  multiply_gradient(linear);
  transpose_gathered(linear.name + "_gradient", linear.out);
  weight_gradient(linear);
}

}  // namespace weft
