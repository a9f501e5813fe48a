#include "sim/sweep/store.h"

#include <set>
#include <sstream>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "results.jsonl";
constexpr const char* kEarlier = "earlier.jsonl";
constexpr const char* kStarted = "started.txt";

}  // namespace

ReadRows read_rows(const fs::path& file, const std::vector<AxisColumn>& axes) {
  ReadRows read;
  const std::string text = read_file(file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::optional<Row> row;
    if (end != std::string::npos) {
      row = parse_row(std::string_view(text).substr(at, end - at), axes);
    }
    if (row) {
      read.rows.push_back(*std::move(row));
    } else {
      ++read.damaged;
    }
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return read;
}

Store::Store(const fs::path& folder, const SweepInfo& info)
    : folder_(folder),
      info_(info),
      lock_(folder),
      started_(folder / kStarted, AppendFile::Durable::no) {
  replace_file(folder_ / "sweep.json", to_json(info_));
  read(folder_ / kEarlier);
  read(folder_ / kResults);
  std::istringstream started(read_file(folder_ / kStarted));
  for (std::string point; std::getline(started, point);) {
    if (find(point) == nullptr) ++endings_[point];
  }
}

void Store::read(const fs::path& file) {
  ReadRows read = read_rows(file, info_.axes);
  damaged_ += read.damaged;
  for (Row& row : read.rows) {
    Key key{row.point, row.version};
    known_.insert_or_assign(std::move(key), std::move(row));
  }
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
  std::string earlier;
  for (const auto& [key, row] : known_) {
    if (row.outcome.ok && !here.contains(key)) earlier += line_of(row, info_.axes);
  }
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
