// Results of runs as bytes, to be kept in files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/engine/results.h"

namespace weft {

std::string packed(const RunResult& result);
// Nothing where these are not the bytes of one.
std::optional<RunResult> unpacked_run(std::string_view bytes);

}  // namespace weft
