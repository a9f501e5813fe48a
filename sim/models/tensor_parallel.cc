#include "sim/models/tensor_parallel.h"

#include <utility>

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

void TensorParallel::product(const Linear& linear) {
  compute(linear.name, linear.part,
          gemm_of({.m = shapes_.tokens, .n = linear.out, .k = linear.in}, shapes_.decoder.dtype));
}

void TensorParallel::input_gradient(const Linear& linear) {
  compute(linear.name + "_input_gradient", linear.part,
          gemm_of({.m = shapes_.tokens, .n = linear.in, .k = linear.out, .layout = GemmLayout::nn},
                  shapes_.decoder.dtype));
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
                  {.m = linear.out, .n = linear.in, .k = shapes_.tokens}, place_);
  if (made_ && out_.writes(GradientOf::weights)) made_(linear.in * linear.out);
}

void TensorParallel::column(const std::string& names, const Linear& linear) {
  out_.wait_for(gather(names + "_gather"));
  product(linear);
}

void TensorParallel::column_backward(const std::string& names, const Linear& linear) {
  const OpId gathered = gather(names + "_gather_again", GradientOf::weights);
  input_gradient(linear);
  const OpId summed = reduce(names + "_gradient_reduce");
  out_.wait_for(gathered);
  weight_gradient(linear);
  out_.wait_for(gathered);
  out_.wait_for(summed);
}

OpId TensorParallel::row(const std::string& names, const Linear& linear) {
  product(linear);
  return reduce(names + "_reduce");
}

void TensorParallel::row_backward(const std::string& names, const Linear& linear) {
  out_.wait_for(gather(names + "_gradient_gather"));
  input_gradient(linear);
  weight_gradient(linear);
}

}  // namespace weft
