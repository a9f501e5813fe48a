#include "sim/app/command_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "sim/app/command_doc.h"
#include "sim/core/diagnostics.h"

namespace weft {
namespace {

std::string instead_of(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string guess = nearest(word, known);
  return guess.empty() ? otherwise : fmt::format("did you mean '{}'?", guess);
}

std::string unknown_option(const CommandDoc& doc, const std::string& command,
                           const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const OptionDoc& option : doc.options) {
    if (!option.positional) known.insert(known.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("unknown option '{}'; {}", name,
                     instead_of(name, known, fmt::format("'{} --help' lists them", command)));
}

std::string unknown_word(const CommandDoc& doc, const std::string& command,
                         const std::string& word) {
  if (doc.commands.empty()) {
    return fmt::format("'{}' is one argument too many; usage: {}", word, usage_text(doc, command));
  }
  std::vector<std::string> known;
  for (const CommandDoc& inner : doc.commands) known.push_back(inner.name);
  return fmt::format("unknown command '{}'; {}", word,
                     instead_of(word, known, fmt::format("there are {}", fmt::join(known, " "))));
}

std::vector<std::string> missing_of(const CLI::App& app) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    missing.push_back(fmt::format("{} is required: {}", option->get_name(option->get_positional()),
                                  option->get_description()));
  }
  return missing;
}

// What CLI11 says, less what it says in another order than weft.
std::string said(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";  // "--seed = some"
  std::string text = error.what();
  if (text.starts_with(kConversion)) return text.substr(kConversion.size()) + ": not a number";
  return text;
}

}  // namespace

std::vector<std::string> mistakes_of(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const CommandDoc doc = describe(command);
  const std::string before = parsed.empty() ? "" : doc.name + ": ";
  const std::string name = parsed.empty() ? doc.name : "weft " + doc.name;
  std::vector<std::string> mistakes;
  for (const std::string& word : app.remaining(true)) {
    mistakes.push_back(before + (word.starts_with('-') && word.size() > 1
                                     ? unknown_option(doc, name, word)
                                     : unknown_word(doc, parsed.empty() ? "" : "weft ", word)));
    if (parsed.empty()) return mistakes;  // what follows belongs to the command that was meant
  }
  const bool required = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (required && parsed.empty() && mistakes.empty()) {
    mistakes.push_back("a command is missing; 'weft --help' lists them");
  }
  if (required) {
    for (const std::string& missing : missing_of(command)) mistakes.push_back(before + missing);
  }
  const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!required && !extras) mistakes.push_back(before + said(error));
  return mistakes;
}

}  // namespace weft
