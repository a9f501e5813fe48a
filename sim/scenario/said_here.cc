#include "sim/scenario/said_here.h"

#include <set>
#include <string>
#include <utility>

#include "sim/scenario/base_keys.h"
#include "sim/scenario/load.h"

namespace weft {
namespace {

bool is_path(const std::string& keys) {
  static const std::set<std::string> kPaths = [] {
    std::set<std::string> paths;
    for (const KeyDoc& key : describe_scenario()) {
      if (key.type == "path") paths.insert(key.path);
    }
    return paths;
  }();
  const std::string last = keys.substr(keys.rfind('.') + 1);
  return last == base_keys::kFromAstraSim || kPaths.contains(keys);
}

Node said_here(const std::string& keys, Node value) {
  if (value.kind == Node::Kind::scalar && is_path(keys)) {
    value.text = path_from(value.at, value.text).generic_string();
  }
  for (Entry& entry : value.entries) {
    entry.value = said_here(keys + '.' + entry.key, std::move(entry.value));
  }
  return value;
}

}  // namespace

Node said_here(const Assignment& one) { return said_here(dotted(one.keys), one.value); }

}  // namespace weft
