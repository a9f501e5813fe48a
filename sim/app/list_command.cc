#include "sim/app/list_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/listed.h"

namespace weft {
namespace {

std::string aligned_lines(const std::vector<ListLine>& lines) {
  constexpr std::size_t kColumns = 100;
  constexpr std::size_t kWidest = 48;  // a longer title has no say in where the figures start
  std::size_t words = 0;
  std::size_t titles = 0;
  for (const ListLine& line : lines) {
    words = std::max(words, line.word.size());
    if (line.title.size() <= kWidest) titles = std::max(titles, line.title.size());
  }
  std::string text;
  for (const ListLine& line : lines) {
    std::string row = fmt::format("  {:{}}  {:{}}", line.word, words, line.title, titles);
    if (!line.figures.empty() && row.size() + 2 + line.figures.size() > kColumns) {
      text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
      row = std::string(words + 4, ' ') + line.figures;
    } else {
      row += "  " + line.figures;
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace

int list_command(const ListCommand& command) {
  if (command.what.empty()) {
    fmt::print("weft list WHAT, where WHAT is one of\n{}", aligned_lines(listed_things()));
    return exit_code::ok;
  }
  for (const Listed& part : listed(command.what, config_dirs("here.yaml"))) {
    if (!part.folder.empty()) print_text(part.folder.string() + ":\n");
    print_text(aligned_lines(part.lines));
  }
  return exit_code::ok;
}

}  // namespace weft
