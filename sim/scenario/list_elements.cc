#include "sim/scenario/list_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "sim/scenario/overlay.h"

namespace weft {
namespace {

constexpr std::size_t kMostDigits = 6;  // no list is longer than what a file may have

std::string gap_before(const Entry& change, std::size_t elements) {
  return fmt::format(
      "there is no element {}: the list has {}, counted from 0, and the next one would be {}",
      change.key, elements, elements);
}

void apply_changes(Node& list, const std::string& path, Diagnostics& problems) {
  std::vector<Entry> changes = std::move(list.entries);
  list.entries.clear();
  list.kind = Node::Kind::list;
  std::sort(changes.begin(), changes.end(),
            [](const Entry& a, const Entry& b) { return std::stoi(a.key) < std::stoi(b.key); });
  std::vector<std::size_t> removed;
  for (Entry& change : changes) {
    const auto index = static_cast<std::size_t>(std::stoi(change.key));
    if (index > list.items.size()) {
      problems.add({.at = change.key_at,
                    .path = path,
                    .message = gap_before(change, list.items.size()),
                    .source_line = ""});
      continue;
    }
    if (change.value.kind == Node::Kind::null) removed.push_back(index);
    if (index == list.items.size()) {
      list.items.push_back(std::move(change.value));
    } else {
      lay_over(list.items[index], std::move(change.value));
    }
  }
  for (auto index = removed.rbegin(); index != removed.rend(); ++index) {
    list.items.erase(list.items.begin() + static_cast<std::ptrdiff_t>(*index));
  }
  if (list.items.empty()) list.kind = Node::Kind::null;  // as if it were not said
}

// `alone`: also those that lie over nothing.
void settle(Node& node, bool alone, const std::string& path, Diagnostics& problems) {
  const bool over_a_list = node.kind == Node::Kind::list && !node.entries.empty();
  if (over_a_list || (alone && speaks_of_elements(node))) apply_changes(node, path, problems);
  for (Node& item : node.items) settle(item, alone, path, problems);
  for (Entry& entry : node.entries) {
    settle(entry.value, alone, path.empty() ? entry.key : path + '.' + entry.key, problems);
  }
}

}  // namespace

bool names_an_element(std::string_view key) {
  const bool is_number = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  return is_number && key.size() <= kMostDigits && (key.size() == 1 || key.front() != '0');
}

bool speaks_of_elements(const Node& node) {
  return node.kind == Node::Kind::map && !node.entries.empty() &&
         std::all_of(node.entries.begin(), node.entries.end(),
                     [](const Entry& entry) { return names_an_element(entry.key); });
}

void settle_elements_of_lists(Node& node, Diagnostics& problems) {
  settle(node, false, "", problems);
}

void settle_elements(Node& node, Diagnostics& problems) { settle(node, true, "", problems); }

}  // namespace weft
