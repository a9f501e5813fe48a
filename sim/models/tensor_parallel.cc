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
  const Bytes all = fp8_rows(shapes_, shapes_.tokens, shapes_.decoder.hidden);
  return out_.exchange(names, even_call(CollectiveOp::all_gather, all), place_, of);
}

// Where tokens are gathered each GPU casts its own.
void TensorParallel::cast_kept(const std::string& name, std::int64_t width) {
  const int copies = shapes_.keeps_its_tokens() ? 1 : copies_of_inputs(shapes_);
  cast_to_fp8(out_, shapes_, place_,
              {.name = name, .elements = shapes_.kept * width, .copies = copies});
}

void TensorParallel::transpose_gathered(const std::string& name, std::int64_t width) {
  if (!shapes_.keeps_its_tokens()) return;
  transpose_fp8(out_, shapes_, place_,
                {.name = name, .elements = shapes_.tokens * width, .of = GradientOf::weights});
}

void TensorParallel::cast_weights(const std::string& name, std::int64_t weights) {
  cast_to_fp8(out_, shapes_, place_,
              {.name = name + "_weights",
               .elements = weights,
               .copies = shapes_.weight_casts,
               .square = shapes_.fp8 == Fp8Scales::block});
}

void TensorParallel::multiply(const Linear& linear) {
  const Product product{.m = shapes_.tokens, .n = linear.out, .k = linear.in};
  compute(linear.name, linear.part,
          as_layers_do(gemm_of(product, shapes_.decoder.dtype), shapes_, Fp8Sums::fast));
}

void TensorParallel::multiply_gradient(const Linear& linear) {
  const Product product{
      .m = shapes_.tokens, .n = linear.in, .k = linear.out, .layout = GemmLayout::nn};
  compute(linear.name + "_input_gradient", linear.part,
          as_layers_do(gemm_of(product, shapes_.decoder.dtype), shapes_, Fp8Sums::in_fp32));
}

void TensorParallel::product(const Linear& linear) {
  cast_weights(linear.name, linear.in * linear.out);
  cast_to_fp8(out_, shapes_, place_,
              {.name = linear.name + "_input",
               .elements = shapes_.tokens * linear.in,
               .copies = copies_of_inputs(shapes_)});
  multiply(linear);
}

void TensorParallel::input_gradient(const Linear& linear) {
  cast_weights(linear.name, linear.in * linear.out);
  cast_to_fp8(
      out_, shapes_, place_,
      {.name = linear.name + "_gradient", .elements = shapes_.tokens * linear.out, .copies = 2});
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
                  {.m = linear.out, .n = linear.in, .k = shapes_.tokens, .of_layer = true}, place_);
  if (made_ && out_.writes(GradientOf::weights)) made_(linear.in * linear.out);
}

void TensorParallel::column(const std::string& names, const Linear& linear) {
  cast_weights(linear.name, linear.in * linear.out);
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
  cast_weights(linear.name, linear.in * linear.out);
  cast_kept(linear.name + "_gradient", linear.out);
  out_.wait_for(gather_operand(names + "_gradient_gather"));
  multiply_gradient(linear);
  transpose_gathered(linear.name + "_gradient", linear.out);
  weight_gradient(linear);
}

}  // namespace weft
