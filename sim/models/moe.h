// The operators of a layer's experts, on one stage's GPUs.
//
// Each GPU of a tensor-parallel group sends its share of the tokens to the experts, which are on
// `parallel.expert` groups of `parallel.expert_tensor` GPUs. Each GPU of such a group has a part of
// each matrix of the group's experts, by columns, then by rows. A GPU exchanges tokens with those
// that have the same part; the group gathers what has come to its GPUs, multiplies all of it, and
// scatters the sums before they go home (as Megatron-LM's all-to-all dispatcher).
#pragma once

#include <string>

#include "sim/models/moe_router.h"
#include "sim/models/row_copies.h"
#include "sim/models/stage.h"
#include "sim/models/tensor_parallel.h"

namespace weft {

class Experts {
 public:
  Experts(TensorParallel& gpus, const MoeSpec& moe, const RoutedTokens& routed, const Stage& stage)
      : gpus_(gpus),
        moe_(moe),
        routed_(routed),
        place_(stage.experts),
        of_expert_(stage.of_expert) {}

  // Router, dispatch with the shared expert concurrently, experts, combine, weighted sum.
  void forward();
  void backward();

 private:
  // Parts of the model that its operators are counted as.
  static constexpr const char* kExperts = "experts";
  static constexpr const char* kRouter = "router";
  enum class Direction { dispatch, combine };  // to the experts, and home
  OpId exchange(const std::string& name, Direction direction);
  // To all GPUs that multiply them, and home; `names`: prefix of the collectives' names. Return the
  // last of these, none if there is nothing to do.
  OpId bring(const std::string& names);
  OpId send_home(const std::string& names);
  [[nodiscard]] Bytes come_together(Direction direction) const;
  void exchange_counts();
  // `as_sent`: multiplies rows as they have come, fp8 if they are sent so.
  enum class Operand : std::uint8_t { as_sent, as_made };
  void product(const char* name, std::int64_t n, std::int64_t k, Operand operand,
               GemmLayout layout = GemmLayout::linear, GradientOf of = GradientOf::inputs);
  void weight_gradient(const char* name, std::int64_t in, std::int64_t out);
  void activation(const char* name, const Elementwise& one, GradientOf of = GradientOf::inputs);
  void cast_weights(const char* name, std::int64_t out, std::int64_t in);  // of each expert
  void cast_rows(const char* name, std::int64_t width, CastWay way,
                 GradientOf of = GradientOf::inputs);
  void cast_if_sent_plain(const char* name);
  void transpose_sent(const char* name);
  [[nodiscard]] bool activates_again() const;  // by itself, in the backward pass
  void activation_forward(GradientOf of = GradientOf::inputs);
  void tokens(const char* name, std::int64_t read, std::int64_t written, std::int64_t operations);
  void route_tokens();
  void copy_tokens();
  void copy_tokens_backward();
  // Rows come by the GPU that has sent them, and are multiplied by expert.
  void put_by_expert();
  void put_by_expert_backward();
  void put_by_sender();
  void put_by_sender_backward();
  // Results of experts whose products have kernels of their own, and gradients, become one matrix.
  void put_together(const char* name);
  // What has come home, into its place among the sums of its token.
  void add_up_tokens();
  void add_up_tokens_backward();
  void copy(const char* name, Bytes read, Bytes written);
  void gather_tokens(const char* name);

  [[nodiscard]] std::int64_t most_come(const std::vector<std::int64_t>& sent) const;
  [[nodiscard]] std::int64_t own_tokens() const;       // per GPU
  [[nodiscard]] Bytes row(Direction direction) const;  // of a token, on its way
  [[nodiscard]] bool puts() const { return moe_.exchange != TokenExchange::library; }
  [[nodiscard]] bool once() const {
    return moe_.exchange == TokenExchange::once && (routed_.gpus > 1 || parts() > 1);
  }
  // Sent once, tokens are copied for each expert where they have come, and what experts of a GPU
  // make of a token is added up before it goes home.
  void spread_here();
  void add_up_here();
  [[nodiscard]] std::int64_t parts_home() const;  // of a token, to be added up
  [[nodiscard]] bool lies_by_sender() const;      // what has come, until a kernel copies it
  [[nodiscard]] RowMove come(const char* name, Direction direction) const;
  [[nodiscard]] RowMove own(const char* name, std::int64_t sources) const;
  [[nodiscard]] bool grouped() const { return moe_.kernel == ExpertKernel::grouped; }
  [[nodiscard]] std::int64_t kernels() const;                // that multiply, one after another
  [[nodiscard]] std::int64_t parts() const;                  // that each expert is cut into ...
  [[nodiscard]] std::int64_t inner() const;                  // ... and elements inside one of them
  [[nodiscard]] std::int64_t rows(std::int64_t rank) const;  // per busy expert
  [[nodiscard]] std::int64_t sides() const;

  TensorParallel& gpus_;
  const MoeSpec& moe_;
  const RoutedTokens& routed_;
  PlaceId place_;      // GPUs with the same part of all experts
  PlaceId of_expert_;  // with all parts of the same experts
};

}  // namespace weft
