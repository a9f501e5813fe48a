#include "data.h"

#include <cmath>
#include <string>

#include "kernels.h"

namespace calibration {
namespace {

#if defined(CALIBRATION_EMULATION)
constexpr int wgs_for_data = 2;
#else
constexpr int wgs_for_data = 512;
#endif

__device__ std::size_t first_element() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::size_t all_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void make_floats(float* data, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = first_element(); i < count; i += all_threads()) {
    data[i] = test_value(seed, i);
  }
}

__global__ void make_bf16(bf16_bits* data, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = first_element(); i < count; i += all_threads()) {
    data[i] = to_bf16(test_value(seed, i));
  }
}

__global__ void make_halves(half_bits* data, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = first_element(); i < count; i += all_threads()) {
    data[i] = test_half(seed, i);
  }
}

__global__ void make_indices(std::uint32_t* data, std::size_t count, std::uint32_t seed,
                             std::uint32_t below) {
  for (std::size_t i = first_element(); i < count; i += all_threads()) {
    data[i] = mixed(seed, i) % below;
  }
}

__global__ void make_rows(uint4* data, std::size_t rows, unsigned words, std::uint32_t seed) {
  for (std::size_t i = first_element(); i < rows * words; i += all_threads()) {
    data[i] = make_uint4(mixed(seed, i / words), 0, 0, 0);
  }
}

__device__ float as_float(float value) { return value; }
__device__ float as_float(bf16_bits value) { return from_bf16(value); }

template <class T>
__global__ void count_different(const T* got, const T* expected, std::size_t count, float tolerance,
                                unsigned* different) {
  for (std::size_t i = first_element(); i < count; i += all_threads()) {
    const float distance = fabsf(as_float(got[i]) - as_float(expected[i]));
    if (!(distance <= tolerance)) {  // also where one of them is not a number
      atomicAdd(different, 1U);
    }
  }
}

template <class T>
void compare(const Gpu& gpu, const T* got, const T* expected, std::size_t count, float tolerance,
             const char* what) {
  const Buffer<unsigned> different(gpu, 1, Reach::local);
  different.fill_bytes(0);
  check(hipDeviceSynchronize());
  launch(count_different<T>, {.wgs = wgs_for_data}, gpu.main, got, expected, count, tolerance,
         different.data());
  check(hipStreamSynchronize(gpu.main));
  unsigned found = 0;
  check(hipMemcpy(&found, different.data(), sizeof found, hipMemcpyDeviceToHost));
  if (found != 0) {
    throw WrongAnswer(std::string(what) + ": " + std::to_string(found) + " of " +
                      std::to_string(count) + " results differ on GPU " +
                      std::to_string(gpu.device));
  }
}

template <class T>
T fetch(const Gpu& gpu, const T* data, std::size_t index) {
  gpu.use();
  T value;
  check(hipMemcpy(&value, data + index, sizeof value, hipMemcpyDeviceToHost));
  return value;
}

void expect_near(double got, double expected, double tolerance, std::size_t index,
                 const char* what) {
  if (!(std::abs(got - expected) <= tolerance)) {
    throw WrongAnswer(std::string(what) + ": element " + std::to_string(index) + " is " +
                      std::to_string(got) + ", not " + std::to_string(expected));
  }
}

}  // namespace

void fill_test_data(const Gpu& gpu, float* data, std::size_t count, std::uint32_t seed) {
  gpu.use();
  launch(make_floats, {.wgs = wgs_for_data}, gpu.main, data, count, seed);
}

void fill_test_bf16(const Gpu& gpu, bf16_bits* data, std::size_t count, std::uint32_t seed) {
  gpu.use();
  launch(make_bf16, {.wgs = wgs_for_data}, gpu.main, data, count, seed);
}

void fill_test_halves(const Gpu& gpu, half_bits* data, std::size_t count, std::uint32_t seed) {
  gpu.use();
  launch(make_halves, {.wgs = wgs_for_data}, gpu.main, data, count, seed);
}

void fill_indices(const Gpu& gpu, std::uint32_t* data, std::size_t count, std::uint32_t seed,
                  std::uint32_t below) {
  gpu.use();
  launch(make_indices, {.wgs = wgs_for_data}, gpu.main, data, count, seed, below);
}

void fill_rows(const Gpu& gpu, uint4* data, std::size_t rows, unsigned words, std::uint32_t seed) {
  gpu.use();
  launch(make_rows, {.wgs = wgs_for_data}, gpu.main, data, rows, words, seed);
}

void expect_equal(const Gpu& gpu, const float* got, const float* expected, std::size_t count,
                  float tolerance, const char* what) {
  compare(gpu, got, expected, count, tolerance, what);
}

void expect_equal(const Gpu& gpu, const bf16_bits* got, const bf16_bits* expected,
                  std::size_t count, float tolerance, const char* what) {
  compare(gpu, got, expected, count, tolerance, what);
}

void expect_close(const Gpu& gpu, const float* data, std::size_t index, double expected,
                  double tolerance, const char* what) {
  expect_near(static_cast<double>(fetch(gpu, data, index)), expected, tolerance, index, what);
}

void expect_close_bf16(const Gpu& gpu, const bf16_bits* data, std::size_t index, double expected,
                       double tolerance, const char* what) {
  expect_near(static_cast<double>(from_bf16(fetch(gpu, data, index))), expected, tolerance, index,
              what);
}

}  // namespace calibration
