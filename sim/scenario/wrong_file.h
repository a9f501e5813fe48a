// A valid file given to the wrong command.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/core/diagnostics.h"
#include "sim/scenario/file_kind.h"

namespace weft {

// `problems` of reading the file as one of kind `takes`; or, where it is of another kind, only
// which command takes it. `takes` is unknown where that is no YAML.
Diagnostics or_its_command(const Diagnostics& problems, const std::filesystem::path& file,
                           FileKind takes);
// The same of a text that is in no file.
Diagnostics or_its_command(const Diagnostics& problems, std::string_view text,
                           const std::string& name, FileKind takes);

}  // namespace weft
