#include "sim/tune/search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/rng.h"

namespace weft {
namespace {

constexpr std::size_t kLeastAtOnce = 8;

std::vector<std::size_t> shuffled(std::size_t number) {
  std::vector<std::size_t> all(number);
  std::iota(all.begin(), all.end(), std::size_t{0});
  Rng rng(1, "tune/spread");
  for (std::size_t i = number; i > 1; --i) {
    const auto other = static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i) - 1));
    std::swap(all[i - 1], all[other]);
  }
  return all;
}

}  // namespace

PointSearch::PointSearch(const Space& space, std::size_t most, std::optional<std::size_t> start)
    : space_(space),
      most_(most),
      start_(start),
      told_(space.points(), false),
      shuffled_(shuffled(space.points())) {}

std::vector<std::size_t> PointSearch::ask() {
  if (seen_.size() >= most_) return {};
  const std::size_t left = most_ - seen_.size();
  const std::size_t at_first = std::max<std::size_t>(1, most_ / 4);
  if (seen_.size() < at_first) return spread(std::min(at_first - seen_.size(), left));
  return promising(std::min(left, std::max(most_ / 16, kLeastAtOnce)));
}

std::vector<std::size_t> PointSearch::spread(std::size_t number) const {
  std::vector<std::size_t> next;
  if (start_ && !told_[*start_]) next.push_back(*start_);
  for (const std::size_t point : shuffled_) {
    if (next.size() == number) break;
    if (!told_[point] && point != start_) next.push_back(point);
  }
  return next;
}

// Half of them neighbours of the best, where so many are left.
std::vector<std::size_t> PointSearch::promising(std::size_t number) {
  if (!response_) response_.emplace(space_, seen_);
  std::vector<std::pair<double, std::size_t>> ranked;
  std::vector<bool> is_near(space_.points(), false);
  for (std::size_t axis = 0; axis < space_.axes(); ++axis) {
    for (const std::size_t point : space_.neighbours(best_->point, axis)) is_near[point] = true;
  }
  for (std::size_t point = 0; point < space_.points(); ++point) {
    if (!told_[point]) ranked.emplace_back(response_->log_cost(space_.at(point)), point);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> next;
  std::vector<bool> taken(space_.points(), false);
  const auto take = [&](std::size_t up_to, bool only_near) {
    for (const auto& [cost, point] : ranked) {
      if (next.size() >= up_to) return;
      if (taken[point] || (only_near && !is_near[point])) continue;
      taken[point] = true;
      next.push_back(point);
    }
  };
  take((number + 1) / 2, true);
  take(number, false);
  return next;
}

void PointSearch::tell(std::size_t point, std::optional<double> cost) {
  told_[point] = true;
  if (!cost) return;
  response_.reset();
  seen_.push_back({.point = point, .cost = *cost});
  if (!best_ || *cost < best_->cost) best_ = seen_.back();
}

}  // namespace weft
