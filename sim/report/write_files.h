// The one place where reports become files. What cannot be written is an exception with the path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/report/run_report.h"

namespace weft {

struct OutputFile {
  std::string name;
  std::string content;
};

// All result files of a run.
std::vector<OutputFile> result_files(const RunReport& report);

// Throws where write_files() to this folder is bound to fail: before a long run, not after it.
void expect_writable(const std::filesystem::path& folder);

// Creates the folder. Every file is written beside its place and moved there once all are complete,
// so that a failure leaves no half of a file.
void write_files(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

// The same of one file, by its path.
void write_file(const std::filesystem::path& file, std::string content);

}  // namespace weft
