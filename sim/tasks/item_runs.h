// The items of all kernels, as runs: of neighbours that are alike, one is stored. Kernels of a
// library or of a recorded trace are one run or a few, however many work-groups (WGs) they have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/tasks/latches.h"

namespace weft {

// One logical WG.
struct Item {
  LatchId counts_down = LatchId::none();
  LatchId waits_for = LatchId::none();
  std::uint32_t work : 8 = 0;    // index into its kernel's works
  std::uint32_t scale : 24 = 0;  // factor on the work, in units of 2^-20
  static constexpr std::uint32_t kUnit = 1U << 20U;
  bool operator==(const Item&) const = default;
};
static_assert(sizeof(Item) == 12);

// Where the items of a kernel are. Either every item is a run of its own, which is found without a
// search; or there are so few runs that it pays to store where they end.
struct ItemRange {
  std::uint32_t first_run = 0;
  std::uint32_t runs = 0;
  std::uint32_t first_end = 0;
  std::uint32_t items = 0;
};

class ItemRuns {
 public:
  // Adds `count` of it to the kernel that is being added.
  void add(const Item& item, std::uint32_t count = 1);
  // How many the kernel that is being added has so far.
  [[nodiscard]] std::uint32_t added() const { return added_; }
  // These are all of its items.
  ItemRange close();

  // Of all kernels.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void reserve_runs(std::size_t runs) { runs_.reserve(runs); }

  // The run of a kernel's item.
  [[nodiscard]] std::uint32_t run_of(const ItemRange& kernel, std::uint32_t item) const {
    if (kernel.runs == kernel.items) return kernel.first_run + item;
    if (kernel.runs == 1) return kernel.first_run;
    const auto first = ends_.begin() + kernel.first_end;
    const auto found = std::upper_bound(first, first + kernel.runs, item);
    return kernel.first_run + static_cast<std::uint32_t>(found - first);
  }
  [[nodiscard]] const Item& operator[](std::uint32_t run) const { return runs_[run]; }
  // In the order of items; use(item, how many).
  template <class Use>
  void for_each(const ItemRange& kernel, Use use) const {
    if (kernel.runs == 1) return use(runs_[kernel.first_run], kernel.items);
    std::uint32_t begin = 0;
    for (std::uint32_t r = 0; r < kernel.runs; ++r) {
      const std::uint32_t end =
          kernel.runs == kernel.items ? begin + 1 : ends_[kernel.first_end + r];
      use(runs_[kernel.first_run + r], end - begin);
      begin = end;
    }
  }

  [[nodiscard]] std::span<Item> runs() { return runs_; }
  [[nodiscard]] std::span<const Item> runs() const { return runs_; }
  [[nodiscard]] std::span<const std::uint32_t> ends() const { return ends_; }

 private:
  void store_each();

  std::vector<Item> runs_;
  // Of kernels with several runs that are longer than one item: how many items there are up to the
  // end of a run. Of the kernel that is being added, always.
  std::vector<std::uint32_t> ends_;
  std::size_t size_ = 0;
  std::size_t first_run_ = 0;  // of the kernel that is being added
  std::size_t first_end_ = 0;
  std::uint32_t added_ = 0;
};

}  // namespace weft
