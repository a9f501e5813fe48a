#include "sim/sweep/durable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace weft {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path) {
  const std::error_code code(errno, std::generic_category());
  throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), code.message()));
}

// Closed when it goes.
class File {
 public:
  File(const fs::path& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path);
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void write_all(int descriptor, const std::string& text, const fs::path& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path);
    done += static_cast<std::size_t>(written);
  }
}

// A name is on the disk once its folder is.
void sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const File opened(folder, O_RDONLY | O_DIRECTORY);
  if (fsync(opened.descriptor()) != 0) fail(folder);
}

}  // namespace

void replace_file(const fs::path& file, const std::string& text) {
  const fs::path temporary = fmt::format("{}.{}.partial", file.string(), getpid());
  {
    const File opened(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(opened.descriptor(), text, temporary);
    if (fsync(opened.descriptor()) != 0) fail(temporary);
  }
  if (std::rename(temporary.c_str(), file.c_str()) != 0) fail(file);
  sync_folder(file);
}

std::string read_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

LockedFolder::LockedFolder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail(folder);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  close(descriptor_);
  throw std::runtime_error(folder.string() + ": another weft is writing its results there");
}

LockedFolder::~LockedFolder() { close(descriptor_); }

AppendFile::AppendFile(const fs::path& file, Durable durable)
    : file_(file),
      durable_(durable),
      descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail(file);
  if (durable == Durable::yes) sync_folder(file);
}

AppendFile::~AppendFile() { close(descriptor_); }

void AppendFile::append(const std::string& lines) {
  {
    const std::lock_guard lock(pending_lock_);
    pending_ += lines;
  }
  // Whoever comes first writes for all that wait here; they find nothing left.
  const std::lock_guard lock(writing_);
  std::string text;
  {
    const std::lock_guard taking(pending_lock_);
    text = std::exchange(pending_, std::string());
  }
  if (!text.empty()) write(text);
}

void AppendFile::write(const std::string& text) {
  write_all(descriptor_, text, file_);
  if (durable_ == Durable::yes && fdatasync(descriptor_) != 0) fail(file_);
}

}  // namespace weft
