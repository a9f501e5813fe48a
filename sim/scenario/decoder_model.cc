// Decoders of language, dense or of experts: what kinds of whole models they are.
#include <fmt/format.h>

#include "sim/scenario/check.h"
#include "sim/scenario/decoder_size.h"
#include "sim/scenario/model_kind.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

std::string decoder_text(const Workload& workload) {
  const TransformerSpec& spec = workload.transformer;
  std::string text = fmt::format("{} layers of {}", spec.decoder.layers, spec.decoder.hidden);
  if (spec.moe) text += fmt::format(", {} of {} experts", spec.moe->top_k, spec.moe->experts);
  const double billions = static_cast<double>(parameters_of(spec)) / 1e9;
  return text + (billions < 1000 ? fmt::format(", {:.3g}B parameters", billions)
                                 : fmt::format(", {:.3g}T parameters", billions / 1000));
}

}  // namespace

constinit const ModelKind model_kinds::decoder = {.fields = transformer_fields,
                                                  .rules = rules::validate_transformer,
                                                  .figures = decoder_text,
                                                  .has_moments = true};

}  // namespace weft
