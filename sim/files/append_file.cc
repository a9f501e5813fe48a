#include "sim/files/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sim/files/descriptor.h"
#include "sim/files/place.h"

namespace weft {

AppendFile::AppendFile(const std::filesystem::path& file, Durable durable)
    : file_(file),
      durable_(durable),
      descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) cannot_write(file, errno);
  if (durable == Durable::yes) sync_folder(file.has_parent_path() ? file.parent_path() : ".");
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
  if (durable_ == Durable::yes && fdatasync(descriptor_) != 0) cannot_write(file_, errno);
}

}  // namespace weft
