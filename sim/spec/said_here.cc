#include "sim/spec/said_here.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft {
namespace {

constexpr std::array<std::string_view, 4> kPaths = {"path", "execution_traces", "process_groups",
                                                    "from_astra_sim"};

}  // namespace

Node said_here(std::string_view key, Node value) {
  const bool is_path = std::find(kPaths.begin(), kPaths.end(), key) != kPaths.end();
  if (is_path && value.kind == Node::Kind::scalar) {
    value.text = path_from(value.at, value.text).generic_string();
  }
  for (Entry& entry : value.entries) entry.value = said_here(entry.key, std::move(entry.value));
  return value;
}

}  // namespace weft
