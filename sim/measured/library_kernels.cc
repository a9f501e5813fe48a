#include "sim/measured/library_kernels.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/models/attention_gradients.h"

namespace weft {
namespace {

using Kernels = std::vector<OpShape>;

class Shapes {
 public:
  Shapes(const MeasuredLine& line, Diagnostics& problems) : line_(line), problems_(problems) {}

  [[nodiscard]] Kernels gemm() const {
    return {GemmShape{.m = needed("m"),
                      .n = needed("n"),
                      .k = needed("k"),
                      .batch = line_.number("batch").value_or(1),
                      .m_by_rank = {}}};
  }

  [[nodiscard]] Kernels forward() const { return {attention(needed("queries"), needed("keys"))}; }

  [[nodiscard]] Kernels forward_and_backward() const {
    const AttentionShape shape = attention(needed("queries"), needed("keys"));
    AttentionShape backward = shape;
    backward.backward = true;
    Kernels all{shape, attention_row_sums(backward), backward, attention_query_gradients(backward)};
    if (shares_keys(shape)) {
      all.emplace_back(attention_shared_gradients(backward, shape.head_dim));
      all.emplace_back(attention_shared_gradients(backward, shape.value_head_dim));
    }
    return all;
  }

  [[nodiscard]] Kernels prompt_layer() const {
    AttentionShape shape = attention(needed("isl"), needed("isl"));
    shape.causal = true;
    return layer(shape);
  }

  [[nodiscard]] Kernels decoding_layer() const { return layer(attention(1, needed("step") + 1)); }

 private:
  [[nodiscard]] std::int64_t needed(const char* name) const {
    return line_.needed(name, problems_).value_or(1);
  }

  // Heads have 128 elements if the line does not say (the set's first line does).
  [[nodiscard]] AttentionShape attention(std::int64_t queries, std::int64_t keys) const {
    const std::int64_t dim = line_.number("head_dim").value_or(128);
    return {.batch = needed("batch"),
            .heads = needed("heads"),
            .kv_heads = needed("kv_heads"),
            .head_dim = dim,
            .value_head_dim = dim,
            .queries = queries,
            .keys = keys,
            .causal = line_.number("causal").value_or(0) != 0};
  }

  // A kernel that plans the batch; one that applies positions to queries, keys and values and puts
  // the latter two into the pages of the cache; attention.
  static Kernels layer(const AttentionShape& shape) {
    const std::int64_t tokens = shape.batch * shape.queries;
    const std::int64_t size = tokens * (shape.heads + 2 * shape.kv_heads) * shape.head_dim * 2;
    return {StreamShape{.read = bytes(4 * shape.batch), .written = bytes(4096), .flops = {}},
            StreamShape{.read = bytes(size), .written = bytes(size), .flops = {}}, shape};
  }

  const MeasuredLine& line_;
  Diagnostics& problems_;
};

struct Row {
  const char* kind;
  Kernels (Shapes::*kernels)() const;
};
constexpr std::array kRows = {
    Row{"library.gemm", &Shapes::gemm},
    Row{"library.attention", &Shapes::forward},
    Row{"library.attention_both", &Shapes::forward_and_backward},
    Row{"library.decoding", &Shapes::forward},
    Row{"library.prompt_layer", &Shapes::prompt_layer},
    Row{"library.decoding_layer", &Shapes::decoding_layer},
};

const Row* find_row(const std::string& kind) {
  const auto* const found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return kind == row.kind; });
  return found == kRows.end() ? nullptr : found;
}

}  // namespace

void name_library_kernel(MeasuredLine& line) {
  const bool cold = !line.says("cache", "warm");
  if ((line.kind == "gemm" || line.kind == "bmm") && cold) {
    line.kind = "library.gemm";
  } else if (line.kind == "attention" && line.says("what", "context")) {
    line.kind = "library.prompt_layer";
  } else if (line.kind == "attention" && line.says("what", "generation")) {
    line.kind = "library.decoding_layer";
  } else if (!line.says("backend", "cudnn")) {
    return;
  } else if (line.kind == "attention") {
    line.kind = line.says("pass", "both") ? "library.attention_both" : "library.attention";
  } else if (line.kind == "attention_decode") {
    line.kind = "library.decoding";
  }
}

bool is_library_kernel(const std::string& kind) { return find_row(kind) != nullptr; }

std::vector<OpShape> library_kernels(const MeasuredLine& line, Diagnostics& problems) {
  const Row* const row = find_row(line.kind);
  SIM_ASSERT(row != nullptr);
  const Shapes shapes(line, problems);
  return (shapes.*row->kernels)();
}

}  // namespace weft
