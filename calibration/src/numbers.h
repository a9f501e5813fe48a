#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// Numbers of 16 bits as their bits, and test data that the host and every GPU agree on.

namespace calibration {

using half_bits = std::uint16_t;
using bf16_bits = std::uint16_t;

__host__ __device__ inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

__host__ __device__ inline float float_of(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

__host__ __device__ inline float from_bf16(bf16_bits bits) {
  return float_of(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest even. Not for NaN, which no test data hold.
__host__ __device__ inline bf16_bits to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  return static_cast<bf16_bits>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

inline std::size_t elements(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

// A well-mixed 32-bit number of (seed, index); murmur3's finalizer.
__host__ __device__ inline std::uint32_t mixed(std::uint32_t seed, std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ULL + seed;
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDULL;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ULL;
  return static_cast<std::uint32_t>(x >> 32);
}

// Uniform in [-1, 1) in steps of 1/128: exact as float, half and bf16.
__host__ __device__ inline float test_value(std::uint32_t seed, std::uint64_t index) {
  return (static_cast<float>(mixed(seed, index) & 0xFFU) - 128.0F) / 128.0F;
}

// The same value as a half: sign, exponent and the bits of a number of at most 8 bits.
__host__ __device__ inline half_bits test_half(std::uint32_t seed, std::uint64_t index) {
  const std::uint32_t bits = bits_of(test_value(seed, index));
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  if (magnitude == 0) {
    return static_cast<half_bits>(sign);
  }
  return static_cast<half_bits>(sign | ((magnitude - (112U << 23)) >> 13));  // re-biased exponent
}

}  // namespace calibration
