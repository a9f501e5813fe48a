// What is known in a folder: of which file a value may come.
#include "sim/engine/known_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "sim/engine/known_runs.h"
#include "sim/files/read_text.h"

namespace weft::known_files_test {
namespace {

namespace fs = std::filesystem;

constexpr RunKey kKey{.low = 1, .high = 2};

class KnownFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] KnownFolder where(const std::string& program = "a program") {
    return {.folder = folder_,
            .most = mebibytes(16),
            .program = program,
            .warning = [this](const std::string& text) { warnings_.push_back(text); }};
  }
  // The only one.
  [[nodiscard]] fs::path file() const { return fs::directory_iterator(folder_)->path(); }
  void put(const std::string& text) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << text;
  }

  std::vector<std::string> warnings_;
  fs::path folder_ =
      fs::temp_directory_path() / ("weft_known_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(KnownFilesTest, give_back_what_another_process_has_put) {
  const std::string value("a\0value", 7);
  KnownFiles(where()).put(kKey, value);
  EXPECT_EQ(KnownFiles(where()).find(kKey), value);
  EXPECT_FALSE(KnownFiles(where()).find({.low = 2, .high = 1}));
}

TEST_F(KnownFilesTest, of_another_program_are_not_there_and_stay) {
  KnownFiles(where("one")).put(kKey, "1");
  KnownFiles(where("two")).put(kKey, "2");
  EXPECT_EQ(KnownFiles(where("one")).find(kKey), "1");
  EXPECT_EQ(KnownFiles(where("two")).find(kKey), "2");
  EXPECT_FALSE(KnownFiles(where("three")).find(kKey));
}

TEST_F(KnownFilesTest, cut_short_or_changed_are_not_there_and_are_replaced) {
  KnownFiles files(where());
  files.put(kKey, "some value");
  const std::string whole = read_own(file());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_FALSE(files.find(kKey)) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    put(changed);
    EXPECT_FALSE(files.find(kKey)) << at;
  }
  put(whole + "x");
  EXPECT_FALSE(files.find(kKey));
  put("name: a scenario\n");
  EXPECT_FALSE(files.find(kKey));
  files.put(kKey, "some value");
  EXPECT_EQ(files.find(kKey), "some value");
  EXPECT_EQ(read_own(file()), whole);
}

// Whole, and of this program, but by the name of another.
TEST_F(KnownFilesTest, of_another_key_are_not_there) {
  KnownFiles files(where());
  files.put(kKey, "some value");
  const std::string whole = read_own(file());
  fs::remove(file());
  files.put({.low = 7, .high = 7}, "another");
  put(whole);
  EXPECT_FALSE(files.find({.low = 7, .high = 7}));
}

TEST_F(KnownFilesTest, that_cannot_be_written_are_warned_of_once) {
  std::ofstream(folder_) << "a file where the folder should be";
  KnownFiles files(where());
  for (std::uint64_t i = 0; i < 5; ++i) files.put({.low = i, .high = 0}, "value");
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find(folder_.string()), std::string::npos) << warnings_[0];
  EXPECT_FALSE(files.find(kKey));
}

TEST_F(KnownFilesTest, are_what_another_process_knows) {
  RunResult result;
  result.fingerprint = 77;
  result.operators.emplace_back().name = "an operator";
  const RunKey lowering{.low = 8, .high = 8};
  {
    KnownRuns first(mebibytes(1), where());
    first.put(kKey, result);
    first.put_lowering(lowering, {.run = kKey, .first_operators = {OperatorId(3)}});
    first.put_choice({.low = 9, .high = 9}, {7});
  }
  KnownRuns second(mebibytes(1), where());
  EXPECT_EQ(second.size(), 0U);
  EXPECT_EQ(second.find(kKey)->fingerprint, 77U);
  EXPECT_EQ(second.find(kKey)->operators[0].name, "an operator");
  EXPECT_EQ(second.find_lowering(lowering)->run, kKey);
  EXPECT_EQ(second.find_lowering(lowering)->first_operators[0], OperatorId(3));
  EXPECT_EQ(second.find_choice({.low = 9, .high = 9})->choice, 7);
  EXPECT_EQ(second.size(), 3U) << "also in memory from then on";
  EXPECT_EQ(second.for_a_child()->size(), 0U);
  EXPECT_EQ(second.for_a_child()->find(kKey)->fingerprint, 77U);
  EXPECT_FALSE(KnownRuns(mebibytes(1)).for_a_child()->find(kKey));
}

// In memory nothing has room; in the folder it has.
TEST_F(KnownFilesTest, have_a_bound_of_their_own) {
  KnownRuns known(bytes(1), where());
  known.put(kKey, RunResult{});
  EXPECT_EQ(known.size(), 0U);
  EXPECT_TRUE(known.find(kKey));
}

}  // namespace
}  // namespace weft::known_files_test
