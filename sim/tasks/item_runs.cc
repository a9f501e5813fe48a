#include "sim/tasks/item_runs.h"

#include "sim/core/assert.h"

namespace weft {
namespace {

// Items to a run, on average, from which on runs are worth a search.
constexpr std::size_t kWorthSearching = 4;

}  // namespace

void ItemRuns::add(const Item& item, std::uint32_t count) {
  if (count == 0) return;
  SIM_ASSERT(count <= UINT32_MAX - added_);
  added_ += count;
  size_ += count;
  if (runs_.size() > first_run_ && runs_.back() == item) {
    ends_.back() = added_;
    return;
  }
  runs_.push_back(item);
  ends_.push_back(added_);
}

ItemRange ItemRuns::close() {
  const std::size_t runs = runs_.size() - first_run_;
  if (runs > 1 && runs < added_ && runs * kWorthSearching > added_) store_each();
  const ItemRange range{.first_run = static_cast<std::uint32_t>(first_run_),
                        .runs = static_cast<std::uint32_t>(runs_.size() - first_run_),
                        .first_end = static_cast<std::uint32_t>(first_end_),
                        .items = added_};
  if (range.runs == 1 || range.runs == range.items) ends_.resize(first_end_);
  first_run_ = runs_.size();
  first_end_ = ends_.size();
  SIM_ASSERT(first_run_ <= UINT32_MAX);
  added_ = 0;
  return range;
}

// From the back, where there is room: no run is overwritten before it has been read.
void ItemRuns::store_each() {
  std::size_t run = runs_.size() - first_run_;
  runs_.resize(first_run_ + added_);
  while (run-- > 0) {
    const Item item = runs_[first_run_ + run];
    const std::uint32_t begin = run == 0 ? 0 : ends_[first_end_ + run - 1];
    const auto at = runs_.begin() + static_cast<std::ptrdiff_t>(first_run_);
    std::fill(at + begin, at + ends_[first_end_ + run], item);
  }
}

}  // namespace weft
