// Checksums within the text of a JSON object.
#include "sim/files/checksum.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::checksum_test {
namespace {

TEST(Checksum, is_a_member_of_the_object_and_fits_it) {
  for (const std::string text : {"{\"a\":1,\"b\":{\"c\":\"}\"}}\n", "{\n  \"a\": 1\n}\n"}) {
    const std::string with = with_checksum(text);
    EXPECT_EQ(check_checksum(text), Checked::absent);
    EXPECT_EQ(check_checksum(with), Checked::right) << with;
    nlohmann::json json = nlohmann::json::parse(with);
    EXPECT_EQ(json.erase("checksum"), 1U);
    EXPECT_EQ(json, nlohmann::json::parse(text));
  }
}

// FNV-1a takes in a byte by an invertible step: no single one can change unseen.
TEST(Checksum, shows_every_single_bit_that_changes) {
  const std::string whole = with_checksum("{\"a\":1,\"b\":{\"c\":\"}\"}}\n");
  for (std::size_t byte = 0; byte + 1 < whole.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[byte] = static_cast<char>(static_cast<unsigned char>(damaged[byte]) ^ (1U << bit));
      EXPECT_NE(check_checksum(damaged), Checked::right) << byte << " " << damaged;
    }
  }
}

}  // namespace
}  // namespace weft::checksum_test
