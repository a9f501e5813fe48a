#include "sim/workloads/consumer_order.h"

#include <algorithm>

#include "sim/core/round_up.h"

namespace weft {
namespace {

using Items = std::vector<ConsumerItem>;

class ConsumerOrder {
 public:
  ConsumerOrder(const ConsumerShape& shape, std::uint32_t rank) : shape_(shape), rank_(rank) {}

  Items items() {
    if (shape_.own_first > 0) return in_turn();
    if (shape_.sent_first) return sent_first();
    const std::uint32_t phases = shape_.at_once ? shape_.parts : shape_.ranks - 1;
    append_mixed(items_, works(rank_, 0, shape_.slices), sends_in(0));
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      append_mixed(items_, works_in(phase), phase + 1 < phases ? sends_in(phase + 1) : Items{});
    }
    return items_;
  }

 private:
  Items sent_first() {
    items_ = sends(0, shape_.slices, kAll);
    append_mixed(items_, works(rank_, 0, shape_.slices), {});
    for (std::uint32_t step = 1; step < shape_.ranks; ++step) {
      append_mixed(items_, works((rank_ + step) % shape_.ranks, 0, shape_.slices), {});
    }
    return items_;
  }

  Items in_turn() {
    const auto all = static_cast<std::uint32_t>(shape_.slice_of.size());
    const std::uint32_t first = std::min(shape_.own_first, all);
    Items own = works(rank_, 0, shape_.slices);
    own.resize(first);
    append_mixed(items_, own, sends(0, shape_.slices, kAll));
    for (std::uint32_t i = first; i < all + first; ++i) {
      for (std::uint32_t step = i < all ? 0 : 1; step < shape_.ranks; ++step) {
        items_.push_back({.peer = (rank_ + shape_.ranks - step) % shape_.ranks, .index = i % all});
      }
    }
    return items_;
  }

  [[nodiscard]] std::uint32_t of_part() const {
    return static_cast<std::uint32_t>(round_up(shape_.slices, shape_.parts));
  }
  [[nodiscard]] std::uint32_t first_of(std::uint32_t part) const {
    return std::min(shape_.slices, part * of_part());
  }

  [[nodiscard]] Items works(std::uint32_t peer, std::uint32_t first, std::uint32_t last) const {
    Items items;
    for (std::uint32_t i = 0; i < shape_.slice_of.size(); ++i) {
      if (shape_.slice_of[i] < first || shape_.slice_of[i] >= last) continue;
      items.push_back({.sends = false, .peer = peer, .index = i});
    }
    return items;
  }

  // What all ranks have sent one another in the phase before.
  [[nodiscard]] Items works_in(std::uint32_t phase) const {
    const std::uint32_t ranks = shape_.ranks;
    if (!shape_.at_once) return works((rank_ + ranks - phase - 1) % ranks, 0, shape_.slices);
    Items items;
    for (std::uint32_t step = 1; step < ranks; ++step) {
      const Items of_peer =
          works((rank_ + ranks - step) % ranks, first_of(phase), first_of(phase + 1));
      items.insert(items.end(), of_peer.begin(), of_peer.end());
    }
    return items;
  }

  [[nodiscard]] Items sends_in(std::uint32_t phase) const {
    return shape_.at_once ? sends(first_of(phase), first_of(phase + 1), kAll)
                          : sends(0, shape_.slices, phase + 1);
  }

  // Of these slices, each piece to all peers in turn, or to the one that is so many ranks further.
  [[nodiscard]] Items sends(std::uint32_t first, std::uint32_t last, std::uint32_t only) const {
    Items items;
    for (std::uint32_t piece = first * shape_.pieces; piece < last * shape_.pieces; ++piece) {
      for (std::uint32_t step = 1; step < shape_.ranks; ++step) {
        if (only != kAll && step != only) continue;
        if (shape_.copied && step > 1) break;
        items.push_back({.sends = true, .peer = (rank_ + step) % shape_.ranks, .index = piece});
      }
    }
    return items;
  }

  static constexpr std::uint32_t kAll = 0;
  const ConsumerShape& shape_;
  std::uint32_t rank_;
  Items items_;
};

}  // namespace

std::vector<ConsumerItem> consumer_items(const ConsumerShape& shape, std::uint32_t rank) {
  return ConsumerOrder(shape, rank).items();
}

}  // namespace weft
