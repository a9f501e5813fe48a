#include "sim/report/write_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "sim/report/csv.h"
#include "sim/report/fields.h"
#include "sim/report/manifest.h"
#include "sim/report/model.h"
#include "sim/report/over_time.h"
#include "sim/report/summary.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::error_code& code) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), code.message()));
}

std::error_code last_error() { return {errno != 0 ? errno : EIO, std::generic_category()}; }

void write_one(const fs::path& path, const std::string& content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail(path, last_error());
}

// Removes what was written but not moved.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    std::error_code ignored;
    for (const auto& [temporary, place] : moves_) fs::remove(temporary, ignored);
  }
  void write(const fs::path& place, const std::string& content) {
    // Two runs may write to one folder: the last one's files stay, whole.
    const fs::path temporary = fmt::format("{}.{}.partial", place.string(), getpid());
    moves_.emplace_back(temporary, place);
    write_one(temporary, content);
  }
  void move_all() {
    for (const auto& [temporary, place] : moves_) {
      std::error_code code;
      fs::rename(temporary, place, code);
      if (code) fail(place, code);
    }
    moves_.clear();
  }

 private:
  std::vector<std::pair<fs::path, fs::path>> moves_;
};

}  // namespace

std::vector<OutputFile> result_files(const RunReport& report) {
  std::vector<OutputFile> files{{file_name(ResultFile::summary), summary_json(report)},
                                {file_name(ResultFile::operators), operators_csv(report)},
                                {file_name(ResultFile::links), links_csv(report)},
                                {file_name(ResultFile::link_classes), link_classes_csv(report)},
                                {file_name(ResultFile::over_time), over_time_csv(report)},
                                {file_name(ResultFile::manifest), manifest_json(report)}};
  if (is_model(report.scenario.workload.kind)) {
    files.push_back({file_name(ResultFile::parts), parts_csv(report)});
    files.push_back({file_name(ResultFile::fusions), fusions_csv(report)});
  }
  return files;
}

void expect_writable(const fs::path& folder) {
  // The nearest part of the path that exists.
  fs::path existing = fs::absolute(folder).lexically_normal();
  while (!fs::exists(existing) && existing.has_relative_path()) existing = existing.parent_path();
  if (!fs::is_directory(existing)) {
    fail(folder, std::make_error_code(std::errc::not_a_directory));
  }
  if (access(existing.c_str(), W_OK | X_OK) != 0) fail(folder, last_error());
}

void write_files(const fs::path& folder, const std::vector<OutputFile>& files) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) fail(folder, code);
  Pending pending;
  for (const OutputFile& file : files) pending.write(folder / file.name, file.content);
  pending.move_all();
}

void write_file(const fs::path& file, std::string content) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  write_files(folder, {{file.filename().string(), std::move(content)}});
}

}  // namespace weft
