// A value that may be absent and then takes no more than a pointer: for members that are large and
// that few of many have. As std::optional, but one moved from is absent; copies copy the value.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace weft {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : box_(std::make_unique<T>(std::move(value))) {}  // NOLINT: as std::optional
  Boxed(std::optional<T> value) {                                  // NOLINT: the same
    if (value) box_ = std::make_unique<T>(*std::move(value));
  }
  Boxed(const Boxed& other) : box_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    box_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  [[nodiscard]] bool has_value() const { return box_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  void reset() { box_.reset(); }
  T& operator*() { return *box_; }
  const T& operator*() const { return *box_; }
  T* operator->() { return box_.get(); }
  const T* operator->() const { return box_.get(); }

  friend bool operator==(const Boxed& a, const Boxed& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b);
  }

 private:
  std::unique_ptr<T> box_;
};

}  // namespace weft
