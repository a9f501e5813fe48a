#include "sim/models/moe.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/core/round_up.h"
#include "sim/models/casts.h"
#include "sim/models/decoder_layer.h"

namespace weft {

std::int64_t Experts::own_tokens() const {
  return gpus_.shapes().tokens / gpus_.shapes().parallel.tensor;
}

std::int64_t Experts::sides() const { return gpus_.shapes().decoder.gated ? 2 : 1; }

std::int64_t Experts::parts() const { return gpus_.shapes().parallel.expert_tensor; }

std::int64_t Experts::inner() const { return moe_.inner / parts(); }

std::int64_t Experts::kernels() const {
  return moe_.kernel == ExpertKernel::each ? routed_.busy : 1;
}

// As if all busy experts of a GPU had equally many.
std::int64_t Experts::rows(std::int64_t rank) const {
  return round_up(routed_.received(rank) * parts(), routed_.busy);
}

// fp8 with a scale for each block of elements, or as the model computes.
Bytes Experts::row(Direction direction) const {
  constexpr std::int64_t kOfAScale = 128;
  constexpr std::int64_t kScale = 4;
  const std::int64_t hidden = gpus_.shapes().decoder.hidden;
  if (direction == Direction::dispatch && moe_.dispatch == DispatchType::fp8) {
    return bytes(hidden + round_up(hidden, kOfAScale) * kScale);
  }
  return gpus_.shapes().size(hidden);
}

OpId Experts::exchange(const std::string& name, Direction direction) {
  if (routed_.gpus == 1) return OpId::none();
  const Bytes token = row(direction);
  CommunicationShape call =
      even_call(CollectiveOp::all_to_all, token * (routed_.most_of_a_pair() * routed_.gpus));
  const std::vector<std::int64_t>& sent = once() ? routed_.reached.gpus : routed_.sent;
  if (once() || !routed_.even()) {
    call.pair_bytes.resize(sent.size());
    const auto n = static_cast<std::size_t>(routed_.gpus);
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        const std::size_t pair = direction == Direction::dispatch ? from * n + to : to * n + from;
        call.pair_bytes[from * n + to] = (token * sent[pair]).count();
      }
    }
  }
  call.row = token;
  if (puts()) {
    call.puts = PutRows{.made_from = row(Direction::combine),
                        .cus = moe_.exchange_cus,
                        .experts = once() ? 0 : moe_.experts,
                        .at_once = direction == Direction::dispatch && !once() ? moe_.top_k : 0,
                        .packs = direction == Direction::dispatch,
                        .reached = once() ? std::optional(routed_.reached) : std::nullopt,
                        .home = once() && direction == Direction::combine};
  }
  return gpus_.out().exchange(name, std::move(call), place_);
}

// Before the library's all-to-all, whose receivers must know how much will come.
void Experts::exchange_counts() {
  if (routed_.gpus == 1 || puts() || moe_.counts == TokenCounts::known) return;
  constexpr std::int64_t kCount = 4;  // bytes
  gpus_.out().exchange("dispatch_counts",
                       even_call(CollectiveOp::all_to_all, bytes(moe_.experts * kCount)), place_);
}

// What has come to all GPUs that share each expert: once for each of its experts there, or once.
Bytes Experts::come_together(Direction direction) const {
  return row(direction) * most_come(once() ? routed_.reached.gpus : routed_.sent);
}

OpId Experts::bring(const std::string& names) {
  const OpId dispatched = exchange(names + "dispatch", Direction::dispatch);
  if (parts() == 1) return dispatched;
  gpus_.out().wait_for(dispatched);
  return gpus_.out().exchange(
      names + "dispatch_gather",
      even_call(CollectiveOp::all_gather, come_together(Direction::dispatch)), of_expert_);
}

OpId Experts::send_home(const std::string& names) {
  OpId summed = OpId::none();
  if (parts() > 1) {
    summed = gpus_.out().exchange(
        names + "combine_reduce",
        even_call(CollectiveOp::reduce_scatter, come_together(Direction::combine)), of_expert_);
  }
  if (routed_.gpus == 1) return summed;
  gpus_.out().wait_for(summed);
  return exchange(names + "combine", Direction::combine);
}

namespace {

// Gradients are given with B along n.
Fp8Sums sums_of(GemmLayout layout, GradientOf of) {
  if (of == GradientOf::weights) return Fp8Sums::in_fp32_of_two_blocks;
  return layout == GemmLayout::nn ? Fp8Sums::in_fp32 : Fp8Sums::fast;
}

}  // namespace

void Experts::product(const char* name, std::int64_t n, std::int64_t k, Operand operand,
                      GemmLayout layout, GradientOf of) {
  const Product product{.m = rows(0), .n = n, .k = k, .layout = layout, .grouped = grouped()};
  const std::int64_t batch = routed_.busy / kernels();
  GemmShape gemm = as_layers_do(gemm_of(product, gpus_.shapes().decoder.dtype, batch),
                                gpus_.shapes(), sums_of(layout, of));
  gemm.packed = gpus_.shapes().packed_experts;
  if (operand == Operand::as_sent && moe_.dispatch == DispatchType::fp8) {
    gemm.fp8 = Fp8Scales::block;
    if (gemm.sums == Fp8Sums::fast) gemm.sums = Fp8Sums::in_fp32;
  }
  if (!routed_.even()) {
    for (std::int64_t rank = 0; rank < routed_.gpus; ++rank) gemm.m_by_rank.push_back(rows(rank));
  }
  for (std::int64_t i = 0; i < kernels(); ++i) {
    gpus_.out().compute(name, kExperts, gemm, place_, of);
  }
}

// A product that sums over tokens. Where their number differs from GPU to GPU it is given as the
// product's rows, since only m can be given per rank: this has the same operations and the same
// elements in all three matrices, but not the cost of adding to fp32 gradients. Rows of both
// operands lie along in and out, whatever the number of tokens: as given here along k and n.
void Experts::weight_gradient(const char* name, std::int64_t in, std::int64_t out) {
  if (routed_.even()) {
    for (std::int64_t i = 0; i < kernels(); ++i) {
      gpus_.weight_gradient(
          name, kExperts, {.m = out, .n = in, .k = rows(0), .grouped = grouped(), .of_layer = true},
          place_, routed_.busy / kernels());
    }
    return;
  }
  product(name, out, in, Operand::as_made, GemmLayout::nn, GradientOf::weights);
  gpus_.add_gradient(name, kExperts, in * out * routed_.busy, place_);
}

// Of the GPU to which most come, for which the others wait; with those that its partners in each
// expert have got for it. `sent`: [from * gpus + to].
std::int64_t Experts::most_come(const std::vector<std::int64_t>& sent) const {
  std::vector<std::int64_t> come(static_cast<std::size_t>(routed_.gpus));
  for (std::size_t pair = 0; pair < sent.size(); ++pair) come[pair % come.size()] += sent[pair];
  return parts() * *std::max_element(come.begin(), come.end());
}

void Experts::activation(const char* name, const Elementwise& one, GradientOf of) {
  Elementwise work = one;
  work.elements = most_come(routed_.sent) * inner();
  gpus_.out().compute(name, kExperts, gpus_.shapes().stream(work), place_, of);
}

void Experts::cast_weights(const char* name, std::int64_t out, std::int64_t in) {
  const DecoderShapes& shapes = gpus_.shapes();
  cast_to_fp8(gpus_.out(), shapes, place_,
              {.name = name,
               .rows = out * routed_.busy,
               .width = in,
               .way = shapes.weight_casts,
               .square = shapes.fp8 == Fp8Scales::block});
}

void Experts::cast_rows(const char* name, std::int64_t width, CastWay way, GradientOf of) {
  const std::int64_t rows = most_come(routed_.sent);
  cast_to_fp8(gpus_.out(), gpus_.shapes(), place_,
              {.name = name, .rows = rows, .width = width, .way = way, .of = of});
}

// Rows that come in fp8 are there as they are multiplied first.
void Experts::cast_if_sent_plain(const char* name) {
  if (moe_.dispatch != DispatchType::fp8)
    cast_rows(name, gpus_.shapes().decoder.hidden, gpus_.shapes().input_casts);
}

void Experts::transpose_sent(const char* name) {
  const DecoderShapes& shapes = gpus_.shapes();
  if (moe_.dispatch != DispatchType::fp8 || shapes.phase != Phase::training) return;
  transpose_fp8(gpus_.out(), shapes, place_,
                {.name = name,
                 .rows = most_come(routed_.sent),
                 .width = shapes.decoder.hidden,
                 .of = GradientOf::weights});
}

bool Experts::activates_again() const {
  const Recomputed& again = gpus_.shapes().again;
  return again.activation && !again.moe;
}

void Experts::activation_forward(GradientOf of) {
  activation("experts_activation", {.read = sides(), .written = 1, .operations = 6}, of);
}

void Experts::tokens(const char* name, std::int64_t read, std::int64_t written,
                     std::int64_t operations) {
  const DecoderShapes& shapes = gpus_.shapes();
  gpus_.compute(name, kRouter,
                shapes.stream({.elements = own_tokens() * shapes.decoder.hidden,
                               .read = read,
                               .written = written,
                               .operations = operations}));
}

void Experts::route_tokens() {
  const DecoderShapes& shapes = gpus_.shapes();
  gpus_.compute("router", kRouter,
                gemm_of({.m = own_tokens(), .n = moe_.experts, .k = shapes.decoder.hidden},
                        shapes.decoder.dtype));
  gpus_.compute("router_top_k", kRouter,
                stream_of({.elements = own_tokens() * moe_.experts, .read = 1, .operations = 4},
                          DataType::fp32));
  exchange_counts();
  if (!puts() || (routed_.gpus == 1 && !once())) copy_tokens();
}

void Experts::copy(const char* name, Bytes read, Bytes written) {
  gpus_.compute(name, kRouter, StreamShape{.read = read, .written = written, .flops = {}});
}

void Experts::spread_here() {
  if (!once()) return;
  const Bytes token = row(Direction::dispatch);
  copy("dispatch_spread", token * most_come(routed_.reached.gpus), token * most_come(routed_.sent));
}

void Experts::add_up_here() {
  if (!once()) return;
  const Bytes token = row(Direction::combine);
  copy("experts_sum_here", token * most_come(routed_.sent),
       token * most_come(routed_.reached.gpus));
}

// Without forwarding one of each expert, else one of each node that a token has been at.
std::int64_t Experts::parts_home() const {
  if (!once()) return moe_.top_k;
  const std::vector<std::int64_t>& nodes = routed_.reached.nodes;
  const auto all = std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0});
  return std::max<std::int64_t>(1, round_up(all, routed_.gpus * own_tokens()));
}

// Each GPU of a tensor-parallel group has handled its share of the tokens; all need all of them.
void Experts::gather_tokens(const char* name) {
  const DecoderShapes& shapes = gpus_.shapes();
  if (!shapes.splits() || shapes.keeps_its_tokens()) return;
  gpus_.out().wait_for(gpus_.out().exchange(
      name, even_call(CollectiveOp::all_gather, shapes.activations()), gpus_.place()));
}

void Experts::forward() {
  route_tokens();
  const OpId dispatched = bring("");
  OpId shared = OpId::none();
  if (moe_.shared_inner > 0) {
    shared = feed_forward(gpus_, {.names = "shared", .inner = moe_.shared_inner});
  }
  const std::int64_t hidden = gpus_.shapes().decoder.hidden;
  cast_weights("experts_up_weights", sides() * inner(), hidden);
  gpus_.out().wait_for(dispatched);
  spread_here();
  put_by_expert();
  cast_if_sent_plain("experts_up_input");
  product("experts_up", sides() * inner(), hidden, Operand::as_sent);
  transpose_sent("experts_up_input");
  activation_forward();
  cast_weights("experts_down_weights", hidden, inner());
  cast_rows("experts_down_input", inner(), gpus_.shapes().input_casts);
  product("experts_down", hidden, inner(), Operand::as_made);
  put_together("experts_together");
  put_by_sender();
  add_up_here();
  gpus_.out().wait_for(send_home(""));
  gpus_.out().wait_for(shared);
  add_up_tokens();
  gather_tokens("experts_gather");
}

void Experts::backward() {
  const DecoderShapes& shapes = gpus_.shapes();
  const std::int64_t hidden = shapes.decoder.hidden;
  const std::int64_t up = sides() * inner();
  add_up_tokens_backward();
  const OpId dispatched = bring("gradient_");
  if (moe_.shared_inner > 0) {
    feed_forward_backward(
        gpus_,
        {.names = "shared", .inner = moe_.shared_inner, .activates_again = activates_again()});
  }
  cast_weights("experts_down_weights", hidden, inner());
  gpus_.out().wait_for(dispatched);
  spread_here();
  put_by_sender_backward();
  if (activates_again()) {
    activation_forward(GradientOf::weights);
    cast_rows("experts_down_input", inner(), CastWay::transposed, GradientOf::weights);
  }
  cast_if_sent_plain("experts_down_gradient");
  product("experts_down_input_gradient", inner(), hidden, Operand::as_sent, GemmLayout::nn);
  transpose_sent("experts_down_gradient");
  weight_gradient("experts_down_weight_gradient", inner(), hidden);
  activation("experts_activation_backward",
             {.read = sides() + 1,
              .written = sides(),
              .operations = 12,
              .instructions = gate_instructions(gpus_.shapes().decoder)});
  cast_weights("experts_up_weights", up, hidden);
  cast_rows("experts_up_gradient", up, CastWay::both);
  product("experts_up_input_gradient", hidden, up, Operand::as_made, GemmLayout::nn);
  put_together("experts_gradients_together");
  put_by_expert_backward();
  add_up_here();
  const OpId combined = send_home("gradient_");
  weight_gradient("experts_up_weight_gradient", hidden, up);
  gpus_.out().wait_for(combined);
  copy_tokens_backward();
  const Product scores{.m = own_tokens(), .n = hidden, .k = moe_.experts, .layout = GemmLayout::nn};
  gpus_.compute("router_input_gradient", kRouter, gemm_of(scores, shapes.decoder.dtype));
  gpus_.weight_gradient("router_weight_gradient", kRouter,
                        {.m = moe_.experts, .n = hidden, .k = own_tokens()}, gpus_.place());
  gather_tokens("experts_gradient_gather");
}

}  // namespace weft
