#include "sim/traces/chakra/process_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/traces/json_memory.h"
#include "sim/traces/json_values.h"
#include "sim/traces/text_file.h"

namespace weft {
namespace {

// The list as distinct existing ranks; nothing if it is not that.
std::optional<std::vector<std::uint32_t>> ranks_of(const Json& list, int ranks) {
  if (!list.is_array() || list.empty()) return std::nullopt;
  std::vector<std::uint32_t> members;
  std::set<std::uint32_t> seen;
  for (const Json& one : list) {
    if (!one.is_number_unsigned() ||
        one.get<std::uint64_t>() >= static_cast<std::uint64_t>(ranks)) {
      return std::nullopt;
    }
    members.push_back(one.get<std::uint32_t>());
    if (!seen.insert(members.back()).second) return std::nullopt;
  }
  return members;
}

}  // namespace

void read_group_file(const std::string& file, int ranks, TraceGroups& groups,
                     TraceProblems& problems, std::vector<InputFile>& inputs) {
  const ReadText read = text_of_file(file, inputs);
  if (!read.text) return problems.add(file, "groups", read.problem);
  if (!problems.fits(file, json_memory(*read.text))) return;
  const Json object = Json::parse(*read.text, nullptr, false);
  if (!object.is_object()) {
    return problems.add(file, "groups", "must be a JSON object such as {\"1\": [0, 1]}");
  }
  for (const auto& [name, list] : object.items()) {
    if (const auto members = ranks_of(list, ranks)) {
      add_group(groups, name, *members);
    } else {
      problems.add(file, fmt::format("groups: '{}'", name),
                   fmt::format("must list different ranks of 0 to {}", ranks - 1));
    }
  }
}

void take_listed_groups(const std::string& inputs, int ranks, TraceGroups& groups) {
  const std::size_t begin = inputs.find("[{");
  const std::size_t end = inputs.rfind("}]");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return;
  std::string text = inputs.substr(begin, end + 2 - begin);
  text.erase(std::remove(text.begin(), text.end(), '\\'), text.end());
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array()) return;
  for (const Json& one : list) {
    if (!one.is_object() || !one.contains("pg_name") || !one["pg_name"].is_string()) continue;
    const auto name = one["pg_name"].get<std::string>();
    if (groups.by_name.contains(name)) continue;
    const bool lists = one.contains("ranks") && one["ranks"].is_array() && !one["ranks"].empty();
    if (!lists) {
      groups.by_name[name] = 0;
    } else if (const auto members = ranks_of(one["ranks"], ranks)) {
      add_group(groups, name, *members);
    }
  }
}

}  // namespace weft
