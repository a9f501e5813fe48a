#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/app/command_pages.h"

namespace weft {
namespace {

// In a specification of _arguments brackets and colons mean something.
std::string with_escapes(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string action_of(const OptionDoc& option) {
  const Completed value = completed(option);
  switch (value.what) {
    case Completed::What::nothing:
      return " ";
    case Completed::What::words:
      return fmt::format("({})", fmt::join(value.words, " "));
    case Completed::What::assignments:
      return fmt::format("compadd -S = -- {}", fmt::join(value.words, " "));
    case Completed::What::files:
      return "_files";
    case Completed::What::folders:
      return "_files -/";
  }
  return " ";
}

std::string specification(const OptionDoc& option) {
  const std::string value =
      option.value.empty() ? ""
                           : fmt::format(":{}:{}", with_escapes(option.value), action_of(option));
  if (option.positional) {
    const char* times = option.repeatable ? "*" : option.required ? "" : ":";
    return quoted(times + value);
  }
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    const char* joined = name.starts_with("--") ? "=" : "+";
    names.push_back(name + (option.value.empty() ? "" : joined));
  }
  const std::string help = quoted(fmt::format("[{}]{}", with_escapes(option.help), value));
  const std::string once =
      option.repeatable ? "'*'" : quoted(fmt::format("({})", fmt::join(option.names, " ")));
  return names.size() == 1 ? once + names.front() + help
                           : fmt::format("{}{{{}}}{}", once, fmt::join(names, ","), help);
}

std::string arguments_of(const CommandDoc& command, const char* indent) {
  std::string text;
  for (const OptionDoc& option : command.options) {
    text += fmt::format(" \\\n{}{}", indent, specification(option));
  }
  return text;
}

}  // namespace

std::string zsh_completion(const CommandDoc& weft) {
  std::string text =
      "#compdef weft\n# Completion of weft for zsh. Made by `weft completion zsh`.\n\n_weft() {\n"
      "  local context state state_descr line\n  typeset -A opt_args\n  local -a commands\n"
      "  commands=(\n";
  for (const CommandDoc& command : weft.commands) {
    text += fmt::format("    {}\n",
                        quoted(with_escapes(command.name) + ':' + with_escapes(command.help)));
  }
  text += "  )\n  _arguments -C" + arguments_of(weft, "    ") +
          " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n"
          "  case $state in\n    command) _describe command commands ;;\n    argument)\n"
          "      case $words[1] in\n";
  for (const CommandDoc& command : weft.commands) {
    text += fmt::format("        {})\n          _arguments{}\n          ;;\n", command.name,
                        arguments_of(command, "            "));
  }
  return text +
         "      esac\n      ;;\n  esac\n}\n\n"
         "if [[ $funcstack[1] == _weft ]]; then _weft \"$@\"; else compdef _weft weft; fi\n";
}

}  // namespace weft
