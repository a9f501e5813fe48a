#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <vector>

#include "json_line.h"

namespace calibration {

constexpr int gpus_max = 16;
constexpr int threads_per_wg = 256;

// One GPU and the streams work is queued on. Every measurement starts and ends on `main`.
struct Gpu {
  int device = 0;
  int units = 0;                      // SMs or CUs
  std::size_t shared_per_unit = 0;    // bytes of shared memory (LDS) of an SM or CU
  std::size_t shared_per_wg_own = 0;  // bytes the runtime takes of it for each resident WG
  hipStream_t main = nullptr;
  hipStream_t beside = nullptr;  // priority of `main`
  hipStream_t urgent = nullptr;  // highest priority
  std::vector<hipStream_t> copies;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  std::vector<hipEvent_t> joins;  // one for each stream that joins `main` again

  void use() const;  // makes it the GPU that further calls are for
};

// All GPUs of a run, each able to store into the memory of every other.
class Machine {
 public:
  static constexpr int copy_streams = 16;

  explicit Machine(int gpus);  // 0: all there are

  int size() const { return static_cast<int>(gpus_.size()); }
  const Gpu& gpu(int index) const { return gpus_[static_cast<std::size_t>(index)]; }
  const std::vector<Gpu>& gpus() const { return gpus_; }
  // The GPU that GPU `index` sends to where each sends to one.
  int next(int index) const { return (index + 1) % size(); }

  // One stream of each GPU: `streams(&Gpu::main)`.
  std::vector<hipStream_t> streams(hipStream_t Gpu::*which) const;

  void synchronize() const;
  // Makes `stream` of GPU `gpu` wait for what `main` holds; `join` makes `main` wait for it.
  void fork(int gpu, hipStream_t stream) const;
  void join(int gpu, hipStream_t stream, int which) const;

  JsonLine describe() const;  // the first line of an output

 private:
  std::vector<Gpu> gpus_;
};

}  // namespace calibration
