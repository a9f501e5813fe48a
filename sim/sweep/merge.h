// Shards of a sweep to its whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/sweep/row.h"

namespace weft {

struct Merged {
  SweepInfo info;         // of the whole
  std::vector<Row> rows;  // in order; each once
  std::vector<std::string> problems;
};

// What is missing, or does not belong together, is a problem; the rest is there.
Merged merge_rows(const std::vector<std::filesystem::path>& folders);

// sweep.json, results.jsonl and the tables.
void write_merged(const std::filesystem::path& folder, const Merged& merged);

}  // namespace weft
