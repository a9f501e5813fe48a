#include "sim/files/place.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

#include "sim/files/lock.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// /dev/stdout and /dev/fd/3 are links to this folder. What the descriptor is open on must be
// written where the descriptor stands, and not replaced by its name.
std::optional<int> own_descriptor(const fs::path& link) {
  std::error_code code;
  if (fs::canonical(folder_of(link), code) != fmt::format("/proc/{}/fd", getpid())) {
    return std::nullopt;
  }
  const std::string name = link.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number)
                                                                  : std::nullopt;
}

std::string identity_of(const struct stat& info) {
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

fs::path full(const fs::path& path) {
  std::error_code code;
  fs::path known = fs::weakly_canonical(fs::absolute(path, code), code);
  return code ? fs::absolute(path).lexically_normal() : known.lexically_normal();
}

// The nearest part of the path that exists must be a folder where files can be made.
void expect_folder(const fs::path& folder, const fs::path& asked) {
  fs::path existing = fs::absolute(folder).lexically_normal();
  struct stat info {};
  while (stat(existing.c_str(), &info) != 0) {
    if (errno != ENOENT || !existing.has_relative_path()) cannot_write(asked, errno);
    existing = existing.parent_path();
  }
  if (!S_ISDIR(info.st_mode)) cannot_write(asked, ENOTDIR);
  if (access(existing.c_str(), W_OK | X_OK) != 0) cannot_write(asked, errno);
}

void expect_writable(const Place& place) {
  if (place.descriptor >= 0) return;
  if (place.kind != Place::Kind::fresh && access(place.file.c_str(), W_OK) != 0) {
    cannot_write(place.asked, errno);
  }
  if (place.kind != Place::Kind::stream) expect_folder(folder_of(place.file), place.asked);
}

class Clashes {
 public:
  void read(const fs::path& file) {
    struct stat info {};
    if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    reads_.emplace(identity_of(info), file);
  }

  void write(const std::string& option, const Place& place) {
    if (place.identity.empty()) return;
    const auto read = reads_.find(place.identity);
    if (read != reads_.end()) {
      const bool same = read->second == place.asked;
      add(place.asked,
          fmt::format("{} would overwrite it, but it is an input{}; choose another output", option,
                      same ? "" : " as " + read->second.string()));
    }
    const auto [other, fresh] = writes_.try_emplace(place.identity, option, place.asked);
    if (!fresh) {
      const auto& [first, path] = other->second;
      const bool same = path == place.asked;
      add(place.asked, fmt::format("{} and {} would both write it{}; give each its own file", first,
                                   option, same ? "" : ", one of them as " + path.string()));
    }
    files_.emplace(full(place.file), option);
  }

  // A file cannot be a folder of others too.
  void below(const std::string& option, const fs::path& folder) {
    fs::path above = full(folder);
    for (; above.has_relative_path(); above = above.parent_path()) {
      const auto found = files_.find(above);
      if (found == files_.end()) continue;
      const std::string& other = found->second;
      return add(above,
                 fmt::format("{} needs it as a file, and {} as a folder; choose another output",
                             other, option));
    }
  }

  Diagnostics take() { return std::move(problems_); }

 private:
  void add(const fs::path& file, std::string message) {
    problems_.add({.at = {.file = file.string()},
                   .path = "",
                   .message = std::move(message),
                   .source_line = ""});
  }

  std::map<std::string, fs::path> reads_;
  std::map<std::string, std::pair<std::string, fs::path>> writes_;
  std::map<fs::path, std::string> files_;
  Diagnostics problems_;
};

}  // namespace

void cannot_write(const fs::path& path, int error_number) {
  const std::error_code code(error_number, std::generic_category());
  throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), code.message()));
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Place place_of(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  Place place{.asked = path, .file = path, .identity = ""};
  if (!path.has_filename()) cannot_write(path, EISDIR);
  for (int links = 0;; ++links) {
    struct stat info {};
    if (lstat(place.file.c_str(), &info) != 0) {
      if (errno != ENOENT) cannot_write(path, errno);
      place.identity = full(place.file).string();
      return place;
    }
    if (!S_ISLNK(info.st_mode)) {
      if (S_ISDIR(info.st_mode)) cannot_write(path, EISDIR);
      place.kind = S_ISREG(info.st_mode) ? Place::Kind::regular : Place::Kind::stream;
      place.mode = info.st_mode;
      place.user = info.st_uid;
      place.group = info.st_gid;
      if (place.kind == Place::Kind::regular) place.identity = identity_of(info);
      return place;
    }
    if (links == kMostLinks) cannot_write(path, ELOOP);
    if (const auto descriptor = own_descriptor(place.file)) {
      place.kind = Place::Kind::stream;
      place.descriptor = *descriptor;
      return place;
    }
    const fs::path target = fs::read_symlink(place.file);
    place.file = target.is_absolute() ? target : folder_of(place.file) / target;
  }
}

void Planned::write(const std::string& option, const fs::path& file) {
  writes.push_back({.option = option, .file = file});
}

void Planned::write(const std::string& option, const fs::path& folder,
                    const std::vector<std::string>& names) {
  folders.push_back(folder);
  for (const std::string& name : names) write(option, folder / name);
}

Diagnostics check(const Planned& planned) {
  for (const fs::path& folder : planned.folders) {
    expect_folder(folder, folder);
    expect_unlocked(folder);
  }
  std::vector<Place> places;
  places.reserve(planned.writes.size());
  Clashes clashes;
  for (const fs::path& file : planned.reads) clashes.read(file);
  for (const PlannedOutput& output : planned.writes) {
    places.push_back(place_of(output.file));
    clashes.write(output.option, places.back());
  }
  std::set<std::pair<std::string, fs::path>> folders;
  for (const auto& [option, file] : planned.writes) folders.emplace(option, folder_of(file));
  for (const auto& [option, folder] : folders) clashes.below(option, folder);
  Diagnostics problems = clashes.take();
  if (problems.has_errors()) return problems;
  for (const Place& place : places) expect_writable(place);
  return problems;
}

}  // namespace weft
