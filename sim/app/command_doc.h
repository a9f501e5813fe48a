// The command line as a value: what its help, its man page and the completion of shells are made
// from, so that none of them can differ from what is parsed.
#pragma once

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

// What `--help` prints, at most 100 columns wide. `program` is what is typed before the name.
std::string help_text(const CommandDoc& command, const std::string& program);

// "weft run [OPTIONS] SCENARIO"
std::string usage_text(const CommandDoc& command, const std::string& program);

// What an option means, and the words that it may be.
std::string meaning_of(const OptionDoc& option);
// The same, with whether it is required and what it goes with.
std::string full_help(const OptionDoc& option);

// The words of `text` in lines of at most `columns`. Lines after the first start at `indent`, the
// first continues at `column`.
struct Lines {
  std::size_t columns = 100;
  std::size_t column = 0;
  std::size_t indent = 0;
};
std::string wrapped(const std::string& text, Lines lines);

}  // namespace weft
