// A folder of files that many processes read and write at once.
#include "sim/files/shared_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "sim/files/program_id.h"

namespace weft::shared_folder_test {
namespace {

namespace fs = std::filesystem;

std::string name(std::uint64_t number) { return fmt::format("{:032x}", number); }

class SharedFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::int64_t bytes_there() const {
    std::int64_t all = 0;
    for (const auto& file : fs::directory_iterator(folder_)) {
      all += static_cast<std::int64_t>(file.file_size());
    }
    return all;
  }
  [[nodiscard]] std::size_t files_there() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_ =
      fs::temp_directory_path() / ("weft_shared_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(SharedFolderTest, is_made_when_something_is_written) {
  SharedFolder shared(folder_ / "a" / "b", ".run", mebibytes(1));
  EXPECT_FALSE(shared.read(name(1)));
  EXPECT_FALSE(fs::exists(folder_));
  shared.write(name(1), "one");
  EXPECT_EQ(shared.read(name(1)), "one");
  EXPECT_EQ(SharedFolder(folder_ / "a" / "b", ".run", mebibytes(1)).read(name(1)), "one");
  EXPECT_FALSE(shared.read(name(2)));
}

TEST_F(SharedFolderTest, replaces_a_file_and_leaves_no_other_beside_it) {
  SharedFolder shared(folder_, ".run", mebibytes(1));
  shared.write(name(1), "one");
  shared.write(name(1), "two");
  EXPECT_EQ(shared.read(name(1)), "two");
  EXPECT_EQ(files_there(), 1U);
}

TEST_F(SharedFolderTest, lets_the_oldest_give_way) {
  SharedFolder shared(folder_, ".run", kibibytes(256));
  const std::string content(4096, 'x');
  for (std::uint64_t i = 0; i < 1000; ++i) {
    shared.write(name(i), content);
    EXPECT_LE(bytes_there(), 256 * 1024);
  }
  EXPECT_GT(files_there(), 30U);
  EXPECT_TRUE(shared.read(name(999)));
  EXPECT_FALSE(shared.read(name(0)));
}

// Of whatever sizes: large files make a look likelier than small ones.
TEST_F(SharedFolderTest, is_bounded_with_several_processes) {
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int child = 0; child < kProcesses; ++child) {
    const pid_t process = fork();
    if (process != 0) {
      children.push_back(process);
      continue;
    }
    SharedFolder shared(folder_, ".run", mebibytes(1));
    for (std::uint64_t i = 0; i < 200; ++i) {
      shared.write(name(i * kProcesses + static_cast<std::uint64_t>(child)),
                   std::string(1000 * (1 + i % 40), 'x'));
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(bytes_there(), 1024 * 1024);
  EXPECT_GT(bytes_there(), 256 * 1024);
}

TEST_F(SharedFolderTest, leaves_out_what_would_take_a_fourth_of_it) {
  SharedFolder shared(folder_, ".run", kibibytes(64));
  shared.write(name(1), std::string(20'000, 'x'));
  EXPECT_FALSE(shared.read(name(1)));
}

TEST_F(SharedFolderTest, leaves_alone_what_is_not_its_own) {
  fs::create_directories(folder_);
  const std::string big(1'000'000, 'x');
  for (const char* other : {"notes.run", "0123.run", "results.csv"}) {
    std::ofstream(folder_ / other) << big;
  }
  std::ofstream(folder_ / (name(7) + ".txt")) << big;
  SharedFolder shared(folder_, ".run", kibibytes(64));
  for (std::uint64_t i = 0; i < 100; ++i) shared.write(name(i), std::string(4096, 'x'));
  SharedFolder::remove(folder_, ".run");
  EXPECT_EQ(files_there(), 4U);
}

TEST_F(SharedFolderTest, is_removed_with_what_a_dead_process_left) {
  SharedFolder shared(folder_, ".run", mebibytes(1));
  shared.write(name(1), "one");
  std::ofstream(folder_ / (name(2) + ".run.0123456789abcdef-0.99.partial")) << "tw";
  SharedFolder::remove(folder_, ".run");
  EXPECT_FALSE(fs::exists(folder_));
}

// A reader finds a whole file or none, whoever writes it at the time.
TEST_F(SharedFolderTest, has_two_writers_and_a_reader_of_one_file) {
  SharedFolder shared(folder_, ".run", mebibytes(16));
  const std::vector<std::string> both = {std::string(50'000, 'a'), std::string(60'000, 'b')};
  const auto write = [&](const std::string& content) {
    for (int i = 0; i < 200; ++i) shared.write(name(1), content);
  };
  std::thread first(write, both[0]);
  std::thread second(write, both[1]);
  for (int i = 0; i < 500; ++i) {
    const auto read = shared.read(name(1));
    EXPECT_TRUE(!read || *read == both[0] || *read == both[1]);
  }
  first.join();
  second.join();
  EXPECT_EQ(files_there(), 1U);
}

TEST_F(SharedFolderTest, says_what_cannot_be_written) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  SharedFolder shared(folder_ / "file" / "below", ".run", mebibytes(1));
  EXPECT_THROW(shared.write(name(1), "one"), std::runtime_error);
  EXPECT_FALSE(shared.read(name(1)));
}

TEST(ProgramId, is_the_same_each_time) {
  EXPECT_EQ(program_id().size(), 32U);
  EXPECT_EQ(program_id(), program_id());
}

}  // namespace
}  // namespace weft::shared_folder_test
