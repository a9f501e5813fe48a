// Commands as they can be given to a shell again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

// One word of a command line, quoted for a shell where it has to be.
std::string shell_quoted(const std::string& word);

// The `weft run` that reproduces the results of a scenario with these --set. Where results go and
// how they are printed changes nothing in them and is left out.
std::string replay_text(const std::filesystem::path& scenario,
                        const std::vector<std::string>& sets);

}  // namespace weft
