#include "sim/traces/pytorch/operator_work.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/traces/pytorch/limited.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

using Inputs = std::vector<OperatorInput>;

std::int64_t size_of(const OperatorInput& input) {
  return times(input.elements(), input.element_bytes);
}

const OperatorInput* tensor(const Inputs& inputs, std::size_t index) {
  if (index >= inputs.size() || inputs[index].elements() == 0) return nullptr;
  return inputs[index].element_bytes > 0 ? &inputs[index] : nullptr;
}

std::string_view value(const Inputs& inputs, std::size_t index) {
  return index < inputs.size() ? std::string_view(inputs[index].value) : std::string_view();
}

std::optional<RecordedWork> checked(RecordedWork work) {
  const bool fits = work.flops.count() <= trace_limits::kFlops &&
                    work.read.count() <= trace_limits::kBytes &&
                    work.written.count() <= trace_limits::kBytes;
  if (!fits || work.read.count() + work.written.count() <= 0) return std::nullopt;
  return work;
}

// --- products of matrices

std::optional<RecordedWork> gemm_work(RecordedGemm gemm, std::int64_t element_bytes,
                                      std::int64_t added) {
  RecordedWork work;
  work.kind = RecordedKind::gemm;
  work.element_bytes = element_bytes;
  work.matrix = true;
  const std::int64_t of_c = times(times(gemm.m, gemm.n), gemm.batch);
  work.flops = flops(times(times(2, of_c), gemm.k));
  const std::int64_t operands =
      times(plus(times(gemm.m, gemm.k), times(gemm.k, gemm.n)), gemm.batch);
  work.read = bytes(plus(times(operands, element_bytes), added));
  work.written = bytes(times(of_c, std::max<std::int64_t>(element_bytes, 2)));  // fp8 gives bf16
  work.gemm = gemm;
  return checked(work);
}

// A product of two matrices, or batches of them; they come after a tensor that is added, if any.
template <std::size_t first>
std::optional<RecordedWork> product(const Inputs& inputs) {
  const OperatorInput* a = tensor(inputs, first);
  const OperatorInput* b = tensor(inputs, first + 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::size_t dims = a->sizes.size();
  if (dims < 2 || dims > 3 || b->sizes.size() != dims) return std::nullopt;
  const auto& of_a = a->sizes;
  const auto& of_b = b->sizes;
  if (of_a[dims - 1] != of_b[dims - 2] || (dims == 3 && of_a[0] != of_b[0])) return std::nullopt;
  const OperatorInput* added = first == 0 ? nullptr : tensor(inputs, 0);
  return gemm_work({.m = of_a[dims - 2],
                    .n = of_b[dims - 1],
                    .k = of_a[dims - 1],
                    .batch = dims == 3 ? of_a[0] : 1},
                   a->element_bytes, added == nullptr ? 0 : size_of(*added));
}

std::optional<RecordedWork> matrix_vector(const Inputs& inputs) {
  const OperatorInput* a = tensor(inputs, 0);
  const OperatorInput* x = tensor(inputs, 1);
  const bool fits = a != nullptr && x != nullptr && a->sizes.size() == 2 && x->sizes.size() == 1 &&
                    a->sizes[1] == x->sizes[0];
  if (!fits) return std::nullopt;
  return gemm_work({.m = 1, .n = a->sizes[0], .k = a->sizes[1]}, a->element_bytes, 0);
}

// Products of several sizes in one kernel, those of experts: of the operand with two sizes, parts
// belong to one product after another. Their sizes are data, but together they are all of it.
template <std::size_t offsets>
std::optional<RecordedWork> grouped_product(const Inputs& inputs) {
  const OperatorInput* a = tensor(inputs, 0);
  const OperatorInput* b = tensor(inputs, 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::size_t of_a = a->sizes.size();
  const std::size_t of_b = b->sizes.size();
  if (of_a == 3 && of_b == 3) return product<0>(inputs);
  if (of_a < 2 || of_a > 3 || of_b < 2 || of_b > 3) return std::nullopt;
  if (a->sizes[of_a - 1] != b->sizes[of_b - 2]) return std::nullopt;
  std::int64_t results = times(a->sizes[of_a - 2], b->sizes[of_b - 1]);
  const std::int64_t operations = times(times(2, results), a->sizes[of_a - 1]);
  if (of_a == 2 && of_b == 2) {  // parts of k: each product has a result
    const OperatorInput* ends = tensor(inputs, offsets);
    if (ends == nullptr) return std::nullopt;
    results = times(results, ends->elements());
  }
  RecordedWork work;
  work.kind = RecordedKind::gemm;
  work.element_bytes = a->element_bytes;
  work.matrix = true;
  work.flops = flops(operations);
  work.read = bytes(plus(size_of(*a), size_of(*b)));
  work.written = bytes(times(results, std::max<std::int64_t>(a->element_bytes, 2)));
  return checked(work);
}

// --- attention

struct AttentionCall {
  std::string_view name;
  std::size_t query;      // index of the queries; keys and values follow
  bool heads_first;       // batch, heads, tokens, width; else batch, tokens, heads, width
  std::size_t causal;     // index of the argument that says whether it is causal ...
  std::string_view word;  // ... by this word
  bool backward;
};
constexpr auto kAttention = std::to_array<AttentionCall>({
    {"aten::_flash_attention_forward", 0, false, 8, "True", false},
    {"aten::_flash_attention_backward", 1, false, 11, "True", true},
    {"aten::_scaled_dot_product_flash_attention", 0, true, 4, "True", false},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, true, 11, "True", true},
    {"aten::_scaled_dot_product_cudnn_attention", 0, true, 6, "True", false},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, true, 14, "True", true},
    {"aten::_cudnn_attention_forward", 0, true, 10, "True", false},
    {"aten::_efficient_attention_forward", 0, false, 9, "1", false},
    {"aten::_efficient_attention_backward", 1, false, 14, "1", true},
    {"flash_attn::_flash_attn_forward", 0, false, 5, "True", false},
    {"flash_attn::_flash_attn_backward", 1, false, 11, "True", true},
});

// Nothing if a size is out of any bounds.
std::optional<RecordedAttention> sizes_of(const AttentionCall& call, const OperatorInput& q,
                                          const OperatorInput& k, const OperatorInput& v,
                                          bool causal) {
  const std::size_t tokens = call.heads_first ? 2 : 1;
  const std::size_t heads = call.heads_first ? 1 : 2;
  for (const OperatorInput* one : {&q, &k, &v}) {
    const auto bad = [](std::int64_t size) { return size < 1 || size > INT32_MAX; };
    if (std::any_of(one->sizes.begin(), one->sizes.end(), bad)) return std::nullopt;
  }
  const auto size = [](std::int64_t of) { return static_cast<std::int32_t>(of); };
  return RecordedAttention{.batch = size(q.sizes[0]),
                           .heads = size(q.sizes[heads]),
                           .kv_heads = size(k.sizes[heads]),
                           .head_dim = size(q.sizes[3]),
                           .value_head_dim = size(v.sizes[3]),
                           .queries = size(q.sizes[tokens]),
                           .keys = size(k.sizes[tokens]),
                           .causal = causal,
                           .backward = call.backward};
}

std::optional<RecordedWork> attention_work(const AttentionCall& call, const Inputs& inputs) {
  const OperatorInput* q = tensor(inputs, call.query);
  const OperatorInput* k = tensor(inputs, call.query + 1);
  const OperatorInput* v = tensor(inputs, call.query + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  // With three sizes, sequences have different lengths, which are not in the profile.
  if (q->sizes.size() != 4 || k->sizes.size() != 4 || v->sizes.size() != 4) return std::nullopt;
  const std::size_t tokens = call.heads_first ? 2 : 1;
  const std::size_t heads = call.heads_first ? 1 : 2;
  const std::int64_t queries = q->sizes[tokens];
  const std::int64_t keys = k->sizes[tokens];
  std::int64_t pairs = times(queries, keys);
  const bool causal = value(inputs, call.causal) == call.word && queries <= keys;
  if (causal) {
    pairs -= times(queries, queries - 1) / 2;
  }
  // Forward has two products, backward five: the scores again, and gradients of all three inputs.
  const std::int64_t widths = call.backward ? plus(times(3, q->sizes[3]), times(2, v->sizes[3]))
                                            : plus(q->sizes[3], v->sizes[3]);
  RecordedWork work;
  work.kind = RecordedKind::attention;
  work.matrix = true;
  work.element_bytes = q->element_bytes;
  work.attention = sizes_of(call, *q, *k, *v, causal);
  work.flops = flops(times(times(times(2, pairs), times(q->sizes[0], q->sizes[heads])), widths));
  const std::int64_t of_result =
      times(size_of(*q) / std::max<std::int64_t>(q->sizes[3], 1), v->sizes[3]);
  const std::int64_t of_inputs = plus(size_of(*q), plus(size_of(*k), size_of(*v)));
  // Backward reads the result and its gradient as well, and writes what belongs to the inputs.
  work.read = bytes(call.backward ? plus(of_inputs, times(2, of_result)) : of_inputs);
  work.written = bytes(call.backward ? of_inputs : of_result);
  return checked(work);
}

// --- what streams through memory

RecordedWork stream(RecordedKind kind, std::int64_t read, std::int64_t written,
                    std::int64_t operations) {
  RecordedWork work;
  work.kind = kind;
  work.read = bytes(read);
  work.written = bytes(written);
  work.flops = flops(operations);
  return work;
}

// Tensors that are equal or broadcast: there are as many results as the largest has elements.
std::optional<RecordedWork> elementwise(const Inputs& inputs) {
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::int64_t results = 0;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OperatorInput* one = tensor(inputs, i);
    if (one == nullptr) continue;
    read = plus(read, size_of(*one));
    if (one->elements() <= results) continue;
    results = one->elements();
    size = one->element_bytes;
    written = size_of(*one);
  }
  if (results == 0) return std::nullopt;
  RecordedWork work = stream(RecordedKind::elementwise, read, written, results);
  work.element_bytes = size;
  return checked(work);
}

// Reads the first `tensors` tensors, all of one size, and writes one more.
template <RecordedKind kind, std::size_t tensors>
std::optional<RecordedWork> rows(const Inputs& inputs) {
  constexpr std::int64_t kOperations = 5;  // mean, variance, subtract, divide, scale
  const OperatorInput* first = tensor(inputs, 0);
  if (first == nullptr) return std::nullopt;
  std::int64_t read = 0;
  for (std::size_t i = 0; i < tensors; ++i) {
    const OperatorInput* one = tensor(inputs, i);
    if (one == nullptr) return std::nullopt;
    read = plus(read, size_of(*one));
  }
  RecordedWork work =
      stream(kind, read, size_of(*first),
             kind == RecordedKind::norm ? times(kOperations, first->elements()) : 0);
  work.element_bytes = first->element_bytes;
  return checked(work);
}

std::optional<RecordedWork> reduction(const Inputs& inputs) {
  const OperatorInput* from = tensor(inputs, 0);
  if (from == nullptr) return std::nullopt;
  RecordedWork work = stream(RecordedKind::elementwise, size_of(*from), 0, from->elements());
  work.element_bytes = from->element_bytes;
  return checked(work);
}

std::optional<RecordedWork> copy(const Inputs& inputs) {  // into the first, from the second
  const OperatorInput* to = tensor(inputs, 0);
  const OperatorInput* from = tensor(inputs, 1);
  if (to == nullptr || from == nullptr) return std::nullopt;
  RecordedWork work = stream(RecordedKind::copy, size_of(*from), size_of(*to), 0);
  work.element_bytes = to->element_bytes;
  return checked(work);
}

std::optional<RecordedWork> fill(const Inputs& inputs) {
  const OperatorInput* to = tensor(inputs, 0);
  if (to == nullptr) return std::nullopt;
  return checked(stream(RecordedKind::copy, 0, size_of(*to), 0));
}

std::optional<RecordedWork> lookups(const Inputs& inputs, std::int64_t bags) {
  const OperatorInput* table = tensor(inputs, 0);
  const OperatorInput* indices = tensor(inputs, 1);
  if (table == nullptr || indices == nullptr || table->sizes.size() != 2) return std::nullopt;
  const std::int64_t row = times(table->sizes[1], table->element_bytes);
  const std::int64_t results = bags == 0 ? indices->elements() : bags;
  const bool pools = bags != 0;
  RecordedWork work =
      stream(RecordedKind::embedding, plus(times(indices->elements(), row), size_of(*indices)),
             times(results, row), pools ? times(indices->elements(), table->sizes[1]) : 0);
  work.element_bytes = table->element_bytes;
  work.rows = results;
  return checked(work);
}

std::optional<RecordedWork> embedding(const Inputs& inputs) { return lookups(inputs, 0); }

std::optional<RecordedWork> embedding_bag(const Inputs& inputs) {
  constexpr std::size_t kIncludesLast = 7;
  const OperatorInput* offsets = tensor(inputs, 2);
  if (offsets == nullptr) return std::nullopt;
  const std::int64_t bags = offsets->elements() - (value(inputs, kIncludesLast) == "True" ? 1 : 0);
  if (bags < 1) return std::nullopt;
  return lookups(inputs, bags);
}

struct OperatorRule {
  std::string_view name;
  std::optional<RecordedWork> (*work)(const Inputs&);
};
constexpr auto kRules = std::to_array<OperatorRule>({
    {"aten::mm", product<0>},
    {"aten::bmm", product<0>},
    {"aten::_scaled_mm", product<0>},
    {"aten::_int_mm", product<0>},
    {"aten::addmm", product<1>},
    {"aten::_addmm_activation", product<1>},
    {"aten::baddbmm", product<1>},
    {"aten::mv", matrix_vector},
    {"aten::_grouped_mm", grouped_product<2>},
    {"aten::_scaled_grouped_mm", grouped_product<4>},
    {"aten::native_layer_norm", rows<RecordedKind::norm, 1>},
    {"aten::native_layer_norm_backward", rows<RecordedKind::norm, 2>},
    {"aten::native_group_norm", rows<RecordedKind::norm, 1>},
    {"aten::_fused_rms_norm", rows<RecordedKind::norm, 1>},
    {"aten::_fused_rms_norm_backward", rows<RecordedKind::norm, 2>},
    {"aten::_softmax", rows<RecordedKind::norm, 1>},
    {"aten::_softmax_backward_data", rows<RecordedKind::norm, 2>},
    {"aten::_log_softmax", rows<RecordedKind::norm, 1>},
    {"aten::_log_softmax_backward_data", rows<RecordedKind::norm, 2>},
    {"aten::sum", reduction},
    {"aten::mean", reduction},
    {"aten::copy_", copy},
    {"aten::fill_", fill},
    {"aten::zero_", fill},
    {"aten::embedding", embedding},
    {"aten::embedding_bag", embedding_bag},
    {"aten::_embedding_bag", embedding_bag},
});

// Each also exists in place, with an underscore at the end.
constexpr std::string_view kElementwise =
    " add sub mul div neg abs exp sqrt rsqrt reciprocal pow cos sin tanh sigmoid relu silu "
    "gelu clamp clamp_min maximum minimum where masked_fill addcmul addcdiv lerp "
    "native_dropout silu_backward gelu_backward tanh_backward sigmoid_backward "
    "threshold_backward ";

bool is_elementwise(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  if (!name.starts_with(kAten)) return false;
  name.remove_prefix(kAten.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return !name.empty() && name.find(' ') == std::string_view::npos &&
         kElementwise.find(' ' + std::string(name) + ' ') != std::string_view::npos;
}

}  // namespace

std::optional<RecordedWork> work_of_operator(std::string_view name, const Inputs& inputs) {
  if (inputs.empty()) return std::nullopt;
  for (const OperatorRule& rule : kRules) {
    if (rule.name == name) return rule.work(inputs);
  }
  for (const AttentionCall& call : kAttention) {
    if (call.name == name) return attention_work(call, inputs);
  }
  return is_elementwise(name) ? elementwise(inputs) : std::nullopt;
}

}  // namespace weft
