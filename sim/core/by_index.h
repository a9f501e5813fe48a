// Goes through a container that has no elements to refer to: its operator[] makes them.
#pragma once

#include <cstdint>

namespace weft {

// Container::Index is what operator[] takes.
template <class Container>
class ByIndex {
 public:
  ByIndex(const Container& of, std::uint32_t at) : of_(&of), at_(at) {}
  auto operator*() const { return (*of_)[typename Container::Index(at_)]; }
  ByIndex& operator++() {
    ++at_;
    return *this;
  }
  bool operator==(const ByIndex& other) const { return at_ == other.at_; }

 private:
  const Container* of_;
  std::uint32_t at_;
};

}  // namespace weft
