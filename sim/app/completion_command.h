// `weft completion`, and `weft man` for the build.
#pragma once

#include <string>

namespace weft {

struct CompletionCommand {
  std::string shell;
};
struct ManCommand {};

int completion_command(const CompletionCommand& command);  // returns the exit code
int man_command();

}  // namespace weft
