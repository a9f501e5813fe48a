// Changes to single elements of a list (overlay.h): a map of numbers that is laid over it.
#pragma once

#include <string_view>

#include "sim/core/diagnostics.h"
#include "sim/spec/tree.h"

namespace weft {

// A part of a path that names an element: a number from 0, without leading zeros.
bool names_an_element(std::string_view key);

// A map of which every key does.
bool speaks_of_elements(const Node& node);

// Makes these changes, where lay_over() has left them with their lists, and lists of those maps
// that lie over nothing. An element that would leave a gap before it is an error.
void settle_elements(Node& node, Diagnostics& problems);

}  // namespace weft
