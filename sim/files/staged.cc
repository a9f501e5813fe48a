#include "sim/files/staged.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <set>

#include "sim/files/checksum.h"
#include "sim/files/descriptor.h"
#include "sim/files/lock.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Whoever reads a pipe may leave: an error like any other, and no signal.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignored, &before_);
  }
  ~NoPipeSignal() { sigaction(SIGPIPE, &before_, nullptr); }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  struct sigaction before_ {};
};

void write_stream(const Place& place, std::string_view content) {
  const NoPipeSignal no_signal;
  if (place.descriptor >= 0) {
    std::fflush(nullptr);  // what was printed before comes first
    return write_all(place.descriptor, content, place.asked);
  }
  const Descriptor opened(open(place.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (opened.number() < 0) cannot_write(place.asked, errno);
  write_all(opened.number(), content, place.asked);
}

// As the file had it that is replaced. Only root may give files away; else it is the user's.
void take_over(const Place& place, int descriptor) {
  if (place.kind != Place::Kind::regular) return;
  struct stat own {};
  const bool same =
      fstat(descriptor, &own) == 0 && own.st_uid == place.user && own.st_gid == place.group;
  if (!same && fchown(descriptor, place.user, place.group) != 0) errno = 0;
  constexpr mode_t kPermissions = 07777;
  if (fchmod(descriptor, place.mode & kPermissions) != 0) cannot_write(place.asked, errno);
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());  // a directory's own order differs between machines
  return files;
}

}  // namespace

Staged::~Staged() {
  std::error_code ignored;
  for (const fs::path& temporary : written_) fs::remove(temporary, ignored);
}

void Staged::add(const fs::path& file, std::string_view content) {
  const Place place = place_of(file);
  if (place.kind == Place::Kind::stream) {
    steps_.push_back({.does = Step::Does::stream, .to = place, .content = std::string(content)});
    return;
  }
  const fs::path folder = folder_of(place.file);
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) cannot_write(folder_of(file), code.value());
  stage(place, content);
}

void Staged::remove(const fs::path& file) {
  if (!fs::is_regular_file(fs::symlink_status(file))) return;
  steps_.push_back({.does = Step::Does::remove, .to = {.asked = file, .file = file}});
}

void Staged::stage(const Place& place, std::string_view content) {
  const std::string name = place.file.filename().string();
  sweep_up(folder_of(place.file), [&name](const std::string& other) { return other == name; });
  const fs::path temporary = partial_name(place.file, number_++);
  constexpr mode_t kNew = 0666;
  constexpr mode_t kReadWrite = 0777;
  const mode_t mode = place.kind == Place::Kind::regular ? place.mode & kReadWrite : kNew;
  const Descriptor opened(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (opened.number() < 0) cannot_write(place.asked, errno);
  written_.push_back(temporary);
  write_all(opened.number(), content, place.asked);
  take_over(place, opened.number());
  if (durable_ == Durable::yes && fsync(opened.number()) != 0) cannot_write(place.asked, errno);
  steps_.push_back({.does = Step::Does::move,
                    .to = place,
                    .from = temporary,
                    .content = "",
                    .hash = checksum_of(content)});
}

void Staged::sweep_up(const fs::path& folder, const Owns& owns) {
  const auto [found, first] = dead_.try_emplace(folder);
  if (first) found->second = dead_partials(folder);
  std::error_code ignored;
  for (const DeadPartial& dead : found->second) {
    if (owns(dead.name)) fs::remove(dead.file, ignored);
  }
}

void Staged::add_manifest(const fs::path& manifest, const Owns& owns) {
  const fs::path folder = folder_of(manifest);
  sweep_up(folder, owns);
  FileHashes hashes;
  std::set<std::string> taken{manifest.filename().string()};
  bool over_others = false;
  for (const Step& step : steps_) {
    if (folder_of(step.to.asked) != folder) continue;
    taken.insert(step.to.asked.filename().string());
    if (step.does != Step::Does::move) continue;
    hashes[step.to.asked.filename().string()] = step.hash;
    over_others = over_others || step.to.kind == Place::Kind::regular;
  }
  // They go first: beside a whole result there is nothing of an earlier one.
  const auto staged = static_cast<std::ptrdiff_t>(steps_.size());
  for (const fs::path& file : files_in(folder)) {
    const std::string name = file.filename().string();
    if (taken.contains(name) || !owns(name)) continue;
    remove(file);
    over_others = true;
  }
  std::rotate(steps_.begin(), steps_.begin() + staged, steps_.end());
  const Place place = place_of(manifest);
  const std::string text = to_json(hashes);
  add(manifest, text);
  // Files that no manifest tells apart from the new ones must not be taken for them half-way.
  if (over_others && place.kind == Place::Kind::fresh) {
    stage(place, text);
    std::rotate(steps_.begin(), steps_.end() - 1, steps_.end());
  }
  results_.push_back(folder);
}

void Staged::take(const Step& step) {
  if (step.does == Step::Does::move && std::rename(step.from.c_str(), step.to.file.c_str()) != 0) {
    cannot_write(step.to.asked, errno);
  }
  if (step.does == Step::Does::remove && unlink(step.to.file.c_str()) != 0 && errno != ENOENT) {
    cannot_write(step.to.asked, errno);
  }
}

void Staged::commit() {
  for (const Step& step : steps_) {
    if (step.does == Step::Does::stream) write_stream(step.to, step.content);
  }
  // Two results at once would be a mix of both.
  std::vector<std::unique_ptr<LockedFolder>> locks;
  locks.reserve(results_.size());
  std::sort(results_.begin(), results_.end());
  for (const fs::path& folder : results_) {
    locks.push_back(std::make_unique<LockedFolder>(folder, LockedFolder::Take::when_free));
  }
  std::set<fs::path> folders;
  for (const Step& step : steps_) {
    if (step.does == Step::Does::stream) continue;
    take(step);
    std::erase(written_, step.from);
    folders.insert(folder_of(step.to.file));
  }
  for (const fs::path& folder : folders) {
    if (durable_ == Durable::yes) sync_folder(folder);
  }
  steps_.clear();
}

void write_file(const fs::path& file, std::string_view content, Staged::Durable durable) {
  Staged staged(durable);
  staged.add(file, content);
  staged.commit();
}

void remove_file(const fs::path& file) {
  Staged staged;
  staged.remove(file);
  staged.commit();
}

void replace_file(const fs::path& file, std::string_view content) {
  write_file(file, content, Staged::Durable::yes);
}

}  // namespace weft
