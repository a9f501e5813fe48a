// The operators of a layer's experts, on one stage's GPUs.
//
// Each GPU of a tensor-parallel group sends its share of the tokens to the experts. Experts are not
// cut: each is on one GPU, and `parallel.expert` consecutive GPUs together have all of them.
#pragma once

#include "sim/models/moe_router.h"
#include "sim/models/tensor_parallel.h"

namespace weft {

class Experts {
 public:
  // `place`: the groups that share the experts.
  Experts(TensorParallel& gpus, const MoeSpec& moe, const RoutedTokens& routed, PlaceId place)
      : gpus_(gpus), moe_(moe), routed_(routed), place_(place) {}

  // Router, dispatch with the shared expert concurrently, experts, combine, weighted sum.
  void forward();
  void backward();

 private:
  enum class Direction { dispatch, combine };  // to the experts, and home
  OpId exchange(const char* name, Direction direction);
  void exchange_counts();
  // `as_sent`: multiplies rows as they have come, fp8 if they are sent so.
  enum class Operand : std::uint8_t { as_sent, as_made };
  void product(const char* name, std::int64_t n, std::int64_t k, Operand operand,
               GemmLayout layout = GemmLayout::linear, GradientOf of = GradientOf::inputs);
  void weight_gradient(const char* name, std::int64_t in, std::int64_t out);
  void activation(const char* name, const Elementwise& one, GradientOf of = GradientOf::inputs);
  void cast_weights(const char* name, std::int64_t weights);  // of each expert
  void cast_rows(const char* name, std::int64_t width, CastWay way,
                 GradientOf of = GradientOf::inputs);
  void cast_if_sent_plain(const char* name);
  void transpose_sent(const char* name);
  [[nodiscard]] bool activates_again() const;  // by itself, in the backward pass
  void activation_forward(GradientOf of = GradientOf::inputs);
  void tokens(const char* name, std::int64_t read, std::int64_t written, std::int64_t operations);
  void route_tokens();
  void copy_tokens();
  void copy(const char* name, Bytes read, Bytes written);
  void gather_tokens(const char* name);

  [[nodiscard]] std::int64_t most_come(const std::vector<std::int64_t>& sent) const;
  [[nodiscard]] std::int64_t own_tokens() const;       // per GPU
  [[nodiscard]] Bytes row(Direction direction) const;  // of a token, on its way
  [[nodiscard]] bool puts() const { return moe_.exchange != TokenExchange::library; }
  [[nodiscard]] bool once() const {
    return moe_.exchange == TokenExchange::once && routed_.gpus > 1;
  }
  // Sent once, tokens are copied for each expert where they have come, and what experts of a GPU
  // make of a token is added up before it goes home.
  void spread_here();
  void add_up_here();
  [[nodiscard]] std::int64_t parts_home() const;  // of a token, to be added up
  [[nodiscard]] bool grouped() const { return moe_.kernel == ExpertKernel::grouped; }
  [[nodiscard]] std::int64_t rows(std::int64_t rank) const;  // per busy expert
  [[nodiscard]] std::int64_t sides() const;

  TensorParallel& gpus_;
  const MoeSpec& moe_;
  const RoutedTokens& routed_;
  PlaceId place_;
};

}  // namespace weft
