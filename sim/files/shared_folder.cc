#include "sim/files/shared_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/core/fingerprint.h"
#include "sim/core/round_up.h"
#include "sim/files/descriptor.h"
#include "sim/files/partial.h"
#include "sim/files/place.h"
#include "sim/files/read_text.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// As a file takes them on most disks.
std::int64_t on_disk(std::int64_t bytes) {
  constexpr std::int64_t kBlock = 4096;
  return round_up(bytes, kBlock) * kBlock;
}

// "0123..ef.run", or what is to become one: "0123..ef.run.HOST-0.1234.partial".
bool is_shared(std::string_view name, std::string_view ending) {
  constexpr std::size_t kDigits = 32;
  if (name.size() < kDigits + ending.size()) return false;
  const std::string_view digits = name.substr(0, kDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  const std::string_view rest = name.substr(kDigits);
  return rest == ending || (rest.starts_with(ending) && rest.ends_with(".partial"));
}

struct SharedFile {
  fs::file_time_type written;
  fs::path file;
  std::int64_t bytes = 0;
  auto operator<=>(const SharedFile&) const = default;
};

// Others may remove any of them at any time.
std::vector<SharedFile> shared_files(const fs::path& folder, std::string_view ending) {
  std::vector<SharedFile> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (!is_shared(it->path().filename().string(), ending)) continue;
    std::error_code gone;
    const fs::file_time_type written = it->last_write_time(gone);
    const std::uintmax_t bytes = gone ? 0 : it->file_size(gone);
    if (gone) continue;
    files.push_back({written, it->path(), on_disk(static_cast<std::int64_t>(bytes))});
  }
  return files;
}

// A file with this name that is no longer needed once it has moved.
class Partial {
 public:
  explicit Partial(fs::path file) : file_(std::move(file)) {}
  ~Partial() {
    if (!file_.empty()) unlink(file_.c_str());
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  void move_to(const fs::path& place) {
    if (std::rename(file_.c_str(), place.c_str()) != 0) {
      if (errno == ENOENT) return;  // it had to give way
      cannot_write(place, errno);
    }
    file_.clear();
  }

 private:
  fs::path file_;
};

}  // namespace

SharedFolder::SharedFolder(fs::path folder, std::string ending, Bytes most)
    : folder_(std::move(folder)), ending_(std::move(ending)), most_(most.count()) {}

std::optional<std::string> SharedFolder::read(const std::string& name) const {
  return read_text(folder_ / (name + ending_)).text;
}

void SharedFolder::write(const std::string& name, std::string_view content) {
  const std::int64_t bytes = on_disk(static_cast<std::int64_t>(content.size()));
  if (bytes > most_ / 4) return;
  put_in_place(folder_ / (name + ending_), content);
  // By its name: as good as by chance, and the same in each process.
  constexpr std::int64_t kLooks = 64;
  const auto between = static_cast<std::uint64_t>(std::max<std::int64_t>(most_ / kLooks, 1));
  if (mix64(fnv1a(name)) % between < static_cast<std::uint64_t>(bytes)) make_room();
}

void SharedFolder::put_in_place(const fs::path& file, std::string_view content) {
  constexpr mode_t kNew = 0666;
  constexpr int kHow = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  const fs::path name = partial_name(file, number_++);
  int descriptor = open(name.c_str(), kHow, kNew);
  if (descriptor < 0 && errno == ENOENT) {
    std::error_code code;
    fs::create_directories(folder_, code);
    if (code) cannot_write(folder_, code.value());
    descriptor = open(name.c_str(), kHow, kNew);
  }
  if (descriptor < 0) cannot_write(file, errno);
  Partial partial(name);
  {
    const Descriptor opened(descriptor);
    write_all(descriptor, content, file);
  }
  partial.move_to(file);
}

void SharedFolder::make_room() const {
  std::vector<SharedFile> files = shared_files(folder_, ending_);
  std::int64_t all = 0;
  for (const SharedFile& one : files) all += one.bytes;
  if (all <= most_) return;
  std::sort(files.begin(), files.end());
  const std::int64_t left = most_ / 4 * 3;
  for (const SharedFile& oldest : files) {
    if (all <= left) return;
    unlink(oldest.file.c_str());
    all -= oldest.bytes;
  }
}

void SharedFolder::remove(const fs::path& folder, std::string_view ending) {
  for (const SharedFile& one : shared_files(folder, ending)) unlink(one.file.c_str());
  rmdir(folder.c_str());
}

}  // namespace weft
