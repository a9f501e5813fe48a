// A large value that may be absent.
#include "sim/core/boxed.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace weft::boxed_test {
namespace {

Boxed<std::string> of(const char* text) { return std::string(text); }

TEST(Boxed, is_absent_at_first) {
  const Boxed<std::string> boxed;
  EXPECT_FALSE(boxed.has_value());
  EXPECT_FALSE(boxed);
}

TEST(Boxed, is_absent_after_a_reset) {
  Boxed<std::string> boxed = of("value");
  boxed.reset();
  EXPECT_FALSE(boxed);
}

TEST(Boxed, takes_a_pointer) { EXPECT_EQ(sizeof(Boxed<std::string>), sizeof(void*)); }

TEST(Boxed, has_what_it_is_made_of) {
  EXPECT_EQ(*of("value"), "value");
  EXPECT_EQ(*Boxed<std::string>(std::optional<std::string>("value")), "value");
  EXPECT_FALSE(Boxed<std::string>(std::optional<std::string>()));
}

TEST(Boxed, copies_the_value) {
  Boxed<std::string> first = of("value");
  Boxed<std::string> copied(first);
  Boxed<std::string> assigned;
  assigned = first;
  *first = "other";
  EXPECT_EQ(*copied, "value");
  EXPECT_EQ(*assigned, "value");
}

TEST(Boxed, moved_from_is_absent) {
  Boxed<std::string> first = of("value");
  const Boxed<std::string> second = std::move(first);
  EXPECT_EQ(*second, "value");
  EXPECT_FALSE(first);  // NOLINT: said so
}

TEST(Boxed, is_equal_if_the_values_are) {
  const Boxed<std::string> absent;
  EXPECT_EQ(absent, Boxed<std::string>());
  EXPECT_EQ(of("one"), of("one"));
  EXPECT_NE(of("one"), of("other"));
  EXPECT_NE(of("one"), absent);
  EXPECT_NE(absent, of("one"));
}

}  // namespace
}  // namespace weft::boxed_test
