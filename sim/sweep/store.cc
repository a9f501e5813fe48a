#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "sim/files/read_text.h"
#include "sim/files/staged.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "results.jsonl";
constexpr const char* kEarlier = "earlier.jsonl";
constexpr const char* kStarted = "started.txt";
constexpr const char* kSweep = "sweep.json";

}  // namespace

ReadRows read_rows(const fs::path& file, const SweepInfo& info) {
  ReadRows read;
  const std::string text = read_own(file);
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::optional<Row> row;
    if (end != std::string::npos) {
      row = parse_row(std::string_view(text).substr(at, end - at), info.axes);
    }
    ++line;
    // Only wefts before this one wrote lines without a checksum.
    if (row && (row->checked || !info.checked || row->version != info.version)) {
      read.rows.push_back(*std::move(row));
    } else {
      read.damaged.push_back(fmt::format("{}:{}", file.string(), line));
    }
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return read;
}

std::string places_text(const std::vector<std::string>& damaged) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(damaged.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + damaged[i];
  }
  if (damaged.size() > kShown) text += fmt::format(" and {} more lines", damaged.size() - kShown);
  return text;
}

Store::Store(const fs::path& folder, const SweepInfo& info)
    : folder_(folder),
      info_(info),
      lock_(folder),
      started_(folder / kStarted, AppendFile::Durable::no) {
  read(folder_ / kEarlier);
  read(folder_ / kResults);
  begin();
  std::istringstream started(read_own(folder_ / kStarted));
  for (std::string point; std::getline(started, point);) {
    if (find(point) == nullptr) ++endings_[point];
  }
}

void Store::read(const fs::path& file) {
  ReadRows read = read_rows(file, info_);
  damaged_.insert(damaged_.end(), read.damaged.begin(), read.damaged.end());
  for (Row& row : read.rows) {
    Key key{row.point, row.version};
    known_.insert_or_assign(std::move(key), std::move(row));
  }
}

// sweep.json and the rows beside it are of one sweep, whenever the program ends: where the sweep
// has changed, its rows wait in earlier.jsonl until keep() has written them as its own.
void Store::begin() {
  const std::string text = to_json(info_);
  if (read_own(folder_ / kSweep) != text) {
    const std::string earlier = lines_without({});
    if (!earlier.empty()) replace_file(folder_ / kEarlier, earlier);
    remove_file(folder_ / kResults);
  }
  Staged old;
  remove_tables(old, folder_);
  old.commit();
  replace_file(folder_ / kSweep, text);
}

std::string Store::lines_without(const std::set<Key>& here) const {
  std::string lines;
  for (const auto& [key, row] : known_) {
    if (row.outcome.ok && !here.contains(key)) lines += line_of(row, info_.axes);
  }
  return lines;
}

const PointOutcome* Store::find(const std::string& point) const {
  const auto found = known_.find({point, info_.version});
  return found == known_.end() ? nullptr : &found->second.outcome;
}

int Store::endings_during(const std::string& point) const {
  const auto found = endings_.find(point);
  return found == endings_.end() ? 0 : found->second;
}

void Store::keep(const std::vector<Row>& finished) {
  std::set<Key> here;
  for (const Row& row : finished) here.insert({row.point, row.version});
  const std::string earlier = lines_without(here);
  if (!earlier.empty() || fs::exists(folder_ / kEarlier)) {
    replace_file(folder_ / kEarlier, earlier);
  }
  write(finished);
  results_.emplace(folder_ / kResults, AppendFile::Durable::yes);
}

void Store::add(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += line_of(row, info_.axes);
  results_->append(lines);
}

void Store::finish(const std::vector<Row>& all) {
  write(all);
  std::error_code ignored;
  fs::remove(folder_ / kStarted, ignored);
}

void Store::write(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += line_of(row, info_.axes);
  replace_file(folder_ / kResults, text);
}

}  // namespace weft
