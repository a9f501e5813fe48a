// Lines that survive a crash of the program and of the machine.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

namespace weft {

// Lines go to the end of a file. Several threads may append. What fails is an exception.
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
