// The command line as a value: what its help, its man page and the completion of shells are made
// from, so that none of them can differ from what is parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weft {

struct OptionDoc {
  std::vector<std::string> names;  // "-o", "--output"; of an argument its one name
  bool positional = false;
  std::string value;                 // "FILE"; empty: a flag
  std::vector<std::string> choices;  // words that it may be; empty: anything
  std::string help;
  std::string rule;  // "not with --json"; empty: none
  bool required = false;
  bool repeatable = false;
};

struct CommandDoc {
  std::string name;
  std::string help;
  std::string footer;  // examples, exit status
  std::vector<OptionDoc> options;
  std::vector<CommandDoc> commands;
};

// Without what is hidden.
CommandDoc describe(const CLI::App& app);

// What `--help` prints, at most 100 columns wide. `program` is what is typed before the name.
std::string help_text(const CommandDoc& command, const std::string& program);

// "weft run [OPTIONS] SCENARIO"
std::string usage_text(const CommandDoc& command, const std::string& program);

// All that is said about an option: its help, its words, whether it is required.
std::string full_help(const OptionDoc& option);

// Accepts these words and no other.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace weft
