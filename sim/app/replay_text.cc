// Commands as they can be given to a shell again.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/app/command_line.h"

namespace weft {

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=+:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string replay_text(const RunCommand& command) {
  std::string text = fmt::format("weft run {}", shell_quoted(command.scenario.string()));
  for (const std::string& set : command.sets) text += fmt::format(" --set {}", shell_quoted(set));
  return text;
}

}  // namespace weft
