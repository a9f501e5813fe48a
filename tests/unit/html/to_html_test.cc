// What comes from files stays text, and what is missing is said.
#include "sim/html/to_html.h"

#include <gtest/gtest.h>

#include "sim/html/run_page.h"

namespace weft::to_html_test {
namespace {

TEST(ToHtml, text_cannot_become_a_tag_or_leave_its_quotes) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'> & "), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt; &amp; ");
}

TEST(ToHtml, json_cannot_end_its_script) {
  const std::string text = in_script(JsonValue("</script><!--"));
  EXPECT_EQ(text, "\"\\u003c/script>\\u003c!--\"");
  EXPECT_EQ(JsonValue::parse(text), "</script><!--");
}

TEST(ToHtml, bytes_that_are_no_text_are_replaced) {
  EXPECT_EQ(in_script(JsonValue("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(ToHtml, a_chart_without_data_says_why_and_has_nothing_to_draw) {
  Page page;
  page.title = "a < b";
  page.charts.push_back({.id = "map",
                         .title = "Map",
                         .text = "A map needs two axes.",
                         .kind = "heat",
                         .table = "",
                         .roles = {},
                         .slice = {},
                         .within = "",
                         .label = "",
                         .steps = ""});
  const std::string html = to_html(page, {});
  EXPECT_NE(html.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"absent\">A map needs two axes.</p>"), std::string::npos);
  EXPECT_NE(html.find("\"charts\":[]"), std::string::npos);
}

TEST(ToHtml, why_is_cut_into_its_sentences) {
  EXPECT_EQ(sentences_of("a takes 1.5 us. b 2."),
            (std::vector<std::string>{"a takes 1.5 us.", "b 2."}));
  EXPECT_EQ(sentences_of(""), std::vector<std::string>());
}

}  // namespace
}  // namespace weft::to_html_test
