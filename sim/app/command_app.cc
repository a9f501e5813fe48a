#include "sim/app/command_app.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/core/diagnostics.h"

namespace weft {
namespace {

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

// An unset variable of a shell leaves an empty path: what it was to be is not known.
std::string is_a_path(const std::string& path) {
  return path.empty() ? "the path is empty; is a shell variable unset?" : "";
}

std::string rule_of(const CLI::Option& option) {
  if (!option.get_excludes().empty()) return "not with " + names_in(option.get_excludes());
  if (!option.get_needs().empty()) return "only with " + names_in(option.get_needs());
  return "";
}

OptionDoc describe_option(const CLI::Option& option) {
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

}  // namespace

CommandDoc describe(const CLI::App& app) {
  CommandDoc doc{.name = app.get_name(),
                 .help = app.get_description(),
                 .footer = app.get_footer(),
                 .options = {},
                 .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) doc.options.push_back(describe_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) doc.commands.push_back(describe(*command));
  }
  return doc;
}

CLI::Validator whole_number() {
  const auto check = [](const std::string& text) -> std::string {
    const std::string digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
      return fmt::format("'{}' is not a number", text);
    }
    return digits == text ? "" : fmt::format("'{}' is negative", text);
  };
  return CLI::Validator(check, "", "");
}

void expect_paths(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    const std::string name = type.substr(0, type.find(':'));
    for (const char* path : {"FILE", "DIR", "PATH", "PREFIX"}) {
      if (name == path) option->check(CLI::Validator(is_a_path, "", ""));
    }
  }
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    const std::string guess = nearest(word, words);
    return fmt::format("'{}' is not one of {}{}", word, fmt::join(words, " "),
                       guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess));
  };
  return CLI::Validator(check, std::move(description));
}

}  // namespace weft
