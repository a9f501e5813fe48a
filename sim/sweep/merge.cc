#include "sim/sweep/merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/files/lock.h"
#include "sim/files/read_text.h"
#include "sim/files/staged.h"
#include "sim/sweep/store.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class Merging {
 public:
  void add(const fs::path& folder) {
    const ReadText sweep = read_text(folder / "sweep.json");
    if (!sweep.text)
      return problem(folder / "sweep.json", sweep.problem + "; not the folder of a sweep");
    std::optional<SweepInfo> info = parse_sweep_json(*sweep.text);
    if (!info) return problem(folder / "sweep.json", "damaged; run its shard again");
    info->shard.clear();
    if (merged_.info.name.empty()) {
      merged_.info = *info;
    }
    info->scenario = merged_.info.scenario;  // it may lie elsewhere on another machine ...
    info->command = merged_.info.command;    // ... and the sweep's file too
    if (*info != merged_.info) {
      return problem(folder, "belongs to another sweep, other axes or another version of weft");
    }
    ReadRows read = read_rows(folder / "results.jsonl", *info);
    if (!read.damaged.empty()) {
      merged_.problems.push_back(places_text(read.damaged) + ": damaged; run its shard again");
    }
    for (Row& row : read.rows) add(folder, std::move(row));
  }

  Merged take() {
    std::size_t missing = merged_.info.points - std::min(merged_.info.points, rows_.size());
    if (missing > 0) {
      std::size_t first = 0;
      while (rows_.contains(first)) ++first;
      merged_.problems.push_back(std::to_string(missing) + " of " +
                                 std::to_string(merged_.info.points) +
                                 " points are missing; the first is row " + std::to_string(first));
    }
    for (auto& [number, row] : rows_) merged_.rows.push_back(std::move(row));
    return std::move(merged_);
  }

 private:
  void problem(const fs::path& folder, const std::string& what) {
    merged_.problems.push_back(folder.string() + ": " + what);
  }

  void add(const fs::path& folder, Row row) {
    if (row.version != merged_.info.version || row.row >= merged_.info.points) {
      return problem(folder, "row " + std::to_string(row.row) + " belongs to another sweep");
    }
    const auto found = rows_.find(row.row);
    if (found == rows_.end()) {
      const std::size_t number = row.row;
      rows_.emplace(number, std::move(row));
    } else if (found->second.point != row.point) {
      problem(folder, "row " + std::to_string(row.row) + " is a different point in another folder");
    } else if (row.outcome.ok) {
      found->second = std::move(row);  // elsewhere it may have failed
    }
  }

  Merged merged_;
  std::map<std::size_t, Row> rows_;
};

}  // namespace

Merged merge_rows(const std::vector<fs::path>& folders) {
  Merging merging;
  for (const fs::path& folder : folders) merging.add(folder);
  return merging.take();
}

void write_merged(const fs::path& folder, const Merged& merged) {
  const LockedFolder lock(folder);
  std::string lines;
  for (const Row& row : merged.rows) lines += line_of(row, merged.info.axes);
  Staged staged(Staged::Durable::yes);
  // Rows without their sweep.json, or beside another one, are none.
  remove_tables(staged, folder);
  staged.remove(folder / "results.jsonl");
  staged.add(folder / "sweep.json", to_json(merged.info));
  staged.add(folder / "results.jsonl", lines);
  add_tables(staged, folder, merged.rows, merged.info.axes);
  staged.commit();
}

}  // namespace weft
