#include "sim/models/parameters.h"

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {

Parameters::Unit Parameters::root() const {
  const TransformerSpec& spec = workload_.transformer;
  return {.weights = {.common = embedding_weights(spec.decoder, spec.parallel.tensor) +
                                head_weights(spec)}};
}

std::vector<Parameters::Unit> Parameters::layers() const {
  std::vector<Unit> units;
  units.reserve(static_cast<std::size_t>(stage_.layers.count) + 1);  // and the root
  for (int i = 0; i < stage_.layers.count; ++i) {
    units.push_back({.weights = layer_weights(workload_.transformer, stage_.layers.first + i)});
  }
  return units;
}

void Parameters::begin(std::vector<Unit> units) {
  if (!workload_.transformer.parallel.shards(Sharding::parameters)) return;
  SIM_ASSERT(stage_.first && stage_.last);
  units_ = std::move(units);
  next_ = begun_ = 0;
}

void Parameters::begin_forward() {
  std::vector<Unit> units = layers();
  units.insert(units.begin(), root());
  begin(std::move(units));
}

void Parameters::begin_backward() {
  std::vector<Unit> units = layers();
  units.insert(units.begin(), root());
  std::reverse(units.begin() + 1, units.end());
  units.front().whole = true;
  for (Unit& unit : units) {
    unit.whole = unit.whole || !workload_.transformer.parallel.reshard_after_forward;
  }
  begin(std::move(units));
}

void Parameters::use_next() {
  if (!workload_.transformer.parallel.shards(Sharding::parameters)) return;
  const auto ahead = static_cast<std::size_t>(workload_.transformer.parallel.prefetch);
  SIM_ASSERT(next_ < units_.size());
  while (begun_ < std::min(units_.size(), next_ + ahead + 1)) gather(units_[begun_++]);
  copy_out(units_[next_++]);
}

// Each GPU's part, which is the optimiser's copy where it has one, is first copied one tensor
// behind another.
void Parameters::gather(Unit& unit) {
  if (unit.whole) return;
  const DataType type = workload_.transformer.decoder.dtype;
  for (const SharedPart& part :
       shared_parts(unit.weights, stage_, workload_.transformer.parallel)) {
    const std::int64_t own = round_up(part.weights, part.copies.count);
    ModelOp copy{
        .name = part.names + "parameter_copy_in",
        .part = "parameters",
        .shape =
            StreamShape{.read = bytes_of(own, keeps_a_copy(workload_) ? workload_.optimizer : type),
                        .written = bytes_of(own, type),
                        .flops = {}},
        .place = stage_.tensor,
        .stream = kParameters,
        .after = out_.inputs()};
    unit.gathered.push_back(
        out_.add(gather_of(part, workload_, kParameters, out_.add(std::move(copy)))));
  }
}

void Parameters::copy_out(const Unit& unit) {
  if (unit.gathered.empty()) return;
  const Bytes size = bytes_of(shared_weights(unit.weights, stage_, workload_.transformer.parallel),
                              workload_.transformer.decoder.dtype);
  for (const OpId gather : unit.gathered) out_.wait_for(gather);
  out_.compute("parameter_copy_out", "parameters",
               StreamShape{.read = size, .written = size, .flops = {}}, stage_.tensor);
}

}  // namespace weft
