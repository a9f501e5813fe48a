// Outputs that are in each other's way, or in that of an input, by whatever path.
#include "sim/files/place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "sim/files/lock.h"

namespace weft::place_test {
namespace {

namespace fs = std::filesystem;

class PlannedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "d");
    for (const char* name : {"in", "other"}) std::ofstream(folder_ / name) << name;
    fs::create_symlink("in", folder_ / "link");
    fs::create_hard_link(folder_ / "in", folder_ / "hard");
    fs::create_symlink("fresh", folder_ / "dangling");
    fs::create_symlink("d", folder_ / "e");
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string problems(const std::vector<std::string>& reads,
                                     const std::vector<std::string>& writes) const {
    Planned planned;
    for (const std::string& name : reads) planned.reads.push_back(folder_ / name);
    for (const std::string& name : writes) planned.write("--" + name, folder_ / name);
    return check(planned).to_text();
  }

  fs::path folder_ =
      fs::temp_directory_path() / ("weft_place_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PlannedFiles, that_differ_are_no_problem) {
  EXPECT_EQ(problems({"in", "missing"}, {"other", "fresh", "d/fresh"}), "");
}

TEST_F(PlannedFiles, do_not_overwrite_what_is_read_by_any_path) {
  for (const char* path : {"in", "link", "hard", "d/../in", "e/../in"}) {
    EXPECT_NE(problems({"in"}, {path}).find("would overwrite it, but it is an input"),
              std::string::npos)
        << path;
  }
  EXPECT_NE(problems({"link"}, {"in"}), "");
}

TEST_F(PlannedFiles, do_not_overwrite_one_another_by_any_path) {
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"fresh", "fresh"}, {"fresh", "dangling"}, {"d/a", "e/a"}, {"in", "hard"}}) {
    EXPECT_NE(problems({}, {one, other}).find("would both write it"), std::string::npos)
        << one << " " << other;
  }
}

TEST_F(PlannedFiles, are_not_folders_of_one_another) {
  EXPECT_NE(problems({}, {"fresh", "fresh/below"}).find("a folder"), std::string::npos);
}

TEST_F(PlannedFiles, may_all_go_to_one_pipe) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(problems({"pipe"}, {"pipe", "pipe"}), "");
}

TEST_F(PlannedFiles, name_every_mistake) {
  const std::string all = problems({"in"}, {"in", "fresh", "fresh"});
  EXPECT_NE(all.find("--in would overwrite"), std::string::npos) << all;
  EXPECT_NE(all.find("--fresh and --fresh would both"), std::string::npos) << all;
}

std::string why(const Planned& planned) {
  try {
    check(planned);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(PlannedFiles, that_cannot_be_written_are_told_before_with_the_systems_words) {
  const auto writes = [&](const std::string& name) {
    Planned planned;
    planned.write("-o", folder_ / name);
    return why(planned);
  };
  EXPECT_NE(writes("d").find("d: Is a directory"), std::string::npos);
  EXPECT_NE(writes("in/below").find("in/below: Not a directory"), std::string::npos);
  EXPECT_EQ(writes("deep/er/fresh"), "");
  Planned folder;
  folder.write("-o", folder_ / "in", {"a"});
  EXPECT_NE(why(folder).find("in: Not a directory"), std::string::npos);
}

TEST_F(PlannedFiles, of_a_result_wait_for_no_other_weft) {
  const LockedFolder lock(folder_ / "d");
  Planned planned;
  planned.write("-o", folder_ / "d", {"a"});
  EXPECT_NE(why(planned).find("another weft is writing its results there"), std::string::npos);
}

// A sweep that begins while others ask whether the folder is free.
TEST_F(PlannedFiles, who_looks_whether_a_folder_is_free_is_not_in_the_way) {
  fs::create_directories(folder_ / "d");
  std::atomic<bool> stop = false;
  std::vector<std::thread> looking;
  for (int i = 0; i < 3; ++i) {
    looking.emplace_back([&] {
      while (!stop) {
        try {
          expect_unlocked(folder_ / "d");
        } catch (const std::runtime_error&) {  // it is written to
        }
      }
    });
  }
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    try {
      const LockedFolder lock(folder_ / "d");
      ++taken;
    } catch (const std::runtime_error&) {  // counted below
    }
  }
  stop = true;
  for (std::thread& thread : looking) thread.join();
  EXPECT_EQ(taken, 3000);
}

TEST_F(PlannedFiles, a_folder_that_cannot_be_locked_says_why) {
  try {
    const LockedFolder lock(folder_ / "in/below");
    FAIL() << "a file is no folder";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("Not a directory"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace weft::place_test
