// Words for what Transformers and mixtures of experts choose from, as names.h has the others.
#pragma once

#include <array>

#include "sim/scenario/model_spec.h"
#include "sim/spec/words.h"

namespace weft::names {

inline constexpr std::array kExpertKernels = {
    Choice<ExpertKernel>{"batched", ExpertKernel::batched,
                         "the library's, for products of one size (cuBLAS)"},
    Choice<ExpertKernel>{"grouped", ExpertKernel::grouped,
                         "for products of several sizes, as PyTorch's grouped_mm (CUTLASS)"},
    Choice<ExpertKernel>{"each", ExpertKernel::each,
                         "one for each expert, one after another (a loop over linear layers)"},
};
inline constexpr std::array kPermutations = {
    Choice<Permutation>{"fused", Permutation::fused,
                        "a kernel copies them at the memory's speed, forward and back "
                        "(Transformer Engine's)"},
    Choice<Permutation>{"in_products", Permutation::in_products,
                        "the products' kernels read them where they lie (vLLM's fused_moe)"},
    Choice<Permutation>{"index", Permutation::index,
                        "PyTorch's rows[index], on whose way back indices are sorted and rows "
                        "added up in their order"},
    Choice<Permutation>{"scatter", Permutation::scatter,
                        "PyTorch's gather; what comes home is added up by scatter_add_, and so is "
                        "the way back (torchtitan)"},
};
inline constexpr std::array kFp8Scalings = {
    Choice<Fp8Scaling>{"current", Fp8Scaling::current,
                       "its largest element, which a kernel finds first"},
    Choice<Fp8Scaling>{"delayed", Fp8Scaling::delayed,
                       "the largest ones of earlier steps: one kernel less (Transformer Engine's "
                       "DelayedScaling)"},
};
inline constexpr std::array kWeightTypes = {
    Choice<WeightType>{"model", WeightType::model, "as the model computes, or fp8"},
    Choice<WeightType>{"mxfp4", WeightType::mxfp4, "4 bits, and 8 for each 32 (gpt-oss)"},
    Choice<WeightType>{"nvfp4", WeightType::nvfp4, "4 bits, and 8 for each 16"},
    Choice<WeightType>{"int4", WeightType::int4, "4 bits, and 16 for each 128 (AWQ, GPTQ)"},
};
inline constexpr std::array kPackedWeights = {
    Choice<PackedWeights>{"layers", PackedWeights::layers,
                          "all that fp8 would have: attention's and feed-forward's, and experts'"},
    Choice<PackedWeights>{"experts", PackedWeights::experts, "experts' alone"},
};
inline constexpr std::array kContextExchanges = {
    Choice<ContextExchange>{"all_gather", ContextExchange::all_gather,
                            "each gets the keys and values of all, as Llama 3"},
    Choice<ContextExchange>{"ring", ContextExchange::ring,
                            "keys and values go round, beside the attention to those that are "
                            "there, as Megatron-LM"},
    Choice<ContextExchange>{"ulysses", ContextExchange::ulysses,
                            "heads are exchanged for tokens and back, as DeepSpeed-Ulysses"},
};
inline constexpr std::array kTokenExchanges = {
    Choice<TokenExchange>{"library", TokenExchange::library,
                          "a kernel copies them, then the library's all-to-all"},
    Choice<TokenExchange>{"put", TokenExchange::put,
                          "a kernel puts row by row, as DeepEP for low latency"},
    Choice<TokenExchange>{
        "once", TokenExchange::once,
        "a kernel sends each token once to each node, whose GPU of the same number "
        "forwards it once to each GPU there, and adds up what comes home, as "
        "DeepEP for training and prefill"},
};
inline constexpr std::array kDispatchTypes = {
    Choice<DispatchType>{"model", DispatchType::model, "the model's"},
    Choice<DispatchType>{"fp8", DispatchType::fp8,
                         "fp8, with a scale of 4 B for each 128 elements"},
};
inline constexpr std::array kRoutings = {
    Choice<Routing>{"expected", Routing::expected, "to each expert as many tokens as expected"},
    Choice<Routing>{"drawn", Routing::drawn, "each token's experts are drawn (run.seed)"},
};
inline constexpr std::array kTokenCounts = {
    Choice<TokenCounts>{"exchanged", TokenCounts::exchanged,
                        "GPUs tell one another before the library's all-to-all"},
    Choice<TokenCounts>{"known", TokenCounts::known,
                        "none is sent: buffers are padded to one size"},
};

}  // namespace weft::names
