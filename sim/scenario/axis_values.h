// Values of the keys of a scenario, as sweeps count and print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/sweep_file.h"
#include "sim/spec/units.h"

namespace weft {

// A type of keys whose values can be counted.
struct CountedType {
  std::string_view type;    // as KeyDoc::type
  std::string_view suffix;  // of a column: its unit
  // Whole base units: picoseconds, bytes, bytes per second, billionths of a number.
  Parsed<std::int64_t> (*parse)(std::string_view text);
  std::string (*text)(std::int64_t count);
  // What a column says: 0.7 of "700 ns", of a text that parse() takes.
  double (*cell)(std::string_view text);
  bool has_ranges = true;
};

// Null: of words, maps or lists.
const CountedType* counted_type(std::string_view type);

// Which keys a scenario has.
class KnownKeys {
 public:
  KnownKeys() : docs_(describe()) {}

  // The type of a key, or nothing and what is wrong with it. A number in the path names an element
  // of a list (overlay.h), whose type is "element" if it has no keys of its own.
  std::optional<std::string> type_of(const std::string& path, std::string& problem) const;

 private:
  static std::vector<KeyDoc> describe();
  [[nodiscard]] const KeyDoc* find(const std::string& path) const;
  // Of a path as it is described and as it was said.
  [[nodiscard]] std::string unknown(const std::string& path, const std::string& said) const;

  std::vector<KeyDoc> docs_;
};

// The counts of a range, or what is wrong with it.
struct RangeOfCounts {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
struct Counts {
  std::vector<std::int64_t> counts{};
  std::string problem{};
};
Counts doubled(RangeOfCounts range, const CountedType& type);
Counts in_steps_of(RangeOfCounts range, std::int64_t step, const CountedType& type);
Counts evenly(RangeOfCounts range, std::int64_t number, const CountedType& type);

}  // namespace weft
