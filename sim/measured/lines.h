// Measured lines: the times of real kernels, one JSON object per line.
//
//   {"kind":"emb.bulk","gpus":4,"batch":2048, ... ,"us":697.9,"us_min":694.1,"us_max":702.3}
//
// `kind` says what ran, `us` is the median in microseconds; the other fields are the case's own
// numbers, with yes or no as 1 or 0 (calibration/README.md). For several ways to run the same thing
// `us` is a list, of which the median counts. A line of kind `meta` describes the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {

struct MeasuredLine {
  SourcePosition at;
  std::string kind;
  double us = 0;
  std::map<std::string, std::int64_t> numbers;  // without `us`, `us_min`, `us_max`
  std::map<std::string, std::string> words;     // without `kind`

  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name) const;
  // A number above 0; otherwise nothing, and a problem of this line is added.
  [[nodiscard]] std::optional<std::int64_t> needed(const char* name, Diagnostics& problems) const;
  [[nodiscard]] bool says(const std::string& name, std::string_view word) const;
  // "batch 2048, tables 32": everything but the time, ordered by name.
  [[nodiscard]] std::string text() const;
};

struct MeasuredFile {
  std::vector<MeasuredLine> lines;  // without meta
  std::set<std::string> devices;    // as meta names them
  Diagnostics problems;             // errors: lines that are not such objects
};

MeasuredFile read_measured(const std::filesystem::path& file);

}  // namespace weft
