// A folder for each test of a program, empty at first and gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace weft {

class InOwnFolder : public ::testing::Test {
 protected:
  InOwnFolder() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~InOwnFolder() override { std::filesystem::remove_all(folder_); }
  InOwnFolder(const InOwnFolder&) = delete;
  InOwnFolder& operator=(const InOwnFolder&) = delete;
  InOwnFolder(InOwnFolder&&) = delete;
  InOwnFolder& operator=(InOwnFolder&&) = delete;

  std::filesystem::path folder_ = [] {
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::temp_directory_path() / ("weft_" + std::to_string(::getpid()) + "_" +
                                                     test.test_suite_name() + "_" + test.name());
  }();
};

}  // namespace weft
