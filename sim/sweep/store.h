// The folder of a sweep: what is finished is there, whatever ends the program.
//
//   results.jsonl   a line a row; while the sweep runs in the order in which they end
//   started.txt     hashes of points that were begun; gone when all are finished
//   earlier.jsonl   lines of points that the sweep has no longer; used again if it has them again
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/files/append_file.h"
#include "sim/files/lock.h"
#include "sim/sweep/row.h"

namespace weft {

// The rows of results.jsonl. A line that was not written to its end, or damaged, is none.
struct ReadRows {
  std::vector<Row> rows;
  std::vector<std::string> damaged;  // "results.jsonl:7"
};
ReadRows read_rows(const std::filesystem::path& file, const SweepInfo& info);

// "results.jsonl:7, results.jsonl:9 and 4 more lines"
std::string places_text(const std::vector<std::string>& damaged);

class Store {
 public:
  // Reads what is there of this version of weft, and writes sweep.json. Tables of what was there
  // before go: they come when the sweep ends.
  Store(const std::filesystem::path& folder, const SweepInfo& info);

  // Null: not finished.
  [[nodiscard]] const PointOutcome* find(const std::string& point) const;
  // How often the program ended while this point was running.
  [[nodiscard]] int endings_during(const std::string& point) const;
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

  // First of all the rows that are finished, in order; lines of others go to earlier.jsonl.
  void keep(const std::vector<Row>& finished);

  // Of several threads:
  void start(const std::string& point) { started_.append(point + "\n"); }
  void add(const std::vector<Row>& rows);  // on the disk when it returns

  // All rows, in order. Nothing is left to be done.
  void finish(const std::vector<Row>& all);

 private:
  using Key = std::pair<std::string, std::string>;  // point and version

  void read(const std::filesystem::path& file);
  void begin();
  [[nodiscard]] std::string lines_without(const std::set<Key>& here) const;
  void write(const std::vector<Row>& rows);

  std::filesystem::path folder_;
  SweepInfo info_;
  LockedFolder lock_;
  std::map<Key, Row> known_;
  std::vector<std::string> damaged_;
  std::map<std::string, int> endings_;
  AppendFile started_;
  std::optional<AppendFile> results_;  // from keep() on
};

}  // namespace weft
