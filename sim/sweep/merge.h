// Merges the shards of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/sweep/row.h"

namespace weft {

struct Merged {
  SweepInfo info;         // of the whole sweep
  std::vector<Row> rows;  // in order; each once
  std::vector<std::string> problems;
};

// Rows that are missing, and folders that do not belong together, are problems; the rest is merged.
Merged merge_rows(const std::vector<std::filesystem::path>& folders);

// sweep.json, results.jsonl and the tables.
void write_merged(const std::filesystem::path& folder, const Merged& merged);

}  // namespace weft
