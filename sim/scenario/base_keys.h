// Keys that any map may have besides its rows: each names a file whose values the map starts from.
// Reading a scenario replaces them by that file's values first (overlay.h).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/spec/json_schema.h"

namespace weft::base_keys {

// A file of weft, by its name without .yaml.
inline constexpr std::string_view kBase = "base";
// An ASTRA-sim network file, by its path (astra_sim.h).
inline constexpr std::string_view kFromAstraSim = "from_astra_sim";

inline constexpr std::array kRows = {
    BaseKey{.name = kBase,
            .help = "file whose keys these override, without its .yaml: next to this file, or in "
                    "the configs (weft list), for example gpus/mi210",
            .pattern = "^[A-Za-z0-9_.-][A-Za-z0-9_./-]*$"},
    BaseKey{.name = kFromAstraSim, .help = "path of an ASTRA-sim network file", .of = "cluster"},
};

constexpr bool contain(std::string_view key) {
  return std::any_of(kRows.begin(), kRows.end(),
                     [key](const BaseKey& row) { return row.name == key; });
}

}  // namespace weft::base_keys
