// Sweep files that `weft tune` writes for a scenario: what they begin with.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

struct SpaceHead {
  std::string what;      // "Knobs that suit"
  std::string scenario;  // its file, as the sweep file has to name it
  std::string suffix;    // of its name, which the sweep's begins with
  // What holds for all points: the mode, which takes the place of modes that are set, and sets.
  std::optional<Mode> mode;
  std::vector<std::string> sets;
};

// Up to the line "axes:".
std::string text_of(const SpaceHead& head);

// As a value of YAML in one line.
std::string as_yaml(const std::string& text);
std::string microseconds_text(Duration time);  // "12.3 us"

// Columns that every search has.
std::set<std::string> columns_of_all();
// A word that no other column has, from an operator's name.
std::string column_of(const std::string& name, std::set<std::string>& taken);

// So many points a search may have to choose from.
inline constexpr std::size_t kMostPointsOfSpace = 100'000;

}  // namespace weft
