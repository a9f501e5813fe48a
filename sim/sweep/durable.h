// Files that survive a crash of the program and of the machine. What fails is an exception with the
// path.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

namespace weft {

// The file is either as it was or all new, whatever happens in between.
void replace_file(const std::filesystem::path& file, const std::string& text);

// The whole file; empty where there is none.
std::string read_file(const std::filesystem::path& file);

// A folder, created if need be, that no other process may have at the same time.
class LockedFolder {
 public:
  explicit LockedFolder(const std::filesystem::path& folder);
  ~LockedFolder();
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

 private:
  int descriptor_;
};

// Lines go to the end of a file. Several threads may append.
class AppendFile {
 public:
  enum class Durable { yes, no };

  AppendFile(const std::filesystem::path& file, Durable durable);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // Durable: they are on the disk when it returns. Who waits meanwhile is written together.
  void append(const std::string& lines);

 private:
  void write(const std::string& text);

  std::filesystem::path file_;
  Durable durable_;
  int descriptor_;
  std::mutex pending_lock_;
  std::string pending_;
  std::mutex writing_;
};

}  // namespace weft
