// `weft list`: what a scenario can name.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct ListCommand {
  std::string what;  // empty: what can be listed
};

std::vector<std::string> listed_things();  // the words it may be

int list_command(const ListCommand& command);  // returns the exit code

}  // namespace weft
