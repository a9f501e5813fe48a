// Fingerprints: the same on every machine, and another one for every other history.
#include "sim/core/fingerprint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <set>

namespace weft::fingerprint_test {
namespace {

std::uint64_t fingerprint_of(std::initializer_list<std::uint64_t> values) {
  Fingerprint fingerprint;
  for (const std::uint64_t value : values) fingerprint.add(value);
  return fingerprint.value();
}

TEST(Fingerprint, fnv_1a_gives_its_published_test_vectors) {
  // Landon Curt Noll's test vectors of FNV-1a, 64 bits.
  EXPECT_EQ(fnv1a(""), 0xCBF29CE484222325ULL);
  EXPECT_EQ(fnv1a("a"), 0xAF63DC4C8601EC8CULL);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171F73967E8ULL);
}

TEST(Fingerprint, a_text_hashed_in_two_parts_has_the_hash_of_the_whole) {
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
}

TEST(Fingerprint, letters_above_ascii_are_bytes_and_not_negative) {
  // One step of the definition: (basis ^ 0xFF) x prime, modulo 2^64.
  EXPECT_EQ(fnv1a("\xFF"), (0xCBF29CE484222325ULL ^ 0xFFU) * 0x100000001B3ULL);
}

TEST(Fingerprint, a_history_has_the_value_that_the_definition_gives) {
  // Computed from the definition in the header with Python's integers.
  EXPECT_EQ(fingerprint_of({1, 2, 3}), 0x1160159404BD66A1ULL);
}

TEST(Fingerprint, the_order_in_which_events_are_added_does_not_matter) {
  EXPECT_EQ(fingerprint_of({1, 2, 3}), fingerprint_of({3, 1, 2}));
}

TEST(Fingerprint, repetition_and_every_single_bit_matter) {
  EXPECT_NE(fingerprint_of({1}), fingerprint_of({1, 1}));
  EXPECT_NE(fingerprint_of({}), fingerprint_of({0}));
  std::set<std::uint64_t> values = {fingerprint_of({0, 5})};
  for (unsigned bit = 0; bit < 64; ++bit) values.insert(fingerprint_of({1ULL << bit, 5}));
  EXPECT_EQ(values.size(), 65U);
}

}  // namespace
}  // namespace weft::fingerprint_test
