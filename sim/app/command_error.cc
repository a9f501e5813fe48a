#include "sim/app/command_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "sim/app/command_app.h"
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
    return fmt::format("unexpected argument '{}'; usage: {}", word, usage_text(doc, command));
  }
  std::vector<std::string> known;
  known.reserve(doc.commands.size());
  for (const CommandDoc& inner : doc.commands) known.push_back(inner.name);
  return fmt::format("unknown command '{}'; {}", word,
                     instead_of(word, known, fmt::format("available: {}", fmt::join(known, " "))));
}

std::vector<std::string> missing_of(const CLI::App& app, const CommandDoc& doc) {
  std::vector<std::string> missing;
  for (const OptionDoc& option : doc.options) {
    const std::string& name = option.names.back();
    if (!option.required || app.count(name) > 0) continue;
    missing.push_back(fmt::format("{} is required: {}", name, meaning_of(option)));
  }
  return missing;
}

// What no option and no argument takes. What follows an unknown option may be its value.
std::vector<std::string> unknown_of(const CLI::App& app, const CommandDoc& doc,
                                    const std::string& program) {
  std::vector<std::string> unknown;
  bool behind_option = false;
  for (const std::string& word : app.remaining(true)) {
    const bool option = word.starts_with('-') && word.size() > 1;
    if (option) {
      unknown.push_back(unknown_option(doc, program + doc.name, word));
    } else if (!behind_option) {
      unknown.push_back(unknown_word(doc, program, word));
    }
    behind_option = option;
  }
  return unknown;
}

// What CLI11 says, where it does not say it otherwise than weft.
std::string said(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";  // "--seed = some"
  std::string text = error.what();
  const auto equals = text.find(" = ");
  if (!text.starts_with(kConversion) || equals == std::string::npos) return text;
  return fmt::format("{}: '{}' is not a number",
                     text.substr(kConversion.size(), equals - kConversion.size()),
                     text.substr(equals + 3));
}

}  // namespace

std::vector<std::string> unknown_command(const CLI::App& app) {
  if (!app.get_subcommands().empty()) return {};
  std::vector<std::string> unknown = unknown_of(app, describe(app), "");
  if (unknown.size() > 1) unknown.resize(1);  // the rest is for the command that was meant
  return unknown;
}

std::vector<std::string> mistakes_of(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const bool required = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (parsed.empty()) {
    std::vector<std::string> unknown = unknown_command(app);
    if (!unknown.empty()) return unknown;
    return {required ? "no command is given; 'weft --help' lists them" : said(error)};
  }
  const CommandDoc doc = describe(*parsed.front());
  std::vector<std::string> mistakes = unknown_of(app, doc, "weft ");
  if (required) {
    for (std::string& missing : missing_of(*parsed.front(), doc)) {
      mistakes.push_back(std::move(missing));
    }
  } else if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    mistakes.push_back(said(error));
  }
  if (mistakes.empty()) mistakes.push_back(said(error));
  for (std::string& mistake : mistakes) mistake.insert(0, doc.name + ": ");
  return mistakes;
}

}  // namespace weft
