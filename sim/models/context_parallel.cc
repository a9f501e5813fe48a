#include "sim/models/context_parallel.h"

#include <algorithm>
#include <utility>

#include "sim/models/attention_gradients.h"

namespace weft {
namespace {

constexpr const char* kAttends = "attention";

// Everything goes to the GPU that is so many further on, as one call that sends and receives.
CommunicationShape pass_on(std::int64_t gpus, std::int64_t by, Bytes size) {
  CommunicationShape call = even_call(CollectiveOp::all_to_all, size * gpus);
  call.pair_bytes.assign(static_cast<std::size_t>(gpus * gpus), 0);
  for (std::int64_t from = 0; from < gpus; ++from) {
    const std::int64_t to = (from + by + gpus) % gpus;
    call.pair_bytes[static_cast<std::size_t>(from * gpus + to)] = size.count();
  }
  return call;
}

class ContextAttention {
 public:
  ContextAttention(TensorParallel& gpus, const AttentionShape& own, PlaceId group)
      : gpus_(gpus), out_(gpus.out()), own_(own), group_(group) {}

  void forward() {
    if (sharers() == 1) return kernels(own_);
    switch (gpus_.shapes().parallel.context_exchange) {
      case ContextExchange::all_gather:
        gather("key_value_gather");
        return kernels(chunks());
      case ContextExchange::ring:
        return ring_forward();
      case ContextExchange::ulysses:
        return ulysses_forward();
    }
  }

  void backward() {
    own_.backward = true;
    if (sharers() == 1) return kernels(own_);
    switch (gpus_.shapes().parallel.context_exchange) {
      case ContextExchange::all_gather:
        return gathered_backward();
      case ContextExchange::ring:
        return ring_backward();
      case ContextExchange::ulysses:
        return ulysses_backward();
    }
  }

 private:
  [[nodiscard]] std::int64_t sharers() const { return gpus_.shapes().parallel.context; }

  // Of the heads that `shape` has, for so many tokens of each sequence.
  [[nodiscard]] static std::int64_t key_values(const AttentionShape& shape, std::int64_t tokens) {
    return shape.batch * tokens * shape.kv_heads * (shape.head_dim + shape.value_head_dim);
  }
  [[nodiscard]] static std::int64_t queries(const AttentionShape& shape) {
    return shape.batch * shape.queries * shape.heads * shape.head_dim;
  }
  [[nodiscard]] static std::int64_t results(const AttentionShape& shape) {
    return shape.batch * shape.queries * shape.heads * shape.value_head_dim;
  }

  // Attention, forward or backward, to keys and values that are there.
  void kernels(const AttentionShape& shape) {
    if (!shape.backward) return compute(kAttends, shape);
    compute("attention_row_sums", attention_row_sums(shape));
    compute("attention_backward", shape);
    compute("query_gradients", attention_query_gradients(shape));
    if (!shares_keys(shape)) return;
    compute("key_gradients", attention_shared_gradients(shape, shape.head_dim));
    compute("value_gradients", attention_shared_gradients(shape, shape.value_head_dim));
  }

  void compute(const char* name, OpShape shape) { gpus_.compute(name, kAttends, std::move(shape)); }
  // Into another order.
  void copy(const char* name, std::int64_t elements) {
    compute(name, gpus_.shapes().stream({.elements = elements, .read = 1, .written = 1}));
  }
  void add(const char* name, std::int64_t elements, std::int64_t operations = 1) {
    compute(name, gpus_.shapes().stream(
                      {.elements = elements, .read = 2, .written = 1, .operations = operations}));
  }
  // The next operator waits for it.
  void exchange(const char* name, CollectiveOp op, std::int64_t elements) {
    out_.wait_for(out_.exchange(name, even_call(op, gpus_.shapes().size(elements)), group_));
  }

  // --- all_gather

  // A GPU's two chunks of a sequence, each with the keys up to its end: together those of 2 n + 1
  // chunks on each GPU, though its two may have more and fewer.
  [[nodiscard]] AttentionShape chunks() const {
    AttentionShape shape = own_;
    shape.batch = 2 * own_.batch;
    shape.queries = own_.queries / 2;
    shape.keys = (2 * sharers() + 1) * shape.queries / 2;
    return shape;
  }

  void gather(const char* name) {
    const std::int64_t elements = key_values(own_, own_.keys);
    exchange(name, CollectiveOp::all_gather, elements);
    copy("key_value_order", elements);
  }

  void gathered_backward() {
    gather("key_value_gather_again");
    kernels(chunks());
    const std::int64_t elements = key_values(own_, own_.keys);
    copy("key_value_gradient_order", elements);
    exchange("key_value_gradient_reduce", CollectiveOp::reduce_scatter, elements);
  }

  // --- ring

  // Attention to its own keys, or to another GPU's: of those of an earlier GPU all queries see the
  // first chunk, of a later one's the second chunk of queries sees all. Both are as many products.
  [[nodiscard]] AttentionShape step(bool own) const {
    AttentionShape shape = own_;
    shape.keys = own ? own_.queries : own_.queries / 2;
    shape.causal = own;
    return shape;
  }

  // To the next GPU or, backward, to the previous one, while this one computes.
  OpId pass(const char* name, std::int64_t tensors) {
    const Bytes size = gpus_.shapes().size(tensors * key_values(own_, own_.queries));
    const int by = own_.backward ? -1 : 1;
    return out_.exchange(name, pass_on(sharers(), by, size), group_, GradientOf::inputs, "send");
  }

  // Keys and values side by side, as they are sent.
  void begin_ring() { copy("key_value_copy", key_values(own_, own_.queries)); }

  void ring_forward() {
    begin_ring();
    OpId received = OpId::none();
    for (std::int64_t i = 0; i < sharers(); ++i) {
      const OpId sent = i + 1 < sharers() ? pass("key_value_send", 1) : OpId::none();
      const AttentionShape shape = step(i == 0);
      out_.wait_for(received);
      kernels(shape);
      if (i > 0) add("attention_merge", results(shape), 3);
      received = sent;
    }
  }

  // Begins with the keys and values that it received last, those of the next GPU, and ends with its
  // own. The sum of gradients to which a GPU adds in a step arrives during that step.
  void ring_backward() {
    begin_ring();
    OpId received = OpId::none();
    for (std::int64_t i = 0; i < sharers(); ++i) {
      const bool last = i + 1 == sharers();
      const char* name = i == 0 ? "key_value_send"
                         : last ? "key_value_gradient_send"
                                : "key_value_and_gradient_send";
      const OpId sent = pass(name, i == 0 || last ? 1 : 2);
      const AttentionShape shape = step(last);
      out_.wait_for(received);
      kernels(shape);
      received = sent;
      if (i == 0) continue;
      add("query_gradient_add", queries(shape));
      out_.wait_for(sent);
      add("key_value_gradient_add", key_values(shape, shape.keys));
    }
  }

  // --- ulysses

  // All tokens of each sequence, for some of the heads.
  [[nodiscard]] AttentionShape some_heads() const {
    AttentionShape shape = own_;
    shape.queries = own_.keys;
    shape.heads = own_.heads / sharers();
    shape.kv_heads = std::max<std::int64_t>(1, own_.kv_heads / sharers());
    return shape;
  }

  void ulysses_forward() {
    const AttentionShape shape = some_heads();
    const std::int64_t sent = queries(shape) + key_values(shape, shape.keys);
    copy("heads_copy", sent);
    exchange("heads_exchange", CollectiveOp::all_to_all, sent);
    kernels(shape);
    exchange("tokens_exchange", CollectiveOp::all_to_all, results(shape));
    copy("tokens_copy", results(shape));
  }

  void ulysses_backward() {
    const AttentionShape shape = some_heads();
    const std::int64_t sent = queries(shape) + key_values(shape, shape.keys);
    copy("tokens_gradient_copy", results(shape));
    exchange("tokens_gradient_exchange", CollectiveOp::all_to_all, results(shape));
    kernels(shape);
    exchange("heads_gradient_exchange", CollectiveOp::all_to_all, sent);
    copy("heads_gradient_copy", sent);
  }

  TensorParallel& gpus_;
  BlockWriter& out_;
  AttentionShape own_;
  PlaceId group_;
};

}  // namespace

void attend(TensorParallel& gpus, const AttentionShape& own, PlaceId context) {
  ContextAttention(gpus, own, context).forward();
}

void attend_backward(TensorParallel& gpus, const AttentionShape& own, PlaceId context) {
  ContextAttention(gpus, own, context).backward();
}

}  // namespace weft
