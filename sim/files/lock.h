// Folders that one process at a time writes results to.
#pragma once

#include <filesystem>

namespace weft {

// A folder, created if need be, that no other process may have at the same time.
class LockedFolder {
 public:
  // at_once: throws if another process has it. when_free: waits for it, and does without
  // a lock where the file system has none.
  enum class Take { at_once, when_free };

  explicit LockedFolder(const std::filesystem::path& folder, Take take = Take::at_once);
  ~LockedFolder();
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

 private:
  int descriptor_;
};

// Throws if another process has the folder now.
void expect_unlocked(const std::filesystem::path& folder);

}  // namespace weft
