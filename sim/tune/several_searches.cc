#include "sim/tune/several_searches.h"

#include <algorithm>
#include <functional>

namespace weft {
namespace {

std::size_t turns_of(std::size_t objectives) { return objectives == 1 ? 1 : objectives + 1; }

}  // namespace

SeveralSearches::SeveralSearches(const Space& space, std::size_t objectives, std::size_t most,
                                 std::optional<std::size_t> start)
    : space_(space), objectives_(objectives), most_(most), start_(start) {
  begin(0);
}

void SeveralSearches::begin(std::size_t turn) {
  turn_ = turn;
  search_.emplace(space_, most_ * (turn + 1) / turns_of(objectives_), start_);
  for (const Known& known : known_) search_->tell(known.point, cost_now(known));
}

std::vector<std::size_t> SeveralSearches::ask() {
  std::vector<std::size_t> next = search_->ask();
  while (next.empty() && turn_ + 1 < turns_of(objectives_)) {
    begin(turn_ + 1);
    next = search_->ask();
  }
  return next;
}

std::optional<double> SeveralSearches::cost_now(const Known& known) const {
  if (!known.costs) return std::nullopt;
  if (turn_ < objectives_) return (*known.costs)[turn_];
  double product = 1;
  for (const double cost : *known.costs) product *= cost;
  return product;
}

bool SeveralSearches::beats(const std::vector<double>& costs) const {
  return std::any_of(known_.begin(), known_.end(), [&costs](const Known& known) {
    return known.costs &&
           std::equal(costs.begin(), costs.end(), known.costs->begin(), std::greater_equal<>());
  });
}

void SeveralSearches::tell(std::size_t point, const std::optional<std::vector<double>>& costs) {
  known_.push_back({.point = point, .costs = costs});
  search_->tell(point, cost_now(known_.back()));
  if (costs && (!best_ || costs->front() < best_->cost)) {
    best_ = Costed{.point = point, .cost = costs->front()};
  }
}

}  // namespace weft
