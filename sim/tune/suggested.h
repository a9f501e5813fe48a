// The knobs that suit a scenario, as the text of a sweep file: what a search varies where nobody
// has said what.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/load.h"

namespace weft {

// `scenario` loads with `options`. What options.sets assigns is in the text, and not varied.
// `named`: the scenario's file as the sweep file has to name it.
//
// Of an operator: its WGs or tiles and what the mode can be set to, the fused kernel, the chunks or
// the collective; each value is tried alone, and one that does not load, or of which weft warns
// that it has no effect, is left out. Of a whole model: the layout of its GPUs, schedule,
// microbatch, recomputation and sharding; which combinations go together shows as they are tried.
// Knobs beyond some 100,000 points are listed in a comment. Without a mode: of c3 and collectives,
// all modes together.
std::string suggested_space(const std::filesystem::path& scenario, const LoadOptions& options,
                            const std::string& named, std::optional<Mode> mode);

// Those to be tuned one by one, so that each is compared at its best: the scenario's own, of a
// model mixed too, of an operator and its collective all that suit it. Empty: all together.
std::vector<Mode> modes_to_tune(const std::filesystem::path& scenario, const LoadOptions& options);

}  // namespace weft
