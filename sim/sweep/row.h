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

// The outcome of running a point.
struct PointOutcome {
  bool ok = false;
  std::string error;    // one line; empty if ok
  int exit_code = 0;    // that of `weft run`
  std::string summary;  // summary.json on one line; empty if not ok
};

struct Row {
  std::size_t row = 0;  // its index in the sweep
  std::string point;    // hash of the resolved scenario; equal ones are run once
  std::string version;  // of weft
  std::vector<Cell> cells;
  std::string command;  // gives the same results again
  PointOutcome outcome;
  bool checked = true;  // its line had a checksum; older versions of weft wrote none
};

// The sweep that a folder of results belongs to: sweep.json.
struct SweepInfo {
  std::string name;
  std::string scenario;
  std::string version;
  std::string command;  // gives the same results again
  std::vector<AxisColumn> axes;
  std::size_t points = 0;  // rows of the whole sweep
  std::string shard;       // "2/4": the folder holds a part of them; empty: all
  bool checked = true;     // it had a checksum, so its rows must too
  bool operator==(const SweepInfo&) const = default;
};

std::string to_json(const SweepInfo& info);
std::optional<SweepInfo> parse_sweep_json(std::string_view text);

// Including the end of line.
std::string line_of(const Row& row, const std::vector<AxisColumn>& axes);

// Empty if it is not a complete line written by weft, or was changed since.
std::optional<Row> parse_row(std::string_view line, const std::vector<AxisColumn>& axes);

// All problems on one line.
std::string one_line(const Diagnostics& problems);

}  // namespace weft
