// HugePages: an allocator for large arrays with scattered reads. It asks for huge pages, so that
// address translation costs less; if there are none, nothing else changes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace weft {

template <class T>
class HugePages {
 public:
  using value_type = T;

  HugePages() = default;
  template <class Other>
  explicit HugePages(const HugePages<Other>&) {}

  T* allocate(std::size_t n) {
    const std::size_t size = n * sizeof(T);
    const std::align_val_t alignment = alignment_of(size);
    void* const memory = ::operator new(size, alignment);
#ifdef MADV_HUGEPAGE
    if (alignment == kHuge) madvise(memory, size, MADV_HUGEPAGE);  // advice: may fail
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    ::operator delete(memory, alignment_of(n * sizeof(T)));
  }
  bool operator==(const HugePages&) const = default;

 private:
  static constexpr std::align_val_t kHuge{std::size_t{1} << 21U};
  static std::align_val_t alignment_of(std::size_t size) {
    return size >= static_cast<std::size_t>(kHuge) ? kHuge : std::align_val_t{alignof(T)};
  }
};

}  // namespace weft
