#include "sim/app/command_doc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/core/diagnostics.h"

namespace weft {
namespace {

constexpr std::size_t kColumns = 100;

// one_of() describes itself as {a,b}, and CLI11 joins that to the type's name: WORD:{a,b}.
std::vector<std::string> choices_in(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::string names_in(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());  // the set's own order is that of addresses
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string rule_of(const CLI::Option& option) {
  if (!option.get_excludes().empty()) return "not with " + names_in(option.get_excludes());
  if (!option.get_needs().empty()) return "only with " + names_in(option.get_needs());
  return "";
}

OptionDoc describe(const CLI::Option& option) {
  OptionDoc doc{.names = {},
                .positional = option.get_positional(),
                .value = "",
                .choices = {},
                .help = option.get_description(),
                .rule = rule_of(option),
                .required = option.get_required(),
                .repeatable = option.get_items_expected_max() > 1};
  for (const std::string& name : option.get_snames()) doc.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) doc.names.push_back("--" + name);
  if (doc.positional) doc.names = {option.get_name(true)};
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    doc.value = type.substr(0, type.find(':'));
    doc.choices = choices_in(type);
  }
  return doc;
}

// The words of `text` in lines that start at `indent`; the first goes on where `column` is.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent) {
  std::string lines;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    const bool first = lines.empty();
    if (!first && column + 1 + word.size() > kColumns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string row(const std::string& left, const std::string& right, std::size_t width) {
  std::string line = "  " + left;
  const std::size_t indent = width + 4;
  if (line.size() + 2 > indent) {
    line += '\n' + std::string(indent, ' ');
  } else {
    line.resize(indent, ' ');
  }
  return line + wrapped(right, indent, indent) + '\n';
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

CommandDoc describe(const CLI::App& app) {
  CommandDoc doc{.name = app.get_name(),
                 .help = app.get_description(),
                 .footer = app.get_footer(),
                 .options = {},
                 .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) doc.options.push_back(describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) doc.commands.push_back(describe(*command));
  }
  return doc;
}

std::string usage_text(const CommandDoc& command, const std::string& program) {
  std::string text = program + command.name + " [OPTIONS]";
  for (const OptionDoc& option : command.options) {
    if (!option.positional) continue;
    text += option.required ? ' ' + option.names.front() : " [" + option.names.front() + ']';
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

std::string full_help(const OptionDoc& option) {
  std::string text = option.help;
  if (!option.choices.empty()) {
    text += fmt::format("; one of {}", fmt::join(option.choices, " "));
  }
  if (option.required && !option.positional) text += "; required";
  if (!option.rule.empty()) text += "; " + option.rule;
  return text;
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    const std::string guess = nearest(word, words);
    return fmt::format("'{}' is none of {}{}", word, fmt::join(words, " "),
                       guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess));
  };
  return CLI::Validator(check, std::move(description));
}

}  // namespace weft
