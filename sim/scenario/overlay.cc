#include "sim/scenario/overlay.h"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "sim/core/fingerprint.h"
#include "sim/files/read_text.h"
#include "sim/scenario/astra_sim.h"
#include "sim/scenario/base_keys.h"
#include "sim/scenario/list_elements.h"
#include "sim/scenario/preset_words.h"
#include "sim/spec/parsed_texts.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxChain = 16;  // files whose base is a file whose base is ...
constexpr int kMaxBases = 200;         // of one scenario, all together

// Names end up in paths: letters that are harmless there, and nothing hidden or absolute.
bool is_base_name(const std::string& name) {
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
           c == '/';
  };
  return !name.empty() && name.size() <= 200 && name.front() != '/' && name.back() != '/' &&
         std::all_of(name.begin(), name.end(), harmless);
}

std::vector<std::string> yaml_names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    if (it->path().extension() == ".yaml") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());  // a directory's own order differs between machines
  return names;
}

// How many of a part there are is not the part's: one that takes another's place takes its number.
void keep_number(Node& below, Node& above) {
  constexpr const char* kNumber = "per_node";
  if (above.find(kNumber) != nullptr) return;
  for (Entry& entry : below.entries) {
    if (entry.key == kNumber) above.entries.push_back(std::move(entry));
  }
}

}  // namespace

std::string fnv1a_64_hex(std::string_view text) {
  std::uint64_t hash = fnv1a(text);
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4U) digits[i] = "0123456789abcdef"[hash & 15U];
  return digits;
}

const Node* SourceFiles::tree_of(const fs::path& file, const SourcePosition& asked_by,
                                 Diagnostics& problems) {
  const std::string name = file.generic_string();
  if (const auto known = trees_.find(name); known != trees_.end()) {
    return known->second ? &*known->second : nullptr;
  }
  const auto fail = [&](const std::string& why) {
    problems.add({.at = asked_by,
                  .path = "",
                  .message = "cannot read " + name + ": " + why,
                  .source_line = ""});
    return nullptr;
  };
  ReadText read = read_text(file, longest_ + 1);  // one more than allowed: parse_tree sees it
  if (!read.text) return fail(read.problem);
  return keep(name, *std::move(read.text), problems);
}

const Node* SourceFiles::tree_of_text(std::string_view text, std::string_view name,
                                      Diagnostics& problems) {
  return keep(std::string(name), std::string(text), problems);
}

const Node* SourceFiles::keep(const std::string& name, std::string text, Diagnostics& problems) {
  inputs_.push_back({.path = name, .hash = fnv1a_64_hex(text)});
  const std::string& kept = texts_[name] = std::move(text);
  std::optional<Node>& tree = trees_[name];
  tree = parse_or_remember({.file = name, .text = kept, .longest = longest_}, problems);
  return tree ? &*tree : nullptr;
}

std::string SourceFiles::line_at(const SourcePosition& at) const {
  const auto found = texts_.find(at.file);
  if (found == texts_.end() || at.line < 1) return "";
  std::string_view rest = found->second;
  for (int i = 1; i < at.line; ++i) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return "";
    rest.remove_prefix(end + 1);
  }
  std::string line(rest.substr(0, rest.find('\n')));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void SourceFiles::named(const std::string& file, const SourcePosition& by) {
  std::vector<SourcePosition>& all = named_[file];
  const bool known = std::any_of(all.begin(), all.end(), [&](const SourcePosition& at) {
    return at.file == by.file && at.line == by.line && at.column == by.column;
  });
  if (!known) all.push_back(by);
}

SourcePosition SourceFiles::named_at(SourcePosition at) const {
  for (std::size_t i = 0; i < kMaxChain; ++i) {  // more would be a circle
    const auto found = named_.find(at.file);
    if (found == named_.end() || found->second.size() != 1) break;
    at = found->second.front();
  }
  return at;
}

Diagnostics with_lines(const std::vector<const Diagnostics*>& stages, const SourceFiles& files) {
  Diagnostics all;
  for (const Diagnostics* stage : stages) {
    for (Diagnostic problem : stage->all()) {
      problem.source_line = files.line_at(problem.at);
      all.add(std::move(problem));
    }
  }
  return all;
}

fs::path find_base(const std::string& name, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    fs::path file = (folder / (name + ".yaml")).lexically_normal();
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

std::string missing_base(const std::string& name, const std::vector<fs::path>& folders) {
  std::string message = "no file " + name + ".yaml next to this file or in the configs";
  const fs::path within = fs::path(name).parent_path();
  std::vector<std::string> known;
  for (const fs::path& folder : folders) {
    const fs::path searched = folder / within;
    for (const std::string& stem : yaml_names_in(searched.empty() ? fs::path(".") : searched)) {
      const std::string known_as = (within / stem).generic_string();
      if (std::find(known.begin(), known.end(), known_as) == known.end()) known.push_back(known_as);
    }
  }
  constexpr std::size_t kListed = 20;
  const std::string guess = nearest(name, known);
  if (!guess.empty()) message += "; did you mean '" + guess + "'?";
  if (!known.empty()) message += guess.empty() ? "; available:" : " Available:";
  for (std::size_t i = 0; i < std::min(known.size(), kListed); ++i) message += ' ' + known[i];
  if (known.size() > kListed) message += " ...";
  return message;
}

void lay_over(Node& below, Node above) {
  const bool maps = below.kind == Node::Kind::map && above.kind == Node::Kind::map;
  const bool elements = below.kind == Node::Kind::list && speaks_of_elements(above);
  if ((!maps && !elements) || above.replaces) {
    if (maps) keep_number(below, above);
    below = std::move(above);
    return;
  }
  // Of a list they are kept beside its items until what is below is read: resolve_base().
  if (maps) below.at = above.at;
  below.incomplete = below.incomplete || above.incomplete;
  for (Entry& entry : above.entries) {
    if (Entry* found = below.find(entry.key)) {
      found->key_at = entry.key_at;
      lay_over(found->value, std::move(entry.value));
    } else {
      below.entries.push_back(std::move(entry));
    }
  }
}

void BaseResolver::error(const SourcePosition& at, std::string message) {
  problems_.add({.at = at, .path = "", .message = std::move(message), .source_line = ""});
}

void BaseResolver::resolve(Node& root, const fs::path& file) {
  const bool outermost = chain_.empty();
  chain_.push_back(file);
  resolve_node(root);
  if (outermost) settle_elements(root, problems_);
  if (outermost && !root.later.empty()) {
    for (Node& layer : std::exchange(root.later, {})) lay_over(root, std::move(layer));
    resolve_node(root);
    settle_elements(root, problems_);
  }
  chain_.pop_back();
}

void BaseResolver::resolve_node(Node& node, std::string_view key) {
  if (node.find(base_keys::kFromAstraSim) != nullptr) resolve_astra_sim(node);
  for (Node& item : node.items) resolve_node(item);
  for (Entry& entry : node.entries) {
    resolve_node(entry.value, entry.key);
    if (entry.value.kind != Node::Kind::scalar || !is_base_name(entry.value.text)) continue;
    const std::string right = right_for_preset(entry.key, entry.value.text, folders());
    if (right.empty()) continue;
    error(entry.value.at, right);
    entry.value = node_at(entry.value.at, Node::Kind::map);
    entry.value.incomplete = node.incomplete = true;
  }
  if (node.find(base_keys::kBase) != nullptr) resolve_base(node, key);
}

// Where the names of bases start from: the folder of the file that says so, then the configs.
std::vector<fs::path> BaseResolver::folders() const {
  std::vector<fs::path> folders{chain_.back().parent_path()};
  folders.insert(folders.end(), config_dirs_.begin(), config_dirs_.end());
  return folders;
}

// As a base, but the file is a network's of another program. The name is a path.
void BaseResolver::resolve_astra_sim(Node& map) {
  const auto key = std::find_if(map.entries.begin(), map.entries.end(), [](const Entry& entry) {
    return entry.key == base_keys::kFromAstraSim;
  });
  const Entry named = std::move(*key);
  map.entries.erase(key);
  if (named.value.kind == Node::Kind::null) return;  // taken away with --set
  map.incomplete = true;                             // until the end of this function
  if (named.value.kind != Node::Kind::scalar) {
    return error(named.value.at, "from_astra_sim must be the path of a network file");
  }
  const fs::path file = path_from(named.value.at, named.value.text);
  const Node* tree = files_.tree_of(file, named.value.at, problems_);
  if (tree == nullptr) return;
  std::optional<Node> below = cluster_of_astra_sim(*tree, file.stem().string(), problems_);
  if (!below) return;
  map.incomplete = false;
  map.replaces = false;
  lay_over(*below, std::move(map));
  map = *std::move(below);
  map.replaces = true;
}

void BaseResolver::resolve_base(Node& map, std::string_view under) {
  const auto key = std::find_if(map.entries.begin(), map.entries.end(),
                                [](const Entry& entry) { return entry.key == base_keys::kBase; });
  const Entry base = std::move(*key);
  map.entries.erase(key);
  const std::string name = base.value.text;
  if (base.value.kind == Node::Kind::null) return;  // taken away with --set
  map.incomplete = true;                            // until the end of this function
  if (base.value.kind != Node::Kind::scalar || !is_base_name(name)) {
    return error(base.value.at, "base must be a file's name without .yaml, for example gpus/mi210");
  }
  const fs::path file = find_base(name, folders());
  if (file.empty()) return error(base.value.at, missing_base(name, folders()));
  std::string loop;
  for (const fs::path& open : chain_) {
    std::error_code ignored;
    if (open == file || fs::equivalent(open, file, ignored)) loop = "from ";
    if (!loop.empty()) loop += open.generic_string() + " to ";
  }
  if (!loop.empty()) {
    return error(base.value.at, "circular base: " + loop + file.generic_string());
  }
  if (chain_.size() >= kMaxChain || ++resolved_ > kMaxBases) {
    return error(base.value.at, "too many nested bases");
  }
  files_.named(file.generic_string(), base.value.at);
  const Node* tree = files_.tree_of(file, base.value.at, problems_);
  if (tree == nullptr) return;
  if (tree->kind != Node::Kind::map) {
    return error(base.value.at, file.generic_string() + " contains " +
                                    std::string(kind_text(*tree)) +
                                    ", but a base must be a map of keys and values");
  }
  const Entry* const own = under.empty() ? nullptr : tree->find(under);
  if (own != nullptr && own->value.kind == Node::Kind::map) {
    return error(base.value.at, name + " has a '" + std::string(under) +
                                    "' of its own: it is a base of the map around this one");
  }
  Node below = *tree;
  resolve(below, file);
  map.incomplete = false;
  map.replaces = false;  // the base is what it is laid over
  below.later = std::move(map.later);
  lay_over(below, std::move(map));
  settle_elements_of_lists(below, problems_);
  map = std::move(below);
  map.replaces = true;
}

std::optional<std::vector<std::string>> parse_path(std::string_view path) {
  std::vector<std::string> keys{""};
  for (const char c : path) {
    if (c == '.') {
      keys.emplace_back();
    } else {
      keys.back() += c;
    }
  }
  const auto is_word = [](const std::string& key) {
    return !key.empty() && std::all_of(key.begin(), key.end(),
                                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  };
  constexpr std::size_t kMaxKeys = 16;
  if (keys.size() > kMaxKeys || !std::all_of(keys.begin(), keys.end(), is_word)) {
    return std::nullopt;
  }
  return keys;
}

std::string dotted(const std::vector<std::string>& keys) {
  std::string path;
  for (const std::string& key : keys) path += (path.empty() ? "" : ".") + key;
  return path;
}

std::optional<Assignment> parse_set(std::string_view assignment, Diagnostics& problems) {
  const SourcePosition at{.file = "--set " + std::string(assignment)};
  const auto fail = [&](std::string message) {
    problems.add({.at = at, .path = "", .message = std::move(message), .source_line = ""});
    return std::nullopt;
  };
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail("write --set path=value, for example --set cluster.nodes=4");
  }
  std::optional<std::vector<std::string>> keys = parse_path(assignment.substr(0, equals));
  if (!keys) {
    return fail(
        "the path must consist of keys joined by dots, for example cluster.scale_out.link.latency");
  }
  std::optional<Node> value = parse_tree(
      {.file = at.file, .text = assignment.substr(equals + 1), .has_lines = false}, problems);
  if (!value) return std::nullopt;
  return Assignment{.keys = *std::move(keys), .at = at, .value = *std::move(value)};
}

namespace {

// As in a file that has the scenario as its base: the bases of its maps are still to be read.
void those_with_a_base_replace(Node& node) {
  for (Node& item : node.items) those_with_a_base_replace(item);
  for (Entry& entry : node.entries) those_with_a_base_replace(entry.value);
  for (const BaseKey& base : base_keys::kRows) {
    if (node.find(base.name) != nullptr) node.replaces = true;
  }
}

}  // namespace

void assign(Node& root, const Assignment& assignment) {
  Node layer = assignment.value;
  those_with_a_base_replace(layer);
  for (auto key = assignment.keys.rbegin(); key != assignment.keys.rend(); ++key) {
    Node outer = node_at(assignment.at, Node::Kind::map);
    outer.entries.push_back({.key = *key, .key_at = assignment.at, .value = std::move(layer)});
    layer = std::move(outer);
  }
  const bool element = std::any_of(assignment.keys.begin(), assignment.keys.end(),
                                   [](const std::string& key) { return names_an_element(key); });
  if (element) {  // of the list that all files leave
    root.later.push_back(std::move(layer));
  } else {
    lay_over(root, std::move(layer));
  }
}

void apply_set(Node& root, std::string_view assignment, Diagnostics& problems) {
  if (const auto parsed = parse_set(assignment, problems)) assign(root, *parsed);
}

}  // namespace weft
