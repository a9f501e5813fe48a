// Pages made from the command line: completion of shells, and the manual page.
#pragma once

#include <string>
#include <vector>

#include "sim/app/command_doc.h"

namespace weft {

std::string bash_completion(const CommandDoc& weft);
std::string zsh_completion(const CommandDoc& weft);
std::string fish_completion(const CommandDoc& weft);
std::string man_page(const CommandDoc& weft);

// What a shell completes where an option's value, or an argument, stands.
struct Completed {
  enum class What { nothing, words, assignments, files, folders };
  What what = What::nothing;
  std::vector<std::string> words;  // of assignments: what stands before the =
};
Completed completed(const OptionDoc& option);

// In single quotes, for any of the three shells.
std::string quoted(const std::string& text);

}  // namespace weft
