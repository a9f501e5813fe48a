#include "sim/app/explain_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>

#include "sim/run/exit_code.h"
#include "sim/scenario/load.h"
#include "sim/spec/explain.h"

namespace weft {

int explain_command(const ExplainCommand& command) {
  const std::vector<KeyDoc> keys = describe_scenario();
  std::vector<KeyDoc> asked;
  std::set<std::string> known;  // what two of them have in common is said once
  bool missing = false;
  for (const std::string& path : command.keys) {
    const std::vector<KeyDoc> found = keys_at(keys, path);
    if (found.empty()) {
      spdlog::error("explain: {}: {}", path, no_such_key(keys, path));
      missing = true;
    }
    for (const KeyDoc& key : found) {
      if (known.insert(key.path).second) asked.push_back(key);
    }
  }
  if (missing) return exit_code::user;
  fmt::print("{}", explain_text(command.keys.empty() ? keys : asked));
  return exit_code::ok;
}

}  // namespace weft
