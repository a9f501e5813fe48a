#include "sim/tune/space_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <filesystem>

#include "sim/scenario/modes.h"
#include "sim/scenario/sweep_file.h"

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

std::string as_yaml(const std::string& text) {
  return flow_text(node_at({}, Node::Kind::scalar, text));
}

std::string microseconds_text(Duration time) {
  return fmt::format("{:.1f} us", to_microseconds(time));
}

std::set<std::string> columns_of_all() { return {"point", "status", "error"}; }

std::string column_of(const std::string& name, std::set<std::string>& taken) {
  std::string word;
  for (const char c : name) {
    word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
    word.insert(0, "pair_");
  }
  std::string column = word;
  for (int i = 2; !taken.insert(column).second; ++i) column = fmt::format("{}_{}", word, i);
  return column;
}

}  // namespace weft
