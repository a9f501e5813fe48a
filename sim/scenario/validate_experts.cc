// A decoder's experts: what must divide among the GPUs that share them, and what a token takes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

const TransformerSpec& transformer_of(const Check& check) {
  return check.scenario.workload.transformer;
}

bool nests(std::int64_t one, std::int64_t other) { return one % other == 0 || other % one == 0; }

void experts_divide(const Check& check) {
  const ParallelSpec& p = transformer_of(check).parallel;
  const MoeSpec& moe = *transformer_of(check).moe;
  if (moe.experts % p.expert != 0) {
    check.fail("workload.parallel.expert",
               text(moe.experts) + " experts do not divide among " + text(p.expert) + " GPUs" +
                   "; nearest: " + divisors_around(moe.experts, p.expert));
  }
  const std::int64_t gpus = std::int64_t{p.tensor} * p.context * p.data;
  const std::int64_t sharing = gpus_with_experts(p);
  if (gpus % sharing != 0) {
    const bool cut = p.expert_tensor > 1;
    check.fail(cut ? "workload.parallel.expert_tensor" : "workload.parallel.expert",
               (cut ? "expert x expert_tensor = " : "") + text(sharing) + " do not divide the " +
                   text(gpus) + " GPUs of a stage, tensor x " +
                   (p.context > 1 ? "context x data" : "data") +
                   "; nearest: " + divisors_around(gpus, sharing));
  }
  if (moe.inner % p.expert_tensor == 0) return;
  check.fail("workload.parallel.expert_tensor",
             text(moe.inner) + " elements inside an expert do not divide among " +
                 text(p.expert_tensor) +
                 " GPUs; nearest: " + divisors_around(moe.inner, p.expert_tensor));
}

// Each node has equally many of the GPUs that share the experts, and each token reaches all of its.
void tokens_can_be_sent_once(const Check& check) {
  if (!check.good({"workload.moe.exchange", "workload.parallel.expert", "cluster.gpus_per_node"})) {
    return;
  }
  const MoeSpec& moe = *transformer_of(check).moe;
  if (moe.exchange != TokenExchange::once) return;
  const ParallelSpec& p = transformer_of(check).parallel;
  const std::int64_t sharing = gpus_with_experts(p);
  const int node = check.scenario.cluster.gpus_per_node;
  if (!nests(sharing, node) || !nests(p.expert_tensor, node)) {
    check.fail("workload.moe.exchange",
               "once forwards tokens in nodes that all have as many of the experts' GPUs, but " +
                   text(nests(sharing, node) ? p.expert_tensor : sharing) +
                   " are neither a part nor a multiple of the " + text(node) +
                   " of a node; use put or library");
  }
  if (moe.capacity > 0) {
    check.fail("workload.moe.capacity",
               "with exchange: once every token reaches all of its experts; use 0, no limit");
  }
}

void a_token_has_its_experts(const Check& check) {
  const MoeSpec& moe = *transformer_of(check).moe;
  if (moe.top_k > moe.experts) {
    check.fail("workload.moe.top_k", text(moe.top_k) + " of " + text(moe.experts) +
                                         " experts; at most " + text(moe.experts));
  }
  if (moe.skew != RouterSkew::histogram) return;
  if (static_cast<std::int64_t>(moe.histogram.size()) != moe.experts) {
    return check.fail("workload.moe.histogram",
                      text(static_cast<std::int64_t>(moe.histogram.size())) + " numbers for " +
                          text(moe.experts) + " experts; there must be one for each");
  }
  const auto zeros = std::count(moe.histogram.begin(), moe.histogram.end(), 0);
  if (moe.experts - zeros >= moe.top_k) return;
  check.fail("workload.moe.histogram",
             "only " + text(moe.experts - zeros) + " of " + text(moe.experts) +
                 " are ever used, but a token goes through " + text(moe.top_k));
}

// Whichever groups a token takes.
void groups_have_experts_in_use(const Check& check, int size) {
  const MoeSpec& moe = *transformer_of(check).moe;
  if (static_cast<std::int64_t>(moe.histogram.size()) != moe.experts) return;
  std::vector<std::int64_t> used;
  for (auto group = moe.histogram.begin(); group != moe.histogram.end(); group += size) {
    used.push_back(size - std::count(group, group + size, 0));
  }
  std::sort(used.begin(), used.end());
  std::int64_t least = 0;
  for (int i = 0; i < std::min(moe.top_groups, moe.groups); ++i) {
    least += used[static_cast<std::size_t>(i)];
  }
  if (least >= moe.top_k) return;
  check.fail("workload.moe.histogram",
             "of some " + text(moe.top_groups) + " groups only " + text(least) +
                 " experts are ever used, but a token goes through " + text(moe.top_k));
}

void groups_of_experts_fit(const Check& check, bool parallel) {
  const MoeSpec& moe = *transformer_of(check).moe;
  if (moe.groups == 1) return;
  if (moe.top_groups > moe.groups) {
    check.fail("workload.moe.top_groups", text(moe.top_groups) + " of " + text(moe.groups) +
                                              " groups; at most " + text(moe.groups));
  }
  if (moe.experts % moe.groups != 0) {
    return check.fail("workload.moe.groups", text(moe.experts) + " experts do not divide among " +
                                                 text(moe.groups) + " groups; use " +
                                                 divisors_around(moe.experts, moe.groups));
  }
  const int size = moe.experts / moe.groups;
  if (moe.top_groups * size < moe.top_k) {
    check.fail("workload.moe.top_groups", "only " + text(moe.top_groups * size) +
                                              " experts in so many groups, but a token goes "
                                              "through " +
                                              text(moe.top_k));
  }
  if (moe.skew == RouterSkew::histogram) groups_have_experts_in_use(check, size);
  if (moe.routing == Routing::drawn) return;
  if (moe.skew != RouterSkew::uniform) {
    check.fail("workload.moe.routing",
               "how often groups of experts are used that differ is not calculated; use drawn, or "
               "router: uniform");
  }
  if (!parallel || moe.exchange != TokenExchange::once) return;
  const int of_gpu = moe.experts / transformer_of(check).parallel.expert;
  const int of_node = of_gpu * exchanging_of_node(transformer_of(check).parallel,
                                                  check.scenario.cluster.gpus_per_node);
  if (!nests(of_gpu, size) || !nests(of_node, size)) {
    check.fail("workload.moe.groups", "a group of " + text(size) +
                                          " experts is neither a part nor a multiple of the " +
                                          text(of_gpu) + " of a GPU and the " + text(of_node) +
                                          " of a node; use routing: drawn");
  }
}

void some_layers_have_experts(const Check& check) {
  const int layers = transformer_of(check).decoder.layers;
  if (transformer_of(check).moe->dense_layers < layers) return;
  check.fail("workload.moe.dense_layers", text(transformer_of(check).moe->dense_layers) + " of " +
                                              text(layers) +
                                              " layers leave none with experts; at "
                                              "most " +
                                              text(layers - 1));
}

}  // namespace

void validate_experts(const Check& check, bool parallel, bool model) {
  if (parallel) experts_divide(check);
  a_token_has_its_experts(check);
  groups_of_experts_fit(check, parallel);
  if (parallel) tokens_can_be_sent_once(check);
  if (model) some_layers_have_experts(check);
}

}  // namespace weft::rules
