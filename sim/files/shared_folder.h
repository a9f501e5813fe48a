// A folder of small files that many processes read and write at once, without locks: a file is
// written beside its place and moved there as a whole, so a reader finds all of it or none. What is
// in it can be made again, so nothing waits for the disk, and whatever reads a file has to know by
// its contents that it is whole (a failure of power may leave it empty).
//
// Bounded in bytes: the oldest give way. Whoever writes looks at all of the folder's files now and
// then, the more bytes the more often: once in 1/64 of the bound in the mean, whichever processes
// write them. More than the bound is cut down to 3/4 of it. So it is exceeded only if a fourth of
// it is written without a look: once in e^16 times, and until the next one.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/quantity.h"

namespace weft {

class SharedFolder {
 public:
  // Made when something is written. A file's name is 32 hexadecimal digits, and this ending; what
  // has other names is left alone.
  SharedFolder(std::filesystem::path folder, std::string ending, Bytes most);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  // Nothing where there is none, or it cannot be read.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  // From any thread. What is larger than a fourth of the bound is left out. What fails is an
  // exception.
  void write(const std::string& name, std::string_view content);
  // Its files, and the folder if it is empty then. What fails stays.
  static void remove(const std::filesystem::path& folder, std::string_view ending);

 private:
  void put_in_place(const std::filesystem::path& file, std::string_view content);
  void make_room() const;

  std::filesystem::path folder_;
  std::string ending_;
  std::int64_t most_;
  std::atomic<int> number_ = 0;
};

}  // namespace weft
