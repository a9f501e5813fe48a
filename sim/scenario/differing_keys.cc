#include "sim/scenario/differing_keys.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/scenario/sweep_file.h"

namespace weft {
namespace {

class KeyTable {
 public:
  explicit KeyTable(std::size_t scenarios) : scenarios_(scenarios) {}

  void add(const Node& node, const std::string& path, std::size_t scenario) {
    if (node.kind == Node::Kind::map) {
      for (const Entry& entry : node.entries) {
        add(entry.value, path.empty() ? entry.key : path + '.' + entry.key, scenario);
      }
      return;
    }
    const auto [place, is_new] = places_.try_emplace(path, keys_.size());
    if (is_new) keys_.push_back({path, std::vector<std::string>(scenarios_, "-")});
    keys_[place->second].values[scenario] = flow_text(node);
  }

  std::vector<DifferingKey> differing() && {
    std::erase_if(keys_, [](const DifferingKey& key) {
      return std::all_of(key.values.begin(), key.values.end(),
                         [&](const std::string& value) { return value == key.values.front(); });
    });
    return std::move(keys_);
  }

 private:
  std::size_t scenarios_;
  std::map<std::string, std::size_t> places_;
  std::vector<DifferingKey> keys_;
};

}  // namespace

std::vector<DifferingKey> differing_keys(const std::vector<Node>& scenarios) {
  KeyTable table(scenarios.size());
  for (std::size_t i = 0; i < scenarios.size(); ++i) table.add(scenarios[i], "", i);
  return std::move(table).differing();
}

}  // namespace weft
