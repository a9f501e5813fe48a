#include "sim/scenario/edit.h"

#include <algorithm>
#include <map>
#include <optional>

#include "sim/scenario/tree.h"

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

class Editor {
 public:
  Editor(std::string_view text, std::string_view file, Diagnostics& problems)
      : lines_(lines_of(text)), problems_(problems), file_(file) {
    tree_ = parse_tree({.file = file_, .text = text}, problems);
  }

  std::string edit(const std::vector<NewValue>& values) {
    if (!tree_) return "";
    for (const NewValue& value : values) set(value);
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
  struct LineChange {
    std::vector<Replacement> values;
    std::vector<std::string> comments;
    std::vector<std::string> added;  // whole lines behind this one
  };

  void fail(const std::string& path, std::string message) {
    Diagnostic problem;
    problem.at.file = file_;
    problem.path = path;
    problem.message = std::move(message);
    problems_.add(std::move(problem));
  }

  void set(const NewValue& value) {
    const Node* map = &*tree_;
    std::string_view rest = value.path;
    for (;;) {
      const auto dot = rest.find('.');
      const Entry* entry = map->find(rest.substr(0, dot));
      if (entry == nullptr) {
        if (dot == std::string_view::npos) return add(value, *map, std::string(rest));
        return fail(value.path, "no such map in the file: nothing to write the value into");
      }
      map = &entry->value;
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    if (map->kind != Node::Kind::scalar) return fail(value.path, "not a plain value in the file");
    const auto line = static_cast<std::size_t>(map->at.line - 1);
    LineChange& change = changes_[line];
    change.values.push_back({.column = static_cast<std::size_t>(map->at.column - 1),
                             .size = map->text.size(),
                             .text = value.text});
    comment(change, value.comment);
  }

  static void comment(LineChange& change, const std::string& text) {
    if (std::find(change.comments.begin(), change.comments.end(), text) == change.comments.end()) {
      change.comments.push_back(text);
    }
  }

  void add(const NewValue& value, const Node& map, const std::string& key) {
    const bool block = map.kind == Node::Kind::map && !map.entries.empty() &&
                       std::all_of(map.entries.begin(), map.entries.end(), [&](const Entry& e) {
                         return e.key_at.column == map.entries.front().key_at.column;
                       });
    if (!block) return fail(value.path, "its map is not there in block style: nowhere to add it");
    const Entry& last = map.entries.back();
    const int line = std::max(last.value.at.line, last.key_at.line) - 1;
    const std::string indent(static_cast<std::size_t>(last.key_at.column - 1), ' ');
    changes_[static_cast<std::size_t>(line)].added.push_back(
        with_comment(indent + key + ": " + value.text, {value.comment}));
  }

  static std::string with_comment(std::string line, const std::vector<std::string>& comments) {
    constexpr std::size_t kCommentColumn = 28;
    line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
    line += "# ";
    for (std::size_t i = 0; i < comments.size(); ++i) line += (i > 0 ? "; " : "") + comments[i];
    return line;
  }

  void apply(std::size_t number, LineChange& change) {
    const std::size_t next = number + 1;
    if (!change.values.empty() && comment_at(lines_[number]) != std::string::npos) {
      // What the old comment goes on with is further in than any key.
      while (next < lines_.size() && continues_comment(lines_[next])) {
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(next));
      }
    }
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(number + 1), change.added.begin(),
                  change.added.end());
    if (change.values.empty()) return;
    std::string& edited = lines_[number];
    edited.erase(std::min(comment_at(edited), edited.size()));
    edited.erase(edited.find_last_not_of(' ') + 1);
    std::sort(change.values.begin(), change.values.end(),
              [](const Replacement& a, const Replacement& b) { return a.column > b.column; });
    for (const Replacement& value : change.values) {
      edited.replace(value.column, value.size, value.text);
    }
    edited = with_comment(std::move(edited), change.comments);
  }

  std::vector<std::string> lines_;
  Diagnostics& problems_;
  std::string file_;
  std::optional<Node> tree_;
  std::map<std::size_t, LineChange> changes_;  // by line, from 0
};

}  // namespace

std::string with_values(std::string_view text, std::string_view file,
                        const std::vector<NewValue>& values, Diagnostics& problems) {
  return Editor(text, file, problems).edit(values);
}

}  // namespace weft
