// Ids: an index that fits only the table it was made for. Ids print, hash and order the same in
// every run; pointers do not.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/assert.h"

namespace weft {

template <class Tag>
struct StrongId {
  std::uint32_t value = 0;
  constexpr StrongId() = default;
  explicit constexpr StrongId(std::uint32_t v) : value(v) {}
  constexpr auto operator<=>(const StrongId&) const = default;
  static constexpr StrongId none() { return StrongId(UINT32_MAX); }
  [[nodiscard]] constexpr bool is_none() const { return value == UINT32_MAX; }
};

template <class Id, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t n) : items_(n) {}

  T& operator[](Id id) { return items_[id.value]; }
  const T& operator[](Id id) const { return items_[id.value]; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  void reserve(std::size_t n) { items_.reserve(n); }
  void resize(std::size_t n) { items_.resize(n); }
  Id push_back(T item) {
    SIM_ASSERT(items_.size() < UINT32_MAX);
    items_.push_back(std::move(item));
    return Id(static_cast<std::uint32_t>(items_.size() - 1));
  }
  [[nodiscard]] Id next_id() const { return Id(static_cast<std::uint32_t>(items_.size())); }
  T& back() { return items_.back(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

}  // namespace weft
