#include "sim/models/expert_groups.h"

#include <algorithm>
#include <vector>

#include "sim/core/assert.h"

namespace weft {
namespace {

class Chances {
 public:
  Chances(const MoeSpec& moe, int some)
      : groups_(moe.groups),
        most_(moe.top_groups),
        size_(moe.experts / moe.groups),
        top_k_(moe.top_k),
        some_(some) {
    SIM_ASSERT(some_ <= size_ || some_ % size_ == 0);
  }

  double of_none() {
    chances_.assign(index(most_, top_k_, true) + 1, -1);
    return none(0, 0, false);
  }

 private:
  [[nodiscard]] std::size_t index(int groups, int experts, bool is_seen) const {
    const int row = groups * (top_k_ + 1) + experts;
    return std::size_t{2} * static_cast<std::size_t>(row) + (is_seen ? 1 : 0);
  }

  // That none of the next ones is among these experts, with so many groups and experts taken and
  // none of these. `is_seen`: their group, of which some are these, is among the groups.
  double none(int groups, int experts, bool is_seen) {
    if (experts == top_k_ || (groups == most_ && !is_seen)) return 1;
    double& known = chances_[index(groups, experts, is_seen)];
    if (known < 0) known = next(groups, experts, is_seen);
    return known;
  }

  double next(int groups, int experts, bool is_seen) {
    const double seen = groups * size_ - experts;  // left of the groups taken
    const bool whole = some_ >= size_;
    const double theirs = whole ? some_ : size_;  // experts of the groups that these are in
    const double unseen = groups == most_ ? 0 : (groups_ - groups) * size_ - (is_seen ? 0 : theirs);
    const double own = groups == most_ || is_seen ? 0 : theirs;
    const double all = seen + unseen + own;
    double chance = 0;
    const double others = seen - (is_seen ? some_ : 0);
    if (others > 0) chance += others / all * none(groups, experts + 1, is_seen);
    if (unseen > 0) chance += unseen / all * none(groups + 1, experts + 1, is_seen);
    if (own > some_) chance += (own - some_) / all * none(groups + 1, experts + 1, true);
    return chance;
  }

  int groups_;
  int most_;
  int size_;
  int top_k_;
  int some_;
  std::vector<double> chances_;
};

}  // namespace

double chance_of_none(const MoeSpec& moe, int some) { return Chances(moe, some).of_none(); }

}  // namespace weft
