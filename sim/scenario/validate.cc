#include "sim/scenario/validate.h"

#include <algorithm>
#include <utility>

#include "sim/scenario/check.h"
#include "sim/scenario/model_kind.h"
#include "sim/scenario/operator_kind.h"

namespace weft {
namespace rules {

bool Check::good(std::initializer_list<std::string_view> paths) const {
  return reading.good({paths.begin(), paths.size()});
}

bool Check::good_within(std::initializer_list<std::string_view> maps) const {
  return reading.good_within({maps.begin(), maps.size()});
}

void Check::fail(const std::string& path, std::string message) const {
  reading.error_at_key(path, std::move(message));
}

void Check::fail_between(const std::vector<std::string>& paths, std::string message) const {
  reading.error_at_one_of(paths, std::move(message));
}

void Check::warn(const std::string& path, std::string message) const {
  reading.warn_at_key(path, std::move(message));
}

bool Check::embeds() const {
  // A kind that could not be read has its values in no key.
  return good({"workload.kind"}) && weft::embeds(scenario.workload.kind);
}

bool Check::is(WorkloadKind kind) const {
  return good({"workload.kind"}) && scenario.workload.kind == kind;
}

bool Check::has(Mode mode) const {
  return std::find(scenario.modes.begin(), scenario.modes.end(), mode) != scenario.modes.end();
}

std::string text(std::int64_t number) { return std::to_string(number); }

std::int64_t samples_per_gpu(const Scenario& scenario) {
  const std::int64_t batch = scenario.workload.embedding.batch;
  return batch % scenario.cluster.gpus() == 0 ? batch / scenario.cluster.gpus() : 0;
}

std::int64_t wgs_per_destination(const Scenario& scenario) {
  const EmbeddingWork& work = scenario.workload.embedding;
  const std::int64_t samples = samples_per_gpu(scenario);
  if (samples % work.rows_per_wg != 0) return 0;
  return samples / work.rows_per_wg * work.tables_per_gpu;
}

}  // namespace rules

void validate(const Scenario& scenario, Reading& reading) {
  const rules::Check check{.scenario = scenario, .reading = reading};
  rules::validate_cluster(check);
  rules::validate_workload(check);
  rules::validate_pairs(check);
  rules::validate_collectives(check);
  const OperatorKind* const computes = row_of(scenario.workload.kind).computes;
  if (computes != nullptr && check.good({"workload.kind"})) computes->rules(check);
  rules::validate_c3(check);
  rules::validate_collective(check);
  const ModelKind* const model = row_of(scenario.workload.kind).model;
  if (model != nullptr && check.good({"workload.kind"})) model->rules(check);
  rules::validate_places(check);
  rules::validate_counts(check);
}

void warn_of_no_effect(const Scenario& scenario, Reading& reading) {
  const rules::Check check{.scenario = scenario, .reading = reading};
  rules::warn_of_ceilings(check);
  rules::warn_of_idle_keys(check);
}

}  // namespace weft
