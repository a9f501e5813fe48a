// A decoder of language: the widths that the simulator counts in.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

// In floating point: the products need not fit 63 bits.
bool its_operations_can_be_counted(const Check& check) {
  const TransformerSpec& spec = check.scenario.workload.transformer;
  const DecoderSpec& d = spec.decoder;
  const bool decodes = check.scenario.workload.phase == Phase::decode;
  const double tokens = real(spec.microbatch) * (decodes ? 1 : real(spec.length));
  double widest = std::max({real(d.vocabulary), 2 * real(d.inner),
                            3 * real(d.heads) * real(std::max(d.head_dim, d.value_head_dim))});
  if (spec.moe) {
    const double expert =
        2 * real(spec.moe->inner) * real(spec.moe->top_k) + real(spec.moe->experts);
    widest = std::max({widest, expert, 2 * real(spec.moe->shared_inner)});
  }
  const double scores = 10 * tokens * real(spec.length) * real(d.heads) *
                        real(std::max(d.head_dim, d.value_head_dim));
  constexpr double kMost = 1e18;
  if (std::max(2 * tokens * widest * real(d.hidden), scores) <= kMost) return true;
  check.fail("workload.microbatch",
             "one operator has too many operations or bytes to count; use a smaller "
             "microbatch or shorter sequences");
  return false;
}

void its_operators_can_be_counted(const Check& check) {
  constexpr std::int64_t kMostBlocks = 1'000'000;
  const TransformerSpec& spec = check.scenario.workload.transformer;
  const std::int64_t microbatches = spec.sequences / spec.parallel.data / spec.microbatch;
  if (microbatches <= kMostBlocks / spec.decoder.layers) return;
  check.fail("workload.sequences", text(microbatches) + " microbatches through " +
                                       text(spec.decoder.layers) +
                                       " layers are more than a million; use larger microbatches");
}

void pairs_can_be_kept(const Check& check, const char* key, int gpus, double exchanges) {
  const TransformerSpec& spec = check.scenario.workload.transformer;
  const double microbatches = real(spec.sequences / spec.parallel.data / spec.microbatch);
  constexpr double kMost = 500e6;
  if (real(gpus) * gpus * exchanges * microbatches <= kMost) return;
  check.fail(key, "the exchanges among " + text(gpus) +
                      " GPUs, over all layers and microbatches, have more than 500 million pairs; "
                      "use fewer GPUs or larger microbatches");
}

// Where GPUs get different numbers of tokens, or pass keys and values on to one other, each
// exchange keeps a number for each pair.
void its_exchanges_can_be_kept(const Check& check) {
  const TransformerSpec& spec = check.scenario.workload.transformer;
  const ParallelSpec& p = spec.parallel;
  if (spec.moe) {
    constexpr double kOfALayer = 6;  // twice forward, computed again, and back
    pairs_can_be_kept(check, "workload.parallel.expert", p.expert,
                      kOfALayer * (spec.decoder.layers - spec.moe->dense_layers));
  }
  if (p.context > 1 && p.context_exchange == ContextExchange::ring) {
    constexpr double kOfAStep = 3;  // forward, computed again, and back
    pairs_can_be_kept(check, "workload.parallel.context", p.context,
                      kOfAStep * p.context * spec.decoder.layers);
  }
}

}  // namespace

void validate_transformer_size(const Check& check) {
  if (!check.good_within({"workload.model", "workload.moe", "workload.parallel",
                          "workload.sequences", "workload.sequence_length", "workload.microbatch",
                          "workload.phase", "workload.recompute", "workload.recompute_modules",
                          "workload.gradient_dtype", "run.beyond_memory", "cluster"})) {
    return;
  }
  const ParallelSpec& p = check.scenario.workload.transformer.parallel;
  const std::int64_t parts = std::int64_t{p.pipeline} * p.virtual_stages;
  const int without_layers = p.layers_of_parts.empty() ? 0 : 2;  // the ends
  const int layers = check.scenario.workload.transformer.decoder.layers;
  if (parts > std::max(p.pipeline, layers + without_layers)) return;
  if (!its_operations_can_be_counted(check)) return;
  its_operators_can_be_counted(check);
  its_exchanges_can_be_kept(check);
  validate_decoder_memory(check);
}

}  // namespace weft::rules
