#include "sim/tune/space_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "sim/scenario/modes.h"

namespace weft {

std::string text_of(const SpaceHead& head) {
  const std::string stem = std::filesystem::path(head.scenario).stem().string();
  std::vector<std::string> sets;
  if (head.mode) sets.push_back(fmt::format("modes: [{}]", name_of(*head.mode)));
  for (const std::string& set : head.sets) {
    const auto equals = set.find('=');
    if (head.mode && set.substr(0, equals) == "modes") continue;
    sets.push_back(set.substr(0, equals) + ": " + set.substr(equals + 1));
  }
  return fmt::format(
             "# {} {}; written by weft tune, to be edited.\n"
             "name: {}{}\nscenario: {}\n",
             head.what, stem, stem, head.suffix, head.scenario) +
         (sets.empty() ? "" : fmt::format("set: {{{}}}\n", fmt::join(sets, ", "))) + "axes:\n";
}

}  // namespace weft
