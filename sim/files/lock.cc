#include "sim/files/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "sim/files/place.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

int open_folder(const fs::path& folder) {
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

[[noreturn]] void cannot_lock(const fs::path& folder, int error_number) {
  if (error_number == EWOULDBLOCK) {
    throw std::runtime_error(folder.string() + ": another weft is writing its results there");
  }
  const std::error_code code(error_number, std::generic_category());
  throw std::runtime_error(fmt::format("cannot lock {}: {}", folder.string(), code.message()));
}

int lock(int descriptor, int how) {
  int result = -1;
  do {
    result = flock(descriptor, how);
  } while (result != 0 && errno == EINTR);
  return result;
}

// For oneself alone, or not: 0, or why. Whoever looks whether a folder is free has it together with
// others for an instant (expect_unlocked); who writes has it alone.
int lock_now(int descriptor) {
  while (lock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    if (why != EWOULDBLOCK || lock(descriptor, LOCK_SH | LOCK_NB) != 0) return why;
    lock(descriptor, LOCK_UN);  // they only look
    sched_yield();
  }
  return 0;
}

}  // namespace

LockedFolder::LockedFolder(const fs::path& folder, Take take) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) cannot_write(folder, code.value());
  descriptor_ = open_folder(folder);
  if (descriptor_ < 0) cannot_write(folder, errno);
  if (take == Take::when_free) {
    lock(descriptor_, LOCK_EX);
  } else if (const int why = lock_now(descriptor_); why != 0) {
    close(descriptor_);
    cannot_lock(folder, why);
  }
}

LockedFolder::~LockedFolder() { close(descriptor_); }

void expect_unlocked(const fs::path& folder) {
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return;
  const bool taken = lock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  if (taken) cannot_lock(folder, EWOULDBLOCK);
}

}  // namespace weft
