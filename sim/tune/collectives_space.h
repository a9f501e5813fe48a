// The ways in which a model's single collectives can be run, as axes of a sweep file.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/models/collective_ways.h"

namespace weft {

// What a rule says of how the library runs a collective, each with its value: "channels", "4".
std::vector<std::pair<std::string, std::string>> knobs_of_collective(
    const std::optional<AskedAlgorithm>& algorithm, const std::optional<Protocol>& protocol,
    int channels);

// Axes beside those of pairs, and how many points they make by themselves.
struct OtherAxes {
  std::string text;
  std::size_t points = 1;
  std::set<std::string> columns = {};
};

// Of each name of collectives an axis, a further rule of `workload.collectives`: first none, so
// that they are as they are in the scenario, then the shortest ways by themselves. As many ways, up
// to five, as let all combinations be a thousand; where one way each is too much, those that take
// least time are left out, with a comment.
OtherAxes axes_of_collectives(const std::vector<CollectiveWays>& all, std::size_t rules);

}  // namespace weft
