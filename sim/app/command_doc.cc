#include "sim/app/command_doc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace weft {
namespace {

std::string row(const std::string& left, const std::string& right, std::size_t width) {
  std::string line = "  " + left;
  const std::size_t indent = width + 4;
  if (line.size() + 2 > indent) {
    line += '\n' + std::string(indent, ' ');
  } else {
    line.resize(indent, ' ');
  }
  return line + wrapped(right, {.column = indent, .indent = indent}) + '\n';
}

std::string left_of(const OptionDoc& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  return option.positional || option.value.empty() ? names : names + ' ' + option.value;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string section(const std::string& title, const Rows& rows) {
  constexpr std::size_t kWidest = 24;
  if (rows.empty()) return "";
  std::size_t width = 0;
  for (const auto& [left, right] : rows) {
    if (left.size() <= kWidest) width = std::max(width, left.size());
  }
  std::string text = title.empty() ? "\n" : '\n' + title + ":\n";
  for (const auto& [left, right] : rows) text += row(left, right, width);
  return text;
}

}  // namespace

std::string usage_text(const CommandDoc& command, const std::string& program) {
  std::string text = program + command.name + " [OPTIONS]";
  for (const OptionDoc& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.names.front() + (option.repeatable ? " ..." : "");
    text += option.required ? ' ' + name : " [" + name + ']';
  }
  return command.commands.empty() ? text : text + " COMMAND";
}

std::string help_text(const CommandDoc& command, const std::string& program) {
  Rows arguments;
  Rows options;
  Rows commands;
  for (const OptionDoc& option : command.options) {
    (option.positional ? arguments : options).emplace_back(left_of(option), full_help(option));
  }
  for (const CommandDoc& inner : command.commands) commands.emplace_back(inner.name, inner.help);
  return command.help + "\n\nusage: " + usage_text(command, program) + '\n' +
         section("", arguments) + section("options", options) + section("commands", commands) +
         '\n' + command.footer;
}

std::string meaning_of(const OptionDoc& option) {
  if (option.choices.empty()) return option.help;
  return fmt::format("{}; one of {}", option.help, fmt::join(option.choices, " "));
}

std::string full_help(const OptionDoc& option) {
  std::string text = meaning_of(option);
  if (option.required && !option.positional) text += "; required";
  return option.rule.empty() ? text : text + "; " + option.rule;
}

std::string wrapped(const std::string& text, Lines lines) {
  std::string broken;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool first = broken.empty();
    if (!first && lines.column + 1 + word.size() > lines.columns) {
      broken += '\n' + std::string(lines.indent, ' ');
      lines.column = lines.indent;
    } else if (!first) {
      broken += ' ';
      ++lines.column;
    }
    broken += word;
    lines.column += word.size();
  }
  return broken;
}

}  // namespace weft
