#include "sim/app/completion_command.h"

#include <fmt/format.h>

#include "sim/app/command_line.h"
#include "sim/app/command_pages.h"
#include "sim/run/exit_code.h"

namespace weft {

int completion_command(const CompletionCommand& command) {
  const CommandDoc weft = describe_command_line();
  if (command.shell == "bash") fmt::print("{}", bash_completion(weft));
  if (command.shell == "zsh") fmt::print("{}", zsh_completion(weft));
  if (command.shell == "fish") fmt::print("{}", fish_completion(weft));
  return exit_code::ok;
}

int man_command() {
  fmt::print("{}", man_page(describe_command_line()));
  return exit_code::ok;
}

}  // namespace weft
