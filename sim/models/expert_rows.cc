// Rows of tokens between the order of tokens, of the GPUs that sent them, and of their experts.
#include "sim/models/moe.h"
#include "sim/models/row_copies.h"

namespace weft {

// Copies of `sources` rows, as many as this GPU's tokens have experts.
RowMove Experts::own(const char* name, std::int64_t sources) const {
  return {.name = name,
          .part = kRouter,
          .rows = own_tokens() * moe_.top_k,
          .sources = sources,
          .width = gpus_.shapes().decoder.hidden,
          .row_size = row(Direction::combine),
          .source_size = row(Direction::combine),
          .place = gpus_.place()};
}

// All that has come to the GPU.
RowMove Experts::come(const char* name, Direction direction) const {
  const std::int64_t rows = most_come(routed_.sent);
  return {.name = name,
          .part = kExperts,
          .rows = rows,
          .sources = rows,
          .width = gpus_.shapes().decoder.hidden,
          .row_size = row(direction),
          .source_size = row(direction),
          .place = place_};
}

// A copy of each token for each of its experts, as it is sent.
void Experts::copy_tokens() {
  const bool stay_here = routed_.gpus * parts() == 1;
  if (stay_here && moe_.permutation == Permutation::in_products) return;
  RowMove move = own("dispatch_copy", own_tokens());
  move.row_size = row(Direction::dispatch);
  take_rows(gpus_.out(), move);
}

void Experts::copy_tokens_backward() {
  const RowMove move = own("dispatch_copy_backward", own_tokens());
  if (moe_.permutation == Permutation::index) return add_rows_sorted(gpus_.out(), move);
  if (moe_.permutation == Permutation::scatter) return scatter_add_rows(gpus_.out(), move);
  tokens("dispatch_copy_backward", parts_home(), 1, moe_.top_k);
}

bool Experts::lies_by_sender() const {
  return !puts() && moe_.permutation != Permutation::in_products && routed_.busy > 1 &&
         routed_.gpus * parts() > 1;
}

void Experts::put_by_expert() {
  if (lies_by_sender()) take_rows(gpus_.out(), come("dispatch_sort", Direction::dispatch));
}

// torchtitan writes it as rows[index] = results.
void Experts::put_by_sender() {
  if (!lies_by_sender()) return;
  const RowMove move = come("combine_sort", Direction::combine);
  if (moe_.permutation == Permutation::scatter) return place_rows(gpus_.out(), move);
  take_rows(gpus_.out(), move);
}

// Of put_by_expert().
void Experts::put_by_expert_backward() {
  if (!lies_by_sender()) return;
  const RowMove move = come("dispatch_sort_backward", Direction::combine);
  if (moe_.permutation == Permutation::fused) return take_rows(gpus_.out(), move);
  add_rows_sorted(gpus_.out(), move);
}

// Of put_by_sender().
void Experts::put_by_sender_backward() {
  if (!lies_by_sender()) return;
  const RowMove move = come("combine_sort_backward", Direction::dispatch);
  if (moe_.permutation == Permutation::index) return add_rows_sorted(gpus_.out(), move);
  take_rows(gpus_.out(), move);
}

void Experts::put_together(const char* name) {
  if (moe_.permutation == Permutation::in_products) return;
  if (kernels() > 1) take_rows(gpus_.out(), come(name, Direction::combine));
}

void Experts::add_up_tokens() {
  if (moe_.permutation == Permutation::scatter) {
    tokens("experts_weights", moe_.top_k, moe_.top_k, moe_.top_k);
    scatter_add_rows(gpus_.out(), own("experts_sum", own_tokens()));
    if (moe_.shared_inner > 0) tokens("experts_shared_sum", 2, 1, 1);
    return;
  }
  if (moe_.permutation == Permutation::index) {
    take_rows(gpus_.out(), own("combine_copy", own_tokens() * moe_.top_k));
  }
  tokens("experts_sum", parts_home() + (moe_.shared_inner > 0 ? 1 : 0), 1, 2 * moe_.top_k);
}

void Experts::add_up_tokens_backward() {
  // Reads the experts' outputs, too, for the gradients of their weights in the sum.
  tokens("experts_sum_backward", 1 + moe_.top_k, moe_.top_k, 3 * moe_.top_k);
  if (moe_.permutation == Permutation::index) {
    add_rows_sorted(gpus_.out(), own("combine_copy_backward", own_tokens() * moe_.top_k));
  }
}

}  // namespace weft
