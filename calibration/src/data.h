#pragma once

#include <cstddef>
#include <cstdint>

#include "buffers.h"
#include "machine.h"
#include "numbers.h"

// Test data made on the GPU, and comparison of results there.

namespace calibration {

// Element i is test_value(seed, i), as the type says.
void fill_test_data(const Gpu& gpu, float* data, std::size_t count, std::uint32_t seed);
void fill_test_bf16(const Gpu& gpu, bf16_bits* data, std::size_t count, std::uint32_t seed);
void fill_test_halves(const Gpu& gpu, half_bits* data, std::size_t count, std::uint32_t seed);
// Element i is mixed(seed, i) % below.
void fill_indices(const Gpu& gpu, std::uint32_t* data, std::size_t count, std::uint32_t seed,
                  std::uint32_t below);
// All words of 16 B of row r are (mixed(seed, r), 0, 0, 0).
void fill_rows(const Gpu& gpu, uint4* data, std::size_t rows, unsigned words, std::uint32_t seed);

// Throws WrongAnswer, with `what`, if an element of `got` differs from `expected` by more than
// `tolerance` or is not a number. Zero asks for equality.
void expect_equal(const Gpu& gpu, const float* got, const float* expected, std::size_t count,
                  float tolerance, const char* what);
void expect_equal(const Gpu& gpu, const bf16_bits* got, const bf16_bits* expected,
                  std::size_t count, float tolerance, const char* what);

// Element `index`, fetched, against a value computed on the host.
void expect_close(const Gpu& gpu, const float* data, std::size_t index, double expected,
                  double tolerance, const char* what);
void expect_close_bf16(const Gpu& gpu, const bf16_bits* data, std::size_t index, double expected,
                       double tolerance, const char* what);

}  // namespace calibration
