#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/app/command_pages.h"

namespace weft {
namespace {

constexpr const char* kHead = R"(# Completion of weft for bash. Made by `weft completion bash`.

# Sets what, words, options and with_value of the place "COMMAND:OPTION" or "COMMAND:NUMBER".
_weft_place() {
  what=nothing words='' options='' with_value=''
)";

constexpr const char* kTail = R"(}

_weft() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local what words options with_value command='' place=1 i
  # --option=value is three words here.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    _weft_place "$command:"
    if [[ ${COMP_WORDS[i]} == = ]]; then
      ((i++))
    elif [[ " $with_value " == *" ${COMP_WORDS[i]} "* ]]; then
      [[ ${COMP_WORDS[i + 1]} == = ]] || ((i++))
    elif [[ ${COMP_WORDS[i]} != -* ]]; then
      if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((place++)); fi
    fi
  done
  _weft_place "$command:"
  if [[ " $with_value " == *" $prev "* ]]; then
    _weft_place "$command:$prev"
  elif [[ $cur == -* ]]; then
    what=words words=$options
  elif [[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    what=nothing
  else
    _weft_place "$command:$place"
  fi
  COMPREPLY=()
  case $what in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
    assignments)
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -S = -W "$words" -- "$cur")
      ;;
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      ;;
    folders)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      ;;
  esac
}

complete -F _weft weft
)";

std::string what_text(const Completed& value) {
  switch (value.what) {
    case Completed::What::nothing:
      return "";
    case Completed::What::words:
      return fmt::format("what=words words={}",
                         quoted(fmt::format("{}", fmt::join(value.words, " "))));
    case Completed::What::assignments:
      return fmt::format("what=assignments words={}",
                         quoted(fmt::format("{}", fmt::join(value.words, " "))));
    case Completed::What::files:
      return "what=files";
    case Completed::What::folders:
      return "what=folders";
  }
  return "";
}

std::string places_of(const CommandDoc& command) {
  std::vector<std::string> options;
  std::vector<std::string> with_value;
  std::string places;
  int arguments = 0;
  for (const OptionDoc& option : command.options) {
    const std::string text = what_text(completed(option));
    std::vector<std::string> patterns;
    if (option.positional) {
      patterns.push_back(option.repeatable ? command.name + ":[1-9]*"
                                           : fmt::format("{}:{}", command.name, ++arguments));
    } else {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
    for (const std::string& name : option.names) {
      if (option.positional || option.value.empty()) continue;
      with_value.push_back(name);
      patterns.push_back(fmt::format("{}:{}", command.name, name));
    }
    if (!text.empty() && !patterns.empty()) {
      places += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), text);
    }
  }
  return fmt::format("    {}:) options='{}' with_value='{}' ;;\n", command.name,
                     fmt::join(options, " "), fmt::join(with_value, " ")) +
         places;
}

}  // namespace

std::string bash_completion(const CommandDoc& weft) {
  CommandDoc outermost = weft;
  outermost.name = "";
  OptionDoc command;
  command.positional = true;
  command.value = "COMMAND";
  for (const CommandDoc& inner : weft.commands) command.choices.push_back(inner.name);
  outermost.options.push_back(std::move(command));
  std::string text = std::string(kHead) + "  case $1 in\n" + places_of(outermost);
  for (const CommandDoc& inner : weft.commands) text += places_of(inner);
  return text + "  esac\n" + kTail;
}

}  // namespace weft
