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

// Makes the changes that lay_over() has left with their lists, file by file: a number means an
// element of the list that the files below leave. One that would leave a gap is an error.
void settle_elements_of_lists(Node& node, Diagnostics& problems);

// The same when all files are read; maps of numbers that lie over nothing become lists.
void settle_elements(Node& node, Diagnostics& problems);

}  // namespace weft
