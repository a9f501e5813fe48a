// Ids index their own table and nothing else (what must not compile: tests/compile_fail).
#include "sim/core/ids.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace weft::ids_test {
namespace {

using ShelfId = StrongId<struct ShelfTag>;
using BookId = StrongId<struct BookTag>;

TEST(StrongId, is_ordered_by_its_number_and_has_a_value_for_none) {
  EXPECT_EQ(BookId(3), BookId(3));
  EXPECT_LT(BookId(3), BookId(4));
  EXPECT_TRUE(BookId::none().is_none());
  EXPECT_FALSE(BookId().is_none());
  EXPECT_FALSE(BookId(UINT32_MAX - 1).is_none());
}

TEST(StrongId, ids_of_two_tables_do_not_convert) {
  EXPECT_FALSE((std::is_convertible_v<BookId, ShelfId>));
  EXPECT_FALSE((std::is_constructible_v<ShelfId, BookId>));
  EXPECT_FALSE((std::is_convertible_v<std::uint32_t, BookId>));
  EXPECT_EQ(sizeof(BookId), 4U);  // as small as the number
}

TEST(IdVector, push_back_returns_the_id_that_next_id_announced) {
  IdVector<BookId, std::string> books;
  EXPECT_TRUE(books.empty());
  EXPECT_EQ(books.next_id(), BookId(0));
  const BookId first = books.push_back("one");
  const BookId announced = books.next_id();
  const BookId second = books.push_back("two");
  EXPECT_EQ(second, announced);
  EXPECT_EQ(books[first], "one");
  EXPECT_EQ(books[second], "two");
  EXPECT_EQ(books.back(), "two");
  EXPECT_EQ(books.size(), 2U);
}

TEST(IdVector, is_walked_in_the_order_of_ids) {
  IdVector<ShelfId, int> shelves(2);
  shelves[ShelfId(0)] = 7;
  shelves[ShelfId(1)] = 8;
  shelves.resize(3);
  const IdVector<ShelfId, int>& seen = shelves;
  EXPECT_EQ(std::vector<int>(seen.begin(), seen.end()), (std::vector<int>{7, 8, 0}));
  for (int& shelf : shelves) shelf += 1;
  EXPECT_EQ(seen[ShelfId(1)], 9);
}

}  // namespace
}  // namespace weft::ids_test
