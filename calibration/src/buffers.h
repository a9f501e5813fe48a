#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "check.h"
#include "machine.h"

namespace calibration {

// Who writes or polls a buffer: AMD's peers see each other's stores and flags at once only in
// fine-grained memory. With CUDA there is no difference.
enum class Reach { local, peers };

template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Gpu& gpu, std::size_t count, Reach reach) : device_(gpu.device), count_(count) {
    gpu.use();
    void* memory = nullptr;
    if (reach == Reach::peers) {
      check(hipExtMallocWithFlags(&memory, bytes(), hipDeviceMallocFinegrained));
    } else {
      check(hipMalloc(&memory, bytes()));
    }
    data_ = static_cast<T*>(memory);
  }
  Buffer(Buffer&& other) noexcept
      : device_(other.device_), count_(other.count_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (data_ != nullptr) {
      static_cast<void>(hipSetDevice(device_));
      static_cast<void>(hipFree(data_));
    }
  }

  T* data() const { return data_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  void fill_bytes(int value) const {
    check(hipSetDevice(device_));
    check(hipMemset(data_, value, bytes()));
  }

 private:
  int device_ = 0;
  std::size_t count_ = 0;
  T* data_ = nullptr;
};

// The same buffer on every GPU, as a kernel takes it.
template <class T>
struct PerGpu {
  T* at[gpus_max];
};

// One buffer of equal size on each GPU.
template <class T>
class Buffers {
 public:
  Buffers(const Machine& machine, std::size_t count, Reach reach) {
    each_.reserve(machine.gpus().size());
    for (const Gpu& gpu : machine.gpus()) {
      each_.emplace_back(gpu, count, reach);
    }
  }

  T* operator[](int gpu) const { return each_[static_cast<std::size_t>(gpu)].data(); }
  std::size_t count() const { return each_.front().count(); }
  PerGpu<T> all() const {
    PerGpu<T> result{};
    for (std::size_t i = 0; i < each_.size(); ++i) {
      result.at[i] = each_[i].data();
    }
    return result;
  }
  void fill_bytes(int value) const {
    for (const Buffer<T>& buffer : each_) {
      buffer.fill_bytes(value);
    }
  }

 private:
  std::vector<Buffer<T>> each_;
};

}  // namespace calibration
