// How files come to their places.
#include "sim/files/staged.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "sim/files/partial.h"
#include "sim/files/read_text.h"

namespace weft::staged_test {
namespace {

namespace fs = std::filesystem;

class StagedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path in(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(in(name)) << text;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return read_own(in(name)); }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  [[nodiscard]] static mode_t mode(const fs::path& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode : 0;
  }
  [[nodiscard]] static std::string why(const std::function<void()>& writes) {
    try {
      writes();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ =
      fs::temp_directory_path() / ("weft_staged_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

const Staged::Owns kNone = [](const std::string&) { return false; };

TEST_F(StagedFiles, are_all_there_or_none) {
  put("a", "old");
  EXPECT_NE(why([&] {
              Staged staged;
              staged.add(in("a"), "new");
              staged.add(in("a/below"), "2");
            }),
            "");
  EXPECT_EQ(text("a"), "old");
  EXPECT_EQ(names(), (std::set<std::string>{"a"}));
}

TEST_F(StagedFiles, make_the_folders_that_lack) {
  write_file(in("deep/er/a"), "1");
  EXPECT_EQ(text("deep/er/a"), "1");
}

TEST_F(StagedFiles, keep_the_mode_of_what_they_replace) {
  put("a", "old");
  fs::permissions(in("a"), fs::perms::owner_read | fs::perms::owner_write);
  write_file(in("a"), "new");
  EXPECT_EQ(text("a"), "new");
  EXPECT_EQ(mode(in("a")) & 07777U, 0600U);
}

TEST_F(StagedFiles, follow_links_that_stay_links) {
  fs::create_directories(in("elsewhere"));
  put("elsewhere/a", "old");
  fs::create_symlink("elsewhere/a", in("link"));
  fs::create_symlink("link", in("link_to_link"));
  fs::create_symlink("elsewhere/fresh", in("dangling"));
  write_file(in("link_to_link"), "new");
  write_file(in("dangling"), "made");
  EXPECT_EQ(text("elsewhere/a"), "new");
  EXPECT_EQ(text("elsewhere/fresh"), "made");
  for (const char* name : {"link", "link_to_link", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(in(name))) << name;
  }
  fs::create_symlink("circle", in("circle"));
  EXPECT_NE(why([&] { write_file(in("circle"), ""); }).find("Too many levels"), std::string::npos);
}

// Nodes of the test's own: /dev/null itself is the machine's.
TEST_F(StagedFiles, write_through_a_device) {
  if (mknod(in("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "only root makes device nodes";
  }
  ASSERT_EQ(mknod(in("full").c_str(), S_IFCHR | 0666, makedev(1, 7)), 0);
  write_file(in("null"), "gone");
  EXPECT_TRUE(S_ISCHR(mode(in("null"))));
  put("a", "old");
  EXPECT_EQ(why([&] {
              Staged staged;
              staged.add(in("a"), "new");
              staged.add(in("full"), "too much");
              staged.commit();
            }),
            "cannot write " + in("full").string() + ": No space left on device");
  EXPECT_TRUE(S_ISCHR(mode(in("full"))));
  EXPECT_EQ(text("a"), "old") << "what fails changes nothing";
  EXPECT_EQ(names(), (std::set<std::string>{"a", "full", "null"}));
}

TEST_F(StagedFiles, write_through_a_pipe_and_say_when_its_reader_has_left) {
  ASSERT_EQ(mkfifo(in("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    std::ostringstream all;
    all << std::ifstream(in("pipe")).rdbuf();
    got = all.str();
  });
  write_file(in("pipe"), "a message");
  reader.join();
  EXPECT_EQ(got, "a message");
  EXPECT_TRUE(S_ISFIFO(mode(in("pipe"))));

  std::thread leaver([&] { std::ifstream(in("pipe")).get(); });
  const std::string large(1U << 20U, 'x');
  EXPECT_NE(why([&] { write_file(in("pipe"), large); }).find("Broken pipe"), std::string::npos);
  leaver.join();
}

// As a shell's `>file` with --json /dev/stdout: the file is not replaced behind its descriptor.
TEST_F(StagedFiles, write_to_an_open_descriptor_where_it_stands) {
  const int descriptor = open(in("out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(write(descriptor, "before, ", 8), 8);
  write_file("/dev/fd/" + std::to_string(descriptor), "between");
  EXPECT_EQ(write(descriptor, ", after", 7), 7);
  close(descriptor);
  EXPECT_EQ(text("out"), "before, between, after");
}

TEST_F(StagedFiles, of_dead_processes_are_swept_up) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string dead = std::to_string(child);
  put("a." + dead + ".partial", "of an older weft");
  put("a.1.partial", "of init, which lives");
  put("b." + dead + ".partial", "of another file");
  std::string own = partial_name(in("a"), 0).string();
  own.replace(own.rfind("." + std::to_string(getpid())), std::string::npos,
              "." + dead + ".partial");
  std::ofstream(own) << "of this machine";
  std::string foreign = own;
  const std::size_t host = in("a").string().size() + 1;
  foreign[host] = foreign[host] == '0' ? '1' : '0';
  std::ofstream(foreign) << "of another machine";
  write_file(in("a"), "1");
  EXPECT_EQ(names(), (std::set<std::string>{"a", "a.1.partial", "b." + dead + ".partial",
                                            fs::path(foreign).filename().string()}));
}

TEST_F(StagedFiles, of_an_earlier_result_go_and_others_stay) {
  put("mine.txt", "the user's");
  put("old.csv", "of an earlier result");
  const auto is_result = [](const std::string& name) { return name.ends_with(".csv"); };
  Staged staged;
  staged.add(in("a.csv"), "1");
  staged.add_manifest(in(kFilesOfResult), is_result);
  staged.commit();
  EXPECT_EQ(names(), (std::set<std::string>{"a.csv", "files.json", "mine.txt"}));
  const FileSet files(in(kFilesOfResult));
  EXPECT_TRUE(files.known());
  EXPECT_EQ(files.problem_of("a.csv", "1"), "");
  EXPECT_NE(files.problem_of("a.csv", "2"), "");
  EXPECT_NE(files.problem_of("b.csv", "1"), "");
}

// Two names that differ in a byte that is no UTF-8, as a user's disk may have them.
TEST_F(StagedFiles, whose_names_are_not_utf8_are_listed_each_by_itself) {
  Staged staged;
  staged.add(in("a\xff.csv"), "1");
  staged.add(in("a\xfe.csv"), "2");
  staged.add_manifest(in(kFilesOfResult), [](const std::string&) { return false; });
  staged.commit();
  const FileSet files(in(kFilesOfResult));
  EXPECT_EQ(files.problem(), "");
  EXPECT_TRUE(files.lists("a\xff.csv"));
  EXPECT_FALSE(files.lists("a\xfd.csv"));
  EXPECT_EQ(files.problem_of("a\xff.csv", "1"), "");
  EXPECT_EQ(files.problem_of("a\xfe.csv", "2"), "");
  EXPECT_NE(files.problem_of("a\xfe.csv", "1"), "");
}

TEST_F(StagedFiles, that_a_manifest_lists_are_checked_and_without_one_all_are_taken) {
  EXPECT_EQ(FileSet(in("none.json")).problem_of("a", "1"), "");
  for (const char* damaged : {"", "{", "[]", "{\"files\":1}", "{\"files\":{\"a\":1}}", "1e999"}) {
    put("files.json", damaged);
    EXPECT_NE(FileSet(in("files.json")).problem(), "") << damaged;
  }
}

}  // namespace
}  // namespace weft::staged_test
