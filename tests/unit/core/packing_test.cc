// Values as bytes and back.
#include "sim/core/packing.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/quantity.h"

namespace weft::packing_test {
namespace {

enum class Word : std::uint8_t { a, b };

TEST(Packing, gives_back_the_extremes_of_each_type) {
  const std::vector<std::int64_t> whole = {0,   1,   -1,        63,        64,
                                           -64, -65, INT64_MAX, INT64_MIN, 1'000'000'007};
  const std::vector<std::uint64_t> natural = {0, 127, 128, UINT64_MAX};
  const std::vector<double> real = {0, -0.0, 0.1, std::numeric_limits<double>::infinity()};
  const std::string text("a\0\xff\n", 4);
  const std::array<Duration, 2> times = {picoseconds(-5), picoseconds(INT64_MAX)};
  Packer packer;
  packer(whole, natural, real, text, times, Word::b, StrongId<Word>::none(), true);
  const std::string bytes = packer.take();

  std::vector<std::int64_t> whole_read;
  std::vector<std::uint64_t> natural_read;
  std::vector<double> real_read;
  std::string text_read;
  std::array<Duration, 2> times_read{};
  Word word = Word::a;
  StrongId<Word> id;
  bool flag = false;
  Unpacker unpacker(bytes);
  unpacker(whole_read, natural_read, real_read, text_read, times_read, word, id, flag);
  EXPECT_TRUE(unpacker.is_done());
  EXPECT_EQ(whole_read, whole);
  EXPECT_EQ(natural_read, natural);
  EXPECT_EQ(real_read, real);
  EXPECT_TRUE(std::signbit(real_read[1]));
  EXPECT_EQ(text_read, text);
  EXPECT_EQ(times_read, times);
  EXPECT_EQ(word, Word::b);
  EXPECT_TRUE(id.is_none());
  EXPECT_TRUE(flag);
}

TEST(Packing, is_not_done_where_bytes_are_missing_or_left) {
  Packer packer;
  packer(std::vector<std::string>{"one", "two"}, -3);
  const std::string bytes = packer.take();
  const auto is_done = [](const std::string& of) {
    std::vector<std::string> texts;
    int number = 0;
    Unpacker unpacker(of);
    unpacker(texts, number);
    return unpacker.is_done();
  };
  EXPECT_TRUE(is_done(bytes));
  EXPECT_FALSE(is_done(bytes + "x"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(is_done(bytes.substr(0, size))) << size;
  }
}

// A length of 2^60 must not be believed.
TEST(Packing, asks_for_no_more_memory_than_there_are_bytes) {
  Packer packer;
  packer(std::uint64_t{1} << 60U);
  std::vector<std::int64_t> many;
  const std::string bytes = packer.take();
  Unpacker unpacker(bytes);
  unpacker(many);
  EXPECT_TRUE(many.empty());
  EXPECT_FALSE(unpacker.is_done());
}

}  // namespace
}  // namespace weft::packing_test
