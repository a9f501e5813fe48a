// `weft explain`: what the keys of a scenario mean.
#pragma once

#include <string>

namespace weft {

struct ExplainCommand {
  std::string key;  // that and all below it; empty: all
};

int explain_command(const ExplainCommand& command);  // returns the exit code

}  // namespace weft
