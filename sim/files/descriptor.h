// What system calls leave to their callers.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft {

// Closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// To the last byte; what fails is an exception with `path`.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

// The names in it are on the disk: a file is there after a failure of power once its name is.
void sync_folder(const std::filesystem::path& folder);

}  // namespace weft
