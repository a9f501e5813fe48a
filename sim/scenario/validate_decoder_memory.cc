// A decoder of language: whether the memory of its fullest GPU holds it, and what would make it
// fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/check.h"
#include "sim/scenario/decoder_memory.h"
#include "sim/scenario/decoder_size.h"

namespace weft::rules {
namespace {

double size_in(const Workload& workload) { return fullest_gpu(workload).all(); }

// A change of one key, as it is written, and the workload with it.
struct Change {
  std::string key;
  Workload changed;
};

Change change(std::string key, Workload workload, auto make) {
  make(workload.transformer);
  return {std::move(key), std::move(workload)};
}

// Beyond the optimiser a pipeline's stages share nothing that they do not keep whole (gathered).
void add_shards(std::vector<Change>& changes, const Workload& workload) {
  const ParallelSpec& p = workload.transformer.parallel;
  if (copies_of_weights(p) == 1) return;
  const auto add = [&](const char* key, Sharding shard) {
    if (p.shards(shard)) return;
    changes.push_back(
        change(key, workload, [&](TransformerSpec& spec) { spec.parallel.shard = shard; }));
  };
  add("parallel.shard: optimizer", Sharding::optimizer);
  if (p.pipeline > 1) return;
  add("parallel.shard: gradients", Sharding::gradients);
  if (workload.gradient_bucket == Bytes{} && workload.transformer.decoder.mtp_layers == 0) {
    add("parallel.shard: parameters", Sharding::parameters);
  }
}

// Norms and activations, which cost little; then also feed-forwards; then all of each layer.
void add_recomputing(std::vector<Change>& changes, const Workload& workload) {
  const TransformerSpec& spec = workload.transformer;
  if (spec.recompute == Recompute::layer) return;
  const auto add = [&](std::vector<RecomputeModule> modules, std::string names) {
    if (spec.decoder.latent) {
      modules.push_back(RecomputeModule::mla_up_proj);
      names += ", mla_up_proj";
    }
    changes.push_back(
        change("recompute: selective of [" + names + "]", workload, [&](TransformerSpec& changed) {
          changed.recompute = Recompute::selective;
          changed.recompute_modules = std::move(modules);
        }));
  };
  add({RecomputeModule::layernorm, RecomputeModule::activation}, "layernorm, activation");
  if (spec.moe) {
    add({RecomputeModule::layernorm, RecomputeModule::moe}, "layernorm, moe");
  } else {
    add({RecomputeModule::layernorm, RecomputeModule::mlp}, "layernorm, mlp");
  }
  changes.push_back(change("recompute: layer", workload,
                           [](TransformerSpec& changed) { changed.recompute = Recompute::layer; }));
}

// The largest that fits, of those of which the present one is a multiple. A schedule of very many
// microbatches takes long to follow.
void add_microbatch(std::vector<Change>& changes, const Workload& workload, double capacity) {
  const std::int64_t now = workload.transformer.microbatch;
  constexpr std::int64_t kMostMicrobatches = 10'000;
  const std::int64_t most = kMostMicrobatches / microbatches_of(workload.transformer);
  for (std::int64_t parts = 2; parts <= std::min(now, most); ++parts) {
    if (now % parts != 0) continue;
    Change smaller = change("microbatch: " + text(now / parts), workload,
                            [&](TransformerSpec& spec) { spec.microbatch = now / parts; });
    if (size_in(smaller.changed) > capacity) continue;
    changes.push_back(std::move(smaller));
    return;
  }
}

// Keys and values are in proportion to the sequences.
void add_sequences(std::vector<Change>& changes, const Workload& workload, double capacity) {
  const TransformerSpec& spec = workload.transformer;
  const MemoryUse use = fullest_gpu(workload);
  const std::int64_t step = spec.microbatch * spec.parallel.data;
  const std::int64_t steps = spec.sequences / step;
  const double fit =
      std::floor((capacity - use.all() + use.cached) / use.cached * static_cast<double>(steps));
  if (use.cached == 0 || fit < 1) return;
  const std::int64_t sequences = static_cast<std::int64_t>(fit) * step;
  changes.push_back(change("sequences: " + text(sequences), workload,
                           [&](TransformerSpec& changed) { changed.sequences = sequences; }));
}

// Those that fit, the one that costs least first.
std::vector<Change> changes_that_fit(const Workload& workload, double capacity) {
  const ParallelSpec& p = workload.transformer.parallel;
  std::vector<Change> changes;
  if (workload.phase != Phase::training) {
    add_sequences(changes, workload, capacity);
  } else {
    if (p.tensor > 1 && !p.sequence) {
      changes.push_back(change("parallel.sequence: true", workload,
                               [](TransformerSpec& spec) { spec.parallel.sequence = true; }));
    }
    add_shards(changes, workload);
    add_recomputing(changes, workload);
    add_microbatch(changes, workload, capacity);
  }
  std::erase_if(changes, [&](const Change& one) { return size_in(one.changed) > capacity; });
  return changes;
}

// Where none of the changes is enough by itself.
std::string what_makes_it_smaller(const Workload& workload) {
  const TransformerSpec& spec = workload.transformer;
  const ParallelSpec& p = spec.parallel;
  const bool stages = !p.shards(Sharding::gradients) || p.shards(Sharding::parameters);
  std::string text =
      std::string("use more parallel.tensor or ") + (stages ? "parallel.pipeline" : "copies");
  if (workload.phase != Phase::training) return text + ", or fewer sequences";
  if (!p.shards(Sharding::optimizer)) text += ", or parallel.shard";
  if (!stages && !p.shards(Sharding::parameters)) text += ", or shard: parameters";
  if (spec.recompute != Recompute::layer) text += ", or recompute: layer";
  return text + (spec.microbatch > 1 ? ", or a smaller microbatch" : "");
}

std::string what_would_fit(const Workload& workload, double capacity) {
  const std::vector<Change> changes = changes_that_fit(workload, capacity);
  if (changes.empty()) return what_makes_it_smaller(workload);
  std::string text = "it would fit with ";
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) text += i + 1 == changes.size() ? ", or " : ", ";
    text += fmt::format("{} ({})", changes[i].key, gigabytes_text(size_in(changes[i].changed)));
  }
  return text;
}

}  // namespace

void validate_decoder_memory(const Check& check) {
  const Bytes memory = check.scenario.cluster.gpu.memory.capacity;
  const auto capacity = static_cast<double>(memory.count());
  const Workload& workload = check.scenario.workload;
  const MemoryUse use = fullest_gpu(workload);
  if (use.all() <= capacity) return;
  const std::string takes = fmt::format(
      "it takes {} of a GPU of stage {}, whose memory holds {}: {}; {}", gigabytes_text(use.all()),
      use.stage, to_text(memory), to_text(use), what_would_fit(workload, capacity));
  constexpr const char* kModel = "workload.model";
  if (check.scenario.run.beyond_memory == BeyondMemory::warn) return check.warn(kModel, takes);
  check.fail(kModel, takes + "; run.beyond_memory: warn simulates it all the same");
}

}  // namespace weft::rules
