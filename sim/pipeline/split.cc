#include "sim/pipeline/split.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "sim/core/assert.h"

namespace weft {
namespace {

class Splitting {
 public:
  Splitting(const Chain& chain, std::size_t parts) : chain_(chain), parts_(parts) {
    ends_.push_back(0);
    for (const Duration layer : chain.layers) ends_.push_back(ends_.back() + layer.count());
  }

  std::vector<std::int64_t> split() {
    longest_ = least_longest();
    return most_of_the_shortest();
  }

 private:
  // By the number of layers that the parts so far have: the best of some measure.
  using ByLayers = std::vector<std::int64_t>;

  [[nodiscard]] std::size_t layers() const { return chain_.layers.size(); }
  // Layers of a part: the ends have something to do without any.
  [[nodiscard]] std::size_t least_of(std::size_t part) const {
    return parts_ > 1 && (part == 0 || part + 1 == parts_) ? 0 : 1;
  }
  // Of a part with the layers from `first` up to `end`.
  [[nodiscard]] std::int64_t time(std::size_t part, std::size_t first, std::size_t end) const {
    std::int64_t time = ends_[end] - ends_[first];
    if (part == 0) time += chain_.before.count();
    if (part + 1 == parts_) time += chain_.after.count();
    return time;
  }

  // Of the split whose longest part is shortest.
  [[nodiscard]] std::int64_t least_longest() const {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    ByLayers best(layers() + 1, kNever);
    best[0] = 0;
    for (std::size_t part = 0; part < parts_; ++part) {
      ByLayers with(layers() + 1, kNever);
      for (std::size_t end = least_of(part); end <= layers(); ++end) {
        for (std::size_t first = 0; first + least_of(part) <= end; ++first) {
          if (best[first] == kNever) continue;
          with[end] = std::min(with[end], std::max(best[first], time(part, first, end)));
        }
      }
      best = std::move(with);
    }
    return best[layers()];
  }

  // Among the splits with no part longer than that.
  [[nodiscard]] std::vector<std::int64_t> most_of_the_shortest() const {
    constexpr std::int64_t kNever = -1;
    ByLayers best(layers() + 1, kNever);
    best[0] = std::numeric_limits<std::int64_t>::max();
    std::vector<std::vector<std::size_t>> begins;  // by part and its end
    for (std::size_t part = 0; part < parts_; ++part) {
      ByLayers with(layers() + 1, kNever);
      std::vector<std::size_t>& begin = begins.emplace_back(layers() + 1, 0);
      for (std::size_t end = least_of(part); end <= layers(); ++end) {
        for (std::size_t first = 0; first + least_of(part) <= end; ++first) {
          const std::int64_t here = time(part, first, end);
          if (best[first] == kNever || here > longest_) continue;
          const std::int64_t shortest = std::min(best[first], here);
          if (shortest <= with[end]) continue;
          with[end] = shortest;
          begin[end] = first;
        }
      }
      best = std::move(with);
    }
    std::vector<std::int64_t> counts(parts_);
    std::size_t end = layers();
    for (std::size_t part = parts_; part > 0; --part) {
      const std::size_t first = begins[part - 1][end];
      counts[part - 1] = static_cast<std::int64_t>(end - first);
      end = first;
    }
    return counts;
  }

  const Chain& chain_;
  std::size_t parts_;
  std::vector<std::int64_t> ends_;  // when each layer has ended, one after another
  std::int64_t longest_ = 0;
};

}  // namespace

std::vector<std::int64_t> split_evenly(const Chain& chain, int parts) {
  SIM_ASSERT(parts > 0 && static_cast<std::size_t>(parts) <= chain.layers.size());
  return Splitting(chain, static_cast<std::size_t>(parts)).split();
}

}  // namespace weft
