// Whole models as YAML.
#include <string>
#include <vector>

#include "sim/scenario/names.h"
#include "sim/scenario/units.h"
#include "sim/scenario/writer.h"

namespace weft {
namespace {

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return '[' + text + ']';
}

void write_dlrm(Writer& out, const DlrmSpec& dlrm, Phase phase) {
  out.line("bottom_mlp", list_text(dlrm.bottom_mlp));
  out.line("top_mlp", list_text(dlrm.top_mlp));
  out.line("interaction", names::word(names::kInteractions, dlrm.interaction));
  out.line("mlp_dtype", names::word(names::kDataTypes, dlrm.mlp_dtype));
  out.line("pooling_spread", number_text(dlrm.pooling_spread));
  if (phase == Phase::training) out.line("gradient_bucket", to_text(dlrm.gradient_bucket));
}

void write_decoder(Writer& out, const TransformerSpec& spec) {
  const DecoderSpec& decoder = spec.decoder;
  out.open("model");
  out.line("layers", decoder.layers);
  out.line("hidden", decoder.hidden);
  out.line("heads", decoder.heads);
  if (decoder.latent) {
    out.open("latent");
    out.line("queries", decoder.latent->queries);
    out.line("keys", decoder.latent->keys);
    out.line("position", decoder.latent->position);
    out.close();
  } else {
    out.line("kv_heads", decoder.kv_heads);
  }
  out.line("head_dim", decoder.head_dim);
  out.line("value_head_dim", decoder.value_head_dim);
  if (!spec.moe || spec.moe->dense_layers > 0) out.line("inner", decoder.inner);
  out.line("gated", names::word(names::kTruths, decoder.gated));
  out.line("vocabulary", decoder.vocabulary);
  out.line("tied", names::word(names::kTruths, decoder.tied));
  if (decoder.positions > 0) out.line("positions", decoder.positions);
  out.line("dtype", names::word(names::kDataTypes, decoder.dtype));
  out.close();
}

void write_moe(Writer& out, const MoeSpec& moe) {
  out.open("moe");
  out.line("experts", moe.experts);
  out.line("top_k", moe.top_k);
  out.line("inner", moe.inner);
  if (moe.shared_inner > 0) out.line("shared_inner", moe.shared_inner);
  if (moe.dense_layers > 0) out.line("dense_layers", moe.dense_layers);
  out.line("router", names::word(names::kRouterSkews, moe.skew));
  if (moe.skew == RouterSkew::zipf) out.line("exponent", number_text(moe.exponent));
  if (moe.skew == RouterSkew::histogram) out.line("histogram", list_text(moe.histogram));
  out.line("capacity", number_text(moe.capacity));
  out.close();
}

void write_transformer(Writer& out, const Workload& workload) {
  const TransformerSpec& spec = workload.transformer;
  const bool trains = workload.phase == Phase::training;
  write_decoder(out, spec);
  if (spec.moe) write_moe(out, *spec.moe);
  out.open("parallel");
  out.line("tensor", spec.parallel.tensor);
  out.line("data", spec.parallel.data);
  out.line("pipeline", spec.parallel.pipeline);
  if (spec.moe) out.line("expert", spec.parallel.expert);
  if (spec.parallel.tensor > 1) {
    out.line("sequence", names::word(names::kTruths, spec.parallel.sequence));
  }
  if (trains) {
    out.line("sharded_optimizer", names::word(names::kTruths, spec.parallel.sharded_optimizer));
  }
  out.close();
  out.line("sequences", spec.sequences);
  out.line("sequence_length", spec.length);
  out.line("microbatch", spec.microbatch);
  if (trains) out.line("recompute", names::word(names::kRecomputes, spec.recompute));
}

}  // namespace

void write_model(Writer& out, const Workload& workload) {
  std::string fuse;
  for (const WorkloadKind pattern : workload.fuse.patterns) {
    fuse += (fuse.empty() ? "[" : ", ") + std::string(names::word(names::kFusePatterns, pattern));
  }
  if (fuse.empty()) {
    fuse = workload.fuse.automatic ? "auto" : "none";
  } else {
    fuse += ']';
  }
  out.line("fuse", fuse);
  if (is_trace(workload.kind)) return write_trace(out, workload.trace);
  out.line("phase", names::word(names::kPhases, workload.phase));
  if (workload.phase == Phase::training) {
    out.line("gradient_dtype", names::word(names::kDataTypes, workload.gradients));
  }
  if (workload.kind == WorkloadKind::dlrm) {
    write_dlrm(out, workload.dlrm, workload.phase);
  } else {
    write_transformer(out, workload);
  }
}

}  // namespace weft
