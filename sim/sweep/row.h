// A row of a sweep's results: one line of results.jsonl, one of results.csv.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/sweep/plan.h"

namespace weft {

// What running a point has come to.
struct PointOutcome {
  bool ok = false;
  std::string error;    // one line; empty where ok
  int exit_code = 0;    // as of `weft run`
  std::string summary;  // summary.json on one line; empty where not ok
};

struct Row {
  std::size_t row = 0;  // its place in the sweep
  std::string point;    // hash of the resolved scenario: equal hashes, one run
  std::string version;  // of weft
  std::vector<Cell> cells;
  std::string command;  // gives the same results again
  PointOutcome outcome;
  bool checked = true;  // its line had a checksum; those of wefts before this one had none
};

// What a folder of results belongs to: sweep.json.
struct SweepInfo {
  std::string name;
  std::string scenario;
  std::string version;
  std::string command;  // gives the same results again
  std::vector<AxisColumn> axes;
  std::size_t points = 0;  // rows of the whole sweep
  std::string shard;       // "2/4": the folder holds a part of them; empty: all
  bool checked = true;     // it had a checksum: so must its rows
  bool operator==(const SweepInfo&) const = default;
};

std::string to_json(const SweepInfo& info);
std::optional<SweepInfo> parse_sweep_json(std::string_view text);

// With its end of line.
std::string line_of(const Row& row, const std::vector<AxisColumn>& axes);

// Nothing where it is not a whole line of this program, or not as it was written.
std::optional<Row> parse_row(std::string_view line, const std::vector<AxisColumn>& axes);

// All problems on one line.
std::string one_line(const Diagnostics& problems);

}  // namespace weft
