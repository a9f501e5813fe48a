#include "sim/app/command_pages.h"

#include "sim/scenario/load.h"

namespace weft {

Completed completed(const OptionDoc& option) {
  using What = Completed::What;
  if (!option.choices.empty()) return {.what = What::words, .words = option.choices};
  if (option.value == "FILE" || option.value == "PATH" || option.value == "PREFIX") {
    return {.what = What::files, .words = {}};
  }
  if (option.value == "DIR") return {.what = What::folders, .words = {}};
  const bool assigns = option.value == "PATH=VALUE";
  if (!assigns && option.value != "KEY") return {};
  Completed keys{.what = assigns ? What::assignments : What::words, .words = {}};
  for (const KeyDoc& key : describe_scenario()) {
    if (key.path.find('[') != std::string::npos) continue;  // of a list: with the list itself
    if (!assigns || key.type != "map") keys.words.push_back(key.path);
  }
  return keys;
}

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace weft
