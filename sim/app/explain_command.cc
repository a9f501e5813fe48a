#include "sim/app/explain_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "sim/app/exit_code.h"
#include "sim/scenario/explain.h"
#include "sim/scenario/load.h"

namespace weft {

int explain_command(const ExplainCommand& command) {
  const std::vector<KeyDoc> keys = describe_scenario();
  const std::vector<KeyDoc> asked = keys_at(keys, command.key);
  if (asked.empty()) {
    spdlog::error("explain: {}: {}", command.key, no_such_key(keys, command.key));
    return exit_code::user;
  }
  fmt::print("{}", explain_text(asked));
  return exit_code::ok;
}

}  // namespace weft
