#include "sim/models/parameters.h"

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/once_each.h"
#include "sim/core/round_up.h"

namespace weft {

std::vector<Parameters::Unit> Parameters::units() const {
  const TransformerSpec& spec = workload_.transformer;
  std::vector<Unit> units;
  if (!parallel().shards(Sharding::parameters)) return units;
  std::int64_t ends = 0;
  if (stage_.first) ends += embedding_weights(spec.decoder, parallel().tensor);
  if (stage_.last) ends += head_weights(spec);
  if (ends > 0) units.push_back({.weights = {.common = ends}, .is_layer = false});
  for (int i = 0; i < stage_.layers.count; ++i) {
    units.push_back({.weights = layer_weights(spec, stage_.layers.first + i)});
  }
  return units;
}

void Parameters::begin(Pass pass, OpId before) {
  pass_ = pass;
  next_ = begun_ = 0;
  before_ = before;
}

// The ends come first in both passes: they are whole in the backward pass.
Parameters::Unit& Parameters::at(std::size_t turn) {
  SIM_ASSERT(turn < units_.size());
  const std::size_t ends = units_.front().is_layer ? 0 : 1;
  const bool as_stored = pass_ == Pass::forward || turn < ends;
  return units_[as_stored ? turn : units_.size() - 1 - (turn - ends)];
}

void Parameters::use_ends() {
  if (!units_.empty() && next_ == 0 && !at(0).is_layer) use_unit();
}

void Parameters::use_next() {
  use_ends();
  if (!units_.empty()) use_unit();
}

void Parameters::use_unit() {
  const auto ahead = static_cast<std::size_t>(parallel().prefetch);
  while (begun_ < std::min(units_.size(), next_ + ahead + 1)) gather(at(begun_++));
  Unit& unit = at(next_++);
  copy_out(unit);
  unit.whole = stays_whole(unit);
}

bool Parameters::stays_whole(const Unit& unit) const {
  if (pass_ == Pass::backward) return parallel().pipeline > 1;
  return !unit.is_layer || !parallel().reshard_after_forward;
}

// Each GPU's part, which is the optimiser's copy where it has one, is first copied one tensor
// behind another.
void Parameters::gather(Unit& unit) {
  if (unit.whole) return;
  const DataType type = workload_.transformer.decoder.dtype;
  for (const SharedPart& part : shared_parts(unit.weights, stage_, parallel())) {
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
    const OpId before = std::exchange(before_, OpId::none());
    if (!before.is_none()) copy.after.push_back(before);
    copy.after = once_each(std::move(copy.after));
    unit.gathered.push_back(
        out_.add(gather_of(part, workload_, kParameters, out_.add(std::move(copy)))));
  }
}

void Parameters::copy_out(Unit& unit) {
  if (unit.gathered.empty()) return;
  const Bytes size = bytes_of(shared_weights(unit.weights, stage_, parallel()),
                              workload_.transformer.decoder.dtype);
  for (const OpId gather : std::exchange(unit.gathered, {})) out_.wait_for(gather);
  out_.compute("parameter_copy_out", "parameters",
               StreamShape{.read = size, .written = size, .flops = {}}, stage_.tensor);
}

}  // namespace weft
