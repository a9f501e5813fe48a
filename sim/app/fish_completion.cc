#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/app/command_pages.h"

namespace weft {
namespace {

std::string value_of(const OptionDoc& option) {
  const Completed value = completed(option);
  switch (value.what) {
    case Completed::What::nothing:
      return option.positional ? "" : " -x";
    case Completed::What::words:
      return fmt::format(" {}-a {}", option.positional ? "" : "-x ",
                         quoted(fmt::format("{}", fmt::join(value.words, " "))));
    case Completed::What::assignments:
      return fmt::format(" -x -a {}", quoted(fmt::format("{}=", fmt::join(value.words, "= "))));
    case Completed::What::files:
      return option.positional ? " -F" : " -r -F";
    case Completed::What::folders:
      return " -x -a '(__fish_complete_directories)'";
  }
  return "";
}

std::string line_of(const OptionDoc& option, const std::string& where) {
  std::string line = "complete -c weft" + where;
  for (const std::string& name : option.names) {
    if (option.positional) continue;
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += value_of(option);
  return line + " -d " + quoted(option.help) + '\n';
}

}  // namespace

std::string fish_completion(const CommandDoc& weft) {
  std::string text =
      "# Completion of weft for fish. Made by `weft completion fish`.\n\ncomplete -c weft -f\n";
  for (const OptionDoc& option : weft.options) text += line_of(option, "");
  for (const CommandDoc& command : weft.commands) {
    text += fmt::format("complete -c weft -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.help));
  }
  for (const CommandDoc& command : weft.commands) {
    const std::string where = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionDoc& option : command.options) text += line_of(option, where);
  }
  return text;
}

}  // namespace weft
