// `weft list`: what a scenario can name.
#pragma once

#include <string>

namespace weft {

struct ListCommand {
  std::string what;  // empty: what can be listed
};

int list_command(const ListCommand& command);  // returns the exit code

}  // namespace weft
