#include "sim/files/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sim/files/place.h"

namespace weft {

namespace fs = std::filesystem;

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

void write_all(int descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0 || fsync(opened.number()) != 0) cannot_write(folder, errno);
}

}  // namespace weft
