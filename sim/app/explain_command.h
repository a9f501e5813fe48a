// `weft explain`: what the keys of a scenario mean.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct ExplainCommand {
  std::vector<std::string> keys;  // these and all below them; none: all
};

int explain_command(const ExplainCommand& command);  // returns the exit code

}  // namespace weft
