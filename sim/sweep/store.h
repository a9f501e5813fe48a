// The folder of a sweep. Finished points are in it, however the program ends.
//
//   results.jsonl   one line per row; while the sweep runs, in the order in which they end
//   started.txt     hashes of points that were started; removed when all are finished
//   earlier.jsonl   lines of points that the sweep no longer has; reused if it has them again
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

// The rows of results.jsonl, without the lines that are incomplete or damaged.
struct ReadRows {
  std::vector<Row> rows;
  std::vector<std::string> damaged;  // "results.jsonl:7"
};
ReadRows read_rows(const std::filesystem::path& file, const SweepInfo& info);

// "results.jsonl:7, results.jsonl:9 and 4 more lines"
std::string places_text(const std::vector<std::string>& damaged);

class Store {
 public:
  // Reads existing rows (those of this version of weft count) and writes sweep.json. Removes
  // existing tables: new ones are written when the sweep ends.
  Store(const std::filesystem::path& folder, const SweepInfo& info);

  // Null: not finished.
  [[nodiscard]] const PointOutcome* find(const std::string& point) const;
  // How often the program ended while this point was running.
  [[nodiscard]] int endings_during(const std::string& point) const;
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

  // Called first, with all finished rows in order; lines of other points go to earlier.jsonl.
  void keep(const std::vector<Row>& finished);

  // From several threads:
  void start(const std::string& point) { started_.append(point + "\n"); }
  void add(const std::vector<Row>& rows);  // on the disk when it returns

  // Writes all rows, in order. Nothing is left to run.
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
