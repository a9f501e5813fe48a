#include "sim/spec/edit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "sim/spec/tree.h"

namespace weft {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Where a comment begins, or npos. Values of the files that are edited hold no quotes.
std::size_t comment_at(const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ')) return i;
  }
  return std::string::npos;
}

// A comment beside nothing, as far right as comments stand beside values.
bool continues_comment(const std::string& line) {
  constexpr std::size_t kBesideValues = 16;
  const auto first = line.find_first_not_of(' ');
  return first != std::string::npos && first >= kBesideValues && line[first] == '#';
}

// A key that the file lacks: its value, or the keys below it.
struct NewKey {
  std::string key;
  std::string text;
  std::string comment;
  std::vector<NewKey> below;
};
using Path = std::span<const std::string>;

void put(std::vector<NewKey>& keys, Path path, const NewValue& value) {
  auto found = std::find_if(keys.begin(), keys.end(),
                            [&](const NewKey& key) { return key.key == path.front(); });
  if (found == keys.end()) {
    keys.push_back({.key = path.front(), .text = "", .comment = "", .below = {}});
    found = std::prev(keys.end());
  }
  if (path.size() > 1) return put(found->below, path.subspan(1), value);
  found->text = value.text;
  found->comment = value.comment;
}

// "a: 1, b: {c: 2}"
std::string flow_text(const std::vector<NewKey>& keys) {
  std::string text;
  for (const NewKey& key : keys) {
    text += (text.empty() ? "" : ", ") + key.key + ": ";
    text += key.below.empty() ? key.text : "{" + flow_text(key.below) + "}";
  }
  return text;
}

std::string with_comment(std::string line, const std::vector<std::string>& comments) {
  constexpr std::size_t kCommentColumn = 28;
  std::string all;
  for (const std::string& comment : comments) {
    if (!comment.empty()) all += (all.empty() ? "" : "; ") + comment;
  }
  if (all.empty()) return line;
  line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
  return line + "# " + all;
}

void add_block(const std::vector<NewKey>& keys, std::size_t indent,
               std::vector<std::string>& lines) {
  for (const NewKey& key : keys) {
    const std::string line = std::string(indent, ' ') + key.key + ":";
    if (key.below.empty()) {
      lines.push_back(with_comment(line + " " + key.text, {key.comment}));
    } else {
      lines.push_back(line);
      add_block(key.below, indent + 2, lines);
    }
  }
}

std::vector<std::string> keys_of(std::string_view path) {
  std::vector<std::string> keys;
  for (;;) {
    const auto dot = path.find('.');
    keys.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return keys;
    path.remove_prefix(dot + 1);
  }
}

bool is_before(const SourcePosition& a, const SourcePosition& b) {
  return std::pair(a.line, a.column) < std::pair(b.line, b.column);
}

// The last line on which something of it begins. What an alias names stands further up.
int last_line(const Node& node) {
  int last = node.at.line;
  for (const Node& item : node.items) last = std::max(last, last_line(item));
  for (const Entry& entry : node.entries) {
    last = std::max({last, entry.key_at.line, last_line(entry.value)});
  }
  return last;
}

class Editor {
 public:
  Editor(std::string_view text, std::string_view file, Diagnostics& problems)
      : lines_(lines_of(text)), problems_(problems), file_(file) {
    tree_ = parse_tree({.file = file_, .text = text}, problems);
  }

  std::string edit(const std::vector<NewValue>& values) {
    if (!tree_) return "";
    for (const NewValue& value : values) set(value);
    for (const auto& [place, missing] : missing_) insert(missing);
    // From the end, so that places further up stay where they are.
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      apply(change->first, change->second);
    }
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  struct Replacement {
    std::size_t column = 0;  // from 0
    std::size_t size = 0;
    std::string text;
  };
  struct Block {
    std::size_t indent = 0;
    std::vector<std::string> lines;
  };
  struct LineChange {
    std::vector<Replacement> values;
    std::vector<std::string> comments;
    std::size_t keys_left = 0;  // of maps on this line: values that stay as they are
    std::vector<Block> added;   // behind this line
  };
  // Keys that belong into a map, or in the place of a value that is nothing.
  struct Missing {
    const Node* map = nullptr;
    const Entry* nothing = nullptr;
    std::vector<NewKey> keys;
  };

  void fail(const std::string& path, std::string message) {
    Diagnostic problem;
    problem.at.file = file_;
    problem.path = path;
    problem.message = std::move(message);
    problems_.add(std::move(problem));
  }

  void set(const NewValue& value) {
    const std::vector<std::string> keys = keys_of(value.path);
    const Node* map = &*tree_;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (map->kind != Node::Kind::map) return fail(value.path, "its parent is not a map");
      const Entry* entry = map->find(keys[i]);
      if (entry == nullptr) return add(*map, Path(keys).subspan(i), value);
      if (entry->value.kind == Node::Kind::null) {
        return take_place(*entry, Path(keys).subspan(i), value);
      }
      if (is_before(entry->value.at, entry->key_at)) {
        return fail(value.path, "an alias of another place in the file; write it out first");
      }
      if (i + 1 == keys.size()) return replace(*map, entry->value, value);
      map = &entry->value;
    }
  }

  [[nodiscard]] bool is_flow(const Node& map) const {
    const std::string& line = lines_[static_cast<std::size_t>(map.at.line - 1)];
    const auto column = static_cast<std::size_t>(map.at.column - 1);
    return column < line.size() && line[column] == '{';
  }

  LineChange& change_at(const SourcePosition& at) {
    return changes_[static_cast<std::size_t>(at.line - 1)];
  }

  void replace(const Node& map, const Node& old, const NewValue& value) {
    if (old.kind != Node::Kind::scalar) return fail(value.path, "not a single value in the file");
    LineChange& change = change_at(old.at);
    change.values.push_back({.column = static_cast<std::size_t>(old.at.column - 1),
                             .size = old.text.size(),
                             .text = value.text});
    comment(change, value.comment);
    // Of a map on one line, the comment is of all its values.
    if (is_flow(map) && replaced_.insert(map.at.line).second) {
      change.keys_left += map.entries.size();
    }
    if (is_flow(map)) --change.keys_left;
  }

  static void comment(LineChange& change, const std::string& text) {
    if (std::find(change.comments.begin(), change.comments.end(), text) == change.comments.end()) {
      change.comments.push_back(text);
    }
  }

  static void comments_of(const std::vector<NewKey>& keys, LineChange& change) {
    for (const NewKey& key : keys) {
      if (key.below.empty()) comment(change, key.comment);
      comments_of(key.below, change);
    }
  }

  void add(const Node& map, Path path, const NewValue& value) {
    if (map.entries.empty() && !is_flow(map)) return fail(value.path, "the file contains no keys");
    Missing& missing = missing_[{map.at.line, map.at.column}];
    missing.map = &map;
    put(missing.keys, path, value);
  }

  void take_place(const Entry& nothing, Path path, const NewValue& value) {
    Missing& missing = missing_[{nothing.key_at.line, nothing.key_at.column}];
    missing.nothing = &nothing;
    put(missing.keys, path, value);
  }

  void insert(const Missing& missing) {
    if (missing.nothing != nullptr) return insert_for(*missing.nothing, missing.keys);
    const Node& map = *missing.map;
    if (is_flow(map)) {
      LineChange& change = change_at(map.at);
      change.values.push_back(
          {.column = static_cast<std::size_t>(map.at.column),
           .size = 0,
           .text = flow_text(missing.keys) + (map.entries.empty() ? "" : ", ")});
      comments_of(missing.keys, change);
      if (!replaced_.contains(map.at.line)) change.keys_left += map.entries.size();
      return;
    }
    const auto indent = static_cast<std::size_t>(map.entries.front().key_at.column - 1);
    Block block{.indent = indent, .lines = {}};
    add_block(missing.keys, indent, block.lines);
    changes_[end_of(map)].added.push_back(std::move(block));
  }

  // "key: ~", or nothing behind the colon.
  void insert_for(const Entry& entry, const std::vector<NewKey>& keys) {
    const std::string& line = lines_[static_cast<std::size_t>(entry.key_at.line - 1)];
    const auto colon = line.find(':', static_cast<std::size_t>(entry.key_at.column - 1));
    const auto from = std::min(line.find_first_not_of(' ', colon + 1), line.size());
    const bool written = from < line.size() && line[from] != '#';
    const auto until = std::min(line.find_first_of(" ,}", from), line.size());
    const NewKey& key = keys.front();
    LineChange& change = change_at(entry.key_at);
    change.values.push_back(
        {.column = written ? from : colon + 1,
         .size = written ? until - from : 0,
         .text = (written ? "" : " ") +
                 (key.below.empty() ? key.text : "{" + flow_text(key.below) + "}")});
    comments_of(keys, change);
  }

  // The last line of a map in block style, with all that belongs to it: the rest of a map or a list
  // in brackets, and of a comment.
  [[nodiscard]] std::size_t end_of(const Node& map) const {
    const auto last = static_cast<std::size_t>(last_line(map) - 1);
    int open = 0;
    std::size_t line = static_cast<std::size_t>(map.at.line - 1);
    for (; line < lines_.size(); ++line) {
      const std::string plain = lines_[line].substr(0, comment_at(lines_[line]));
      for (const char c : plain) {
        if (c == '{' || c == '[') ++open;
        if (c == '}' || c == ']') --open;
      }
      if (line >= last && open <= 0) break;
    }
    while (line + 1 < lines_.size() && continues_comment(lines_[line + 1])) ++line;
    return std::min(line, lines_.size() - 1);
  }

  void apply(std::size_t number, LineChange& change) {
    // What belongs to a map further in comes first.
    std::stable_sort(change.added.begin(), change.added.end(),
                     [](const Block& a, const Block& b) { return a.indent > b.indent; });
    auto behind = lines_.begin() + static_cast<std::ptrdiff_t>(number + 1);
    for (const Block& block : change.added) {
      behind = lines_.insert(behind, block.lines.begin(), block.lines.end()) +
               static_cast<std::ptrdiff_t>(block.lines.size());
    }
    if (change.values.empty()) return;
    std::string& edited = lines_[number];
    const std::size_t at = comment_at(edited);
    const std::string old = at == std::string::npos ? "" : edited.substr(at);
    edited.erase(std::min(at, edited.size()));
    edited.erase(edited.find_last_not_of(' ') + 1);
    std::sort(change.values.begin(), change.values.end(),
              [](const Replacement& a, const Replacement& b) { return a.column > b.column; });
    for (const Replacement& value : change.values) {
      edited.replace(value.column, value.size, value.text);
    }
    const bool comments = std::any_of(change.comments.begin(), change.comments.end(),
                                      [](const std::string& text) { return !text.empty(); });
    const bool stays = !old.empty() && (change.keys_left > 0 || !comments);
    if (stays) {
      const std::string text = old.substr(std::min(old.find_first_not_of("# "), old.size()));
      change.comments.push_back(comments ? "the others: " + text : text);
    }
    edited = with_comment(std::move(edited), change.comments);
    if (stays || old.empty()) return;
    // What the old comment goes on with is further in than any key.
    while (number + 1 < lines_.size() && continues_comment(lines_[number + 1])) {
      lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(number + 1));
    }
  }

  std::vector<std::string> lines_;
  Diagnostics& problems_;
  std::string file_;
  std::optional<Node> tree_;
  std::map<std::size_t, LineChange> changes_;       // by line, from 0
  std::map<std::pair<int, int>, Missing> missing_;  // by line and column of what lacks them
  std::set<int> replaced_;                          // lines whose map had a value replaced
};

}  // namespace

std::string with_values(std::string_view text, std::string_view file,
                        const std::vector<NewValue>& values, Diagnostics& problems) {
  return Editor(text, file, problems).edit(values);
}

}  // namespace weft
