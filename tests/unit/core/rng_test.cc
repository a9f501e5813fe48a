// Random numbers are the same from every compiler, and streams do not disturb each other.
#include "sim/core/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace weft::rng_test {
namespace {

std::vector<std::uint64_t> first_numbers(Rng rng, int count) {
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(rng());
  return numbers;
}

TEST(Rng, the_mixing_function_is_that_of_split_mix_64) {
  // Outputs of the published generator for seed 0 (prng.di.unimi.it/splitmix64.c): its state is a
  // multiple of the golden ratio's 64 bits.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
  EXPECT_EQ(mix64(kGolden), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(2 * kGolden), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(mix64(3 * kGolden), 0x06C45D188009454FULL);
}

TEST(Rng, the_first_numbers_of_a_stream_are_the_same_from_every_compiler) {
  // Computed from the definition in the header with Python's integers: no compiler had a say.
  const std::vector<std::uint64_t> stream_0 = {0x2AB0A07603DBE53DULL, 0x5ADBD1A58ED8D017ULL,
                                               0xE4CFDE4426C761EAULL, 0x706A4E75B6BDCDDDULL};
  const std::vector<std::uint64_t> stream_1 = {0xB22298772A0BD9CBULL, 0x09FFD968878F40D0ULL,
                                               0xD5F196FFA1B913ADULL, 0x9EC0941F2391D210ULL};
  EXPECT_EQ(first_numbers(Rng(1, "gpu/jitter"), 4), stream_0);
  EXPECT_EQ(first_numbers(Rng(1, "gpu/jitter", 1), 4), stream_1);
}

TEST(Rng, dice_are_the_same_from_every_compiler_and_standard_library) {
  // Boost's rule, done by hand in Python: the 2^64 numbers are cut into equal buckets, one for each
  // result, and what is left over is drawn again.
  Rng dice(7, "test/dice");
  for (const std::int64_t expected : {6, 3, 6, 1, 1, 5, 4, 2, 2, 2, 2, 2}) {
    EXPECT_EQ(dice.between(1, 6), expected);
  }
  Rng wide(7, "test/dice");
  for (const std::int64_t expected : {842, -53, 991, -854, -764, 620}) {
    EXPECT_EQ(wide.between(-1'000, 1'000), expected);
  }
}

TEST(Rng, both_ends_of_a_range_are_drawn_and_nothing_outside) {
  Rng rng(1, "test/ends");
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(rng.between(-1, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1, 2}));
  EXPECT_EQ(rng.between(5, 5), 5);
}

TEST(Rng, results_of_a_range_are_equally_frequent) {
  // 64,000 draws of 64 results: 1,000 each. Chi-square with 63 degrees of freedom has mean 63 and
  // standard deviation sqrt(126) = 11.2; six of them are 130.
  Rng rng(1, "test/even");
  std::array<int, 64> count{};
  for (int i = 0; i < 64'000; ++i) ++count[static_cast<std::size_t>(rng.between(0, 63))];
  double chi_square = 0;
  for (const int n : count) chi_square += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 130.0);
}

TEST(Rng, a_draw_from_one_stream_moves_no_other_stream) {
  const std::vector<std::uint64_t> alone = first_numbers(Rng(4, "b"), 100);
  Rng a(4, "a");
  Rng b(4, "b");
  for (const std::uint64_t expected : alone) {
    a();
    a();
    ASSERT_EQ(b(), expected);
  }
}

TEST(Rng, seed_name_and_index_each_give_another_stream) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const char* name : {"gpu/jitter", "gpu/jittes", ""}) {
      for (std::uint64_t index = 0; index < 50; ++index) firsts.insert(Rng(seed, name, index)());
    }
  }
  // 3,000 numbers of 64 bits: two equal ones have a chance of 3000^2 / 2^65 = 2.4e-13.
  EXPECT_EQ(firsts.size(), 20U * 3U * 50U);
}

TEST(Rng, neighbouring_streams_are_not_one_stream_shifted) {
  // Were stream 1 stream 0 a few draws later, the two would share numbers.
  const std::vector<std::uint64_t> zero = first_numbers(Rng(1, "s", 0), 10'000);
  const std::vector<std::uint64_t> one = first_numbers(Rng(1, "s", 1), 10'000);
  const std::set<std::uint64_t> numbers(zero.begin(), zero.end());
  for (const std::uint64_t number : one) ASSERT_EQ(numbers.count(number), 0U);
}

}  // namespace
}  // namespace weft::rng_test
