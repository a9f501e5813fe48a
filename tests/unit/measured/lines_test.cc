#include "sim/measured/lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::lines_test {
namespace {

namespace fs = std::filesystem;

class MeasuredLines : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }
  MeasuredFile read(const std::string& text) {
    std::ofstream(file_) << text;
    return read_measured(file_);
  }
  const fs::path file_ = fs::path(::testing::TempDir()) / "weft_measured_lines.jsonl";
};

TEST_F(MeasuredLines, numbers_words_and_the_time_of_a_line) {
  const MeasuredFile file = read(R"({"kind": "c3.base", "gpus": 4, "collective": "allgather",)"
                                 R"( "us": 2.5, "us_min": 2, "us_max": 3})");
  ASSERT_FALSE(file.problems.has_errors()) << file.problems.to_text();
  ASSERT_EQ(file.lines.size(), 1U);
  const MeasuredLine& line = file.lines.front();
  EXPECT_EQ(line.kind, "c3.base");
  EXPECT_EQ(line.us, 2.5);
  EXPECT_EQ(line.number("gpus"), 4);
  EXPECT_EQ(line.number("us_min"), std::nullopt);
  EXPECT_EQ(line.text(), "gpus 4, collective allgather");
}

TEST_F(MeasuredLines, meta_and_empty_lines_are_no_cases) {
  const MeasuredFile file =
      read("{\"kind\": \"meta\", \"driver\": \"580\"}\n\n{\"kind\": \"emb.bulk\", \"us\": 1}\n");
  EXPECT_FALSE(file.problems.has_errors());
  EXPECT_EQ(file.lines.size(), 1U);
  EXPECT_EQ(file.lines.front().at.line, 3);
}

TEST_F(MeasuredLines, every_bad_line_is_named_with_its_number) {
  const MeasuredFile file = read(
      "{\"kind\": \"emb.bulk\", \"us\": 1}\n"
      "{\"kind\": \"emb.bulk\", \"us\"\n"
      "{\"us\": 1}\n"
      "{\"kind\": \"emb.bulk\"}\n"
      "{\"kind\": \"emb.bulk\", \"us\": -1}\n");
  EXPECT_EQ(file.lines.size(), 1U);
  const std::string text = file.problems.to_text();
  for (const char* part : {":2:1: error: not a JSON object", ":3:1: error: kind: missing",
                           ":4:1: error: us: missing", ":5:1: error: us: must be a time"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(MeasuredLines, a_file_that_is_not_there_or_empty_is_an_error) {
  EXPECT_TRUE(read_measured("/nowhere/at/all.jsonl").problems.has_errors());
  EXPECT_TRUE(read("").problems.has_errors());
}

}  // namespace
}  // namespace weft::lines_test
