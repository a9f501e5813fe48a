// Editing: new values in the text of a YAML file, everything else as its author wrote it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {

struct NewValue {
  std::string path;  // "memory.bandwidth"
  std::string text;
  std::string comment;  // takes the place of the line's own, without "#"; empty: that one stays
};

// `text` with these values. Keys that are not there are added to their map, and maps that are not
// there are written with them. What cannot be done becomes a problem. Comments that a value had on
// the lines after it go with the old value; that of a map on one line stays for its other values.
std::string with_values(std::string_view text, std::string_view file,
                        const std::vector<NewValue>& values, Diagnostics& problems);

}  // namespace weft
