#include "sim/files/read_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace weft {
namespace {

namespace fs = std::filesystem;

ReadText failed(int number) {
  const std::error_code code(number, std::generic_category());
  return {.text = std::nullopt, .problem = words_of(code), .code = code};
}

ReadText read_open(int descriptor, std::size_t at_most) {
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  while (text.size() < at_most) {
    const std::size_t most = std::min(buffer.size(), at_most - text.size());
    const ssize_t got = read(descriptor, buffer.data(), most);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return {.text = std::move(text), .problem = "", .code = {}};
}

}  // namespace

std::string words_of(const std::error_code& code) {
  return code == std::errc::no_such_file_or_directory ? "no such file" : code.message();
}

ReadText read_text(const fs::path& file, std::size_t at_most) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return failed(errno);
  if (S_ISDIR(info.st_mode)) return {.text = std::nullopt, .problem = "is a folder", .code = {}};
  if (!S_ISREG(info.st_mode)) {
    return {.text = std::nullopt, .problem = "not a regular file", .code = {}};
  }
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed(errno);
  ReadText read = read_open(descriptor, at_most);
  close(descriptor);
  return read;
}

ReadText read_standard_input(std::size_t at_most) { return read_open(STDIN_FILENO, at_most); }

std::string read_own(const fs::path& file) {
  ReadText read = read_text(file);
  if (read.text) return *std::move(read.text);
  if (read.code == std::errc::no_such_file_or_directory) return "";
  throw std::runtime_error(fmt::format("cannot read {}: {}", file.string(), read.problem));
}

}  // namespace weft
