#include "sim/measured/library_kernels.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
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
                      .layout = layout()}};
  }

  [[nodiscard]] Kernels gemm_fp8() const {
    GemmShape shape{.m = needed("m"), .n = needed("n"), .k = needed("k")};
    shape.fp8 = scales();
    if (shape.fp8 == Fp8Scales::block) shape.sums = Fp8Sums::in_fp32;
    return {shape};
  }

  [[nodiscard]] Kernels grouped() const {
    const std::int64_t experts = needed("experts");
    GemmShape shape{.m = round_up(needed("tokens"), experts),
                    .n = needed("n"),
                    .k = needed("k"),
                    .batch = experts};
    shape.grouped = true;
    shape.m_of_each = tokens_of_each();
    if (line_.says("dtype", "fp8")) shape.fp8 = Fp8Scales::row;
    return {shape};
  }

  // Gradients of the weights of each expert: n x k, summed over its tokens.
  [[nodiscard]] Kernels grouped_gradient() const {
    const std::int64_t experts = needed("experts");
    GemmShape shape{.m = needed("n"),
                    .n = needed("k"),
                    .k = round_up(needed("tokens"), experts),
                    .batch = experts,
                    .layout = GemmLayout::tn};
    shape.grouped = true;
    return {shape};
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

  [[nodiscard]] Kernels engine_decoding() const {
    AttentionShape shape = attention(needed("queries"), needed("keys"));
    shape.engine = true;
    return {shape};
  }

  // Engines of later releases than the A100's were measured with the same keys again and again: 33
  // MB take an H100 8 us more than 2 MB, as its L2 has them; an A100 takes 20 us more.
  [[nodiscard]] Kernels decoding_layer() const {
    AttentionShape shape = attention(1, needed("step") + 1);
    shape.engine = true;
    shape.repeated = !line_.says("system", "a100_sxm");
    return layer(shape);
  }

 private:
  // Layers where the line does not say.
  [[nodiscard]] GemmLayout layout() const {
    if (line_.says("layout", "nn")) return GemmLayout::nn;
    return line_.says("layout", "tn") ? GemmLayout::tn : GemmLayout::linear;
  }

  [[nodiscard]] Fp8Scales scales() const {
    if (line_.says("scaling", "row")) return Fp8Scales::row;
    if (line_.says("scaling", "block")) return Fp8Scales::block;
    if (!line_.says("scaling", "tensor")) {
      Diagnostic problem;
      problem.at = line_.at;
      problem.path = "scaling";
      problem.message = "must be tensor, row or block";
      problems_.add(std::move(problem));
    }
    return Fp8Scales::tensor;
  }

  // Empty: all alike.
  [[nodiscard]] std::vector<std::int64_t> tokens_of_each() const {
    std::vector<std::int64_t> each;
    const auto found = line_.words.find("by_expert");
    if (found == line_.words.end()) return each;
    std::istringstream numbers(found->second);
    for (std::int64_t tokens = 0; numbers >> tokens;) each.push_back(tokens);
    return each;
  }

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
    Row{"library.gemm_fp8", &Shapes::gemm_fp8},
    Row{"library.grouped_gemm", &Shapes::grouped},
    Row{"library.grouped_gradient", &Shapes::grouped_gradient},
    Row{"library.attention", &Shapes::forward},
    Row{"library.attention_both", &Shapes::forward_and_backward},
    Row{"library.decoding", &Shapes::forward},
    Row{"library.flash_attention", &Shapes::forward},
    Row{"library.flash_attention_both", &Shapes::forward_and_backward},
    Row{"library.flash_decoding", &Shapes::engine_decoding},
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
  } else if (line.kind == "gemm_fp8") {
    line.kind = "library.gemm_fp8";
  } else if (line.kind == "grouped_gemm") {
    line.kind = "library.grouped_gemm";
  } else if (line.kind == "grouped_gemm_weight_gradient") {
    line.kind = "library.grouped_gradient";
  } else if (line.kind == "attention" && line.says("what", "context")) {
    line.kind = "library.prompt_layer";
  } else if (line.kind == "attention" && line.says("what", "generation")) {
    line.kind = "library.decoding_layer";
  } else if (const bool flash = line.says("backend", "flash");
             !flash && !line.says("backend", "cudnn")) {
    return;
  } else if (line.kind == "attention") {
    line.kind = flash ? "library.flash_attention" : "library.attention";
    if (line.says("pass", "both")) line.kind += "_both";
  } else if (line.kind == "attention_decode") {
    line.kind = flash ? "library.flash_decoding" : "library.decoding";
  }
}

bool is_library_kernel(const std::string& kind) { return find_row(kind) != nullptr; }

bool has_its_library(const GpuSpec& gpu, const std::string& kind) {
  const bool flash_prompts = gpu.library_attention && gpu.library_attention->flash_2;
  if (kind.starts_with("library.attention") || kind == "library.decoding") return !flash_prompts;
  if (kind.starts_with("library.flash_attention")) return flash_prompts;
  if (kind != "library.flash_decoding") return true;
  return gpu.engine_attention && gpu.engine_attention->kernel == EngineKernel::flash_2;
}

std::vector<OpShape> library_kernels(const MeasuredLine& line, Diagnostics& problems) {
  const Row* const row = find_row(line.kind);
  SIM_ASSERT(row != nullptr);
  const Shapes shapes(line, problems);
  return (shapes.*row->kernels)();
}

}  // namespace weft
