// What a request says, before anything is answered.
#include "sim/serve/http_message.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/serve/token.h"

namespace weft::http_message_test {
namespace {

TEST(Token, is_of_128_bits_and_new_each_time) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(new_token());
  EXPECT_EQ(seen.size(), 100U);
  for (const std::string& token : seen) {
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos) << token;
  }
}

TEST(Token, is_the_same_only_if_all_of_it_is) {
  EXPECT_TRUE(same_token("abc", "abc"));
  EXPECT_FALSE(same_token("abc", "abd"));
  EXPECT_FALSE(same_token("abc", "ab"));
  EXPECT_FALSE(same_token("abc", "abcd"));
  EXPECT_FALSE(same_token("", "abc"));
  EXPECT_FALSE(same_token("\xE1", "a"));
}

TEST(Target, is_decoded_once) {
  const auto target = parse_target("/report?of=a%20b&of=c+d&x&of=%2e%2E%2Fe&y=%2525");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/report");
  EXPECT_EQ(target->values("of"), (std::vector<std::string>{"a b", "c d", "../e"}));
  EXPECT_EQ(target->value("x"), "");
  EXPECT_EQ(target->value("y"), "%25");
  EXPECT_EQ(parse_target("/a+b%2fc")->path, "/a+b/c");
}

TEST(Target, with_half_a_byte_or_a_zero_one_is_none) {
  for (const char* wrong : {"/%", "/%2", "/%zz", "/a?of=%4", "/a?%g0=1", "/%00", "/a?of=b%00c"}) {
    EXPECT_FALSE(parse_target(wrong)) << wrong;
  }
}

TEST(Cookie, is_found_among_others_by_its_whole_name) {
  EXPECT_EQ(cookie_named("a=1; weft_80=xyz; b=2", "weft_80"), "xyz");
  EXPECT_EQ(cookie_named("weft_8080=no; xweft_80=no", "weft_80"), "");
  EXPECT_EQ(cookie_named("", "weft_80"), "");
  EXPECT_EQ(cookie_named("   ;;", "weft_80"), "");
}

// A page of another site can make its own name lead to 127.0.0.1; the browser sends that name.
TEST(Host, is_the_address_served_and_no_name_of_another_site) {
  EXPECT_TRUE(is_own_host("127.0.0.1:8080", "127.0.0.1", 8080));
  EXPECT_TRUE(is_own_host("localhost:8080", "127.0.0.1", 8080));
  EXPECT_TRUE(is_own_host("[::1]:8080", "::1", 8080));
  for (const char* wrong : {"evil.example:8080", "127.0.0.1", "127.0.0.1:80", "localhost", "",
                            "127.0.0.1.evil.example:8080", "evil.example", ":8080"}) {
    EXPECT_FALSE(is_own_host(wrong, "127.0.0.1", 8080)) << wrong;
  }
  EXPECT_FALSE(is_own_host("localhost:8080", "192.168.0.2", 8080));
}

TEST(Host, has_no_port_where_that_is_80) {
  EXPECT_TRUE(is_own_host("127.0.0.1", "127.0.0.1", 80));
  EXPECT_TRUE(is_own_host("[::1]", "::1", 80));
  EXPECT_FALSE(is_own_host("127.0.0.1", "127.0.0.1", 8080));
  EXPECT_FALSE(is_own_host("evil.example", "127.0.0.1", 80));
}

TEST(Host, of_all_interfaces_is_any_number_but_no_name) {
  EXPECT_TRUE(is_own_host("192.168.0.2:80", "0.0.0.0", 80));
  EXPECT_TRUE(is_own_host("[fe80::1]:80", "::", 80));
  EXPECT_FALSE(is_own_host("evil.example:80", "0.0.0.0", 80));
  EXPECT_FALSE(is_own_host(":80", "0.0.0.0", 80));
}

}  // namespace
}  // namespace weft::http_message_test
