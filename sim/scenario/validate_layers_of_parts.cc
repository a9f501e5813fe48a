// Rules for how many layers each part of a decoder's pipeline has.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/check.h"
#include "sim/scenario/decoder_size.h"

namespace weft::rules {
namespace {

void every_stage_has_a_layer(const Check& check) {
  const int layers = check.scenario.workload.transformer.decoder.layers;
  const ParallelSpec& p = check.scenario.workload.transformer.parallel;
  if (p.pipeline > layers) {
    return check.fail(
        "workload.parallel.pipeline",
        text(p.pipeline) + " stages for " + text(layers) + " layers; at most " + text(layers));
  }
  const std::int64_t parts = std::int64_t{p.pipeline} * p.virtual_stages;
  if (parts <= layers) return;
  const bool chosen = schedule_row(p.schedule).virtual_stages == 0;
  const int fewer = layers / p.pipeline;
  check.fail(chosen ? "workload.parallel.virtual_stages" : "workload.parallel.pipeline",
             text(p.virtual_stages) + " virtual stages of " + text(p.pipeline) + " stages for " +
                 text(layers) + " layers; at most " +
                 (chosen && fewer > 1 ? text(fewer) + " virtual stages"
                                      : text(layers / p.virtual_stages) + " stages"));
}

// Where each part has a number of its own: the ends may have none.
void the_parts_have_all_layers(const Check& check) {
  const ParallelSpec& p = check.scenario.workload.transformer.parallel;
  const std::vector<std::int64_t>& own = p.layers_of_parts;
  const std::string path = "workload.parallel.layers_of_parts";
  for (const auto& [key, member] :
       {std::pair("first_layers", p.first_layers), std::pair("last_layers", p.last_layers)}) {
    if (member < 0) continue;
    check.fail_between({path, std::string("workload.parallel.") + key},
                       "only one of both: each part's layers, or those at the ends");
  }
  const std::int64_t parts = std::int64_t{p.pipeline} * p.virtual_stages;
  if (static_cast<std::int64_t>(own.size()) != parts) {
    return check.fail(path, text(static_cast<std::int64_t>(own.size())) + " numbers for " +
                                text(parts) + " parts of the pipeline");
  }
  const std::int64_t sum = std::accumulate(own.begin(), own.end(), std::int64_t{0});
  if (sum != check.scenario.workload.transformer.decoder.layers) {
    check.fail(path, "they are " + text(sum) + " layers together, and the model has " +
                         text(check.scenario.workload.transformer.decoder.layers));
  }
  if (std::find(own.begin() + 1, own.end() - 1, 0) != own.end() - 1) {
    check.fail(path, "only the first and the last part may have none");
  }
}

// Those that the ends of the pipeline leave.
void the_other_parts_share_layers(const Check& check) {
  const ParallelSpec& p = check.scenario.workload.transformer.parallel;
  if (p.first_layers < 0 && p.last_layers < 0) return;
  const SharedLayers shared = shared_layers(check.scenario.workload.transformer);
  const bool none = shared.parts == 0 && shared.layers == 0;
  if (none ||
      (shared.parts > 0 && shared.layers >= shared.parts && shared.layers % shared.parts == 0)) {
    return;
  }
  check.fail_between({"workload.parallel.first_layers", "workload.parallel.last_layers"},
                     "they leave " + text(shared.layers) + " of " +
                         text(check.scenario.workload.transformer.decoder.layers) +
                         " layers for the " + text(shared.parts) +
                         " other parts of the pipeline, which must have " +
                         (shared.parts == 0 ? "none" : "equally many, at least one each"));
}

}  // namespace

void validate_layers_of_parts(const Check& check) {
  if (!check.scenario.workload.transformer.parallel.layers_of_parts.empty()) {
    return the_parts_have_all_layers(check);
  }
  every_stage_has_a_layer(check);
  the_other_parts_share_layers(check);
}

}  // namespace weft::rules
