#include "sim/run/replay_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

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

std::string replay_text(const std::filesystem::path& scenario,
                        const std::vector<std::string>& sets) {
  std::string text = fmt::format("weft run {}", shell_quoted(scenario.string()));
  for (const std::string& set : sets) text += fmt::format(" --set {}", shell_quoted(set));
  return text;
}

}  // namespace weft
