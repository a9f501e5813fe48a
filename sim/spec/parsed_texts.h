// Trees of texts that were parsed before in this process: a GPU's file is most of what loading a
// small scenario takes, and every point of a loop in Python loads it again.
//
// A memory of a pure function: a tree is that of its text, whatever has become of the file.
// Bounded; safe from any thread.
#pragma once

#include <optional>

#include "sim/spec/tree.h"

namespace weft {

// As parse_tree(). What has problems is parsed each time.
std::optional<Node> parse_or_remember(const SourceText& source, Diagnostics& problems);

}  // namespace weft
