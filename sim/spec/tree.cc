#include "sim/spec/tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxKeys = 1'000;  // of one map: duplicates are looked for one by one
// Nodes and letters, aliases counted as often as used; of texts that may be longer than usual as
// many times more.
constexpr std::size_t kMaxWeight = 400'000;

struct Rejected {  // thrown out of the handler, caught in parse_tree
  SourcePosition at;
  std::string message;
};

std::size_t weight(const Node& node) {
  std::size_t sum = 1 + node.text.size();
  for (const Node& item : node.items) sum += weight(item);
  for (const Entry& entry : node.entries) sum += entry.key.size() + weight(entry.value);
  return sum;
}

std::size_t height(const Node& node) {
  std::size_t most = 0;
  for (const Node& item : node.items) most = std::max(most, height(item));
  for (const Entry& entry : node.entries) most = std::max(most, height(entry.value));
  return most + 1;
}

// Builds the tree from the library's events: it never sees the library's own nodes, which merge
// equal keys silently and have no position where a key is missing.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const SourceText& source) : source_(source) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override { root_.at = position(mark); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(node_at(position(mark)), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Rejected{position(mark), "this alias names a map or list that contains it"};
    }
    if (open_.size() + height(found->second) > kMaxDepth) reject_depth(position(mark));
    finish(found->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    finish(node_at(position(mark), Node::Kind::scalar, value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // map: the last entry waits for its value
  };

  [[nodiscard]] SourcePosition position(const YAML::Mark& mark) const {
    if (!source_.has_lines) return {.file = source_.file};
    return {.file = source_.file, .line = mark.line + 1, .column = mark.column + 1};
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;  // "?": none given, "!": quoted
    throw Rejected{position(mark), "tags such as '" + tag + "' are not used here; remove it"};
  }

  [[noreturn]] static void reject_depth(const SourcePosition& at) {
    throw Rejected{at, "nested deeper than " + std::to_string(kMaxDepth) + " levels"};
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             Node::Kind kind) {
    refuse_tag(mark, tag);
    if (open_.size() >= kMaxDepth) reject_depth(position(mark));
    open_.push_back({.node = node_at(position(mark), kind), .anchor = anchor});
  }

  void end() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    finish(std::move(closed.node), closed.anchor);
  }

  void finish(Node node, YAML::anchor_t anchor) {
    weight_ += weight(node);  // a container counts once a level above: at most kMaxDepth times
    if (weight_ * kMaxSourceBytes > kMaxWeight * source_.longest) {
      throw Rejected{node.at, "too much text once aliases are expanded"};
    }
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      add_key(parent, std::move(node));
    } else {
      Entry& entry = parent.node.entries.back();
      if (node.kind == Node::Kind::null) node.at = entry.key_at;  // the mark may be a line later
      entry.value = std::move(node);
      parent.has_key = false;
    }
  }

  static void add_key(Open& parent, Node key) {
    if (key.kind != Node::Kind::scalar || key.text.empty()) {
      throw Rejected{key.at, "a key must be a word, not " + std::string(kind_text(key))};
    }
    if (key.text == "<<") {
      throw Rejected{key.at, "merge keys ('<<') are not used here; write base: NAME"};
    }
    if (const Entry* first = parent.node.find(key.text)) {
      std::string place = "on the same command line";
      if (first->key_at.line > 0) {
        place = "at " + first->key_at.file + ':' + std::to_string(first->key_at.line) + ':' +
                std::to_string(first->key_at.column);
      }
      throw Rejected{key.at, "key '" + key.text + "' is given twice, first " + place};
    }
    if (parent.node.entries.size() >= kMaxKeys) {
      throw Rejected{key.at, "more than " + std::to_string(kMaxKeys) + " keys in one map"};
    }
    parent.node.entries.push_back({.key = std::move(key.text), .key_at = key.at, .value = {}});
    parent.has_key = true;
  }

  const SourceText& source_;
  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t weight_ = 0;
};

// Bytes that no file needs and that confuse terminals or the library.
std::optional<Rejected> unreadable_byte(const SourceText& source) {
  SourcePosition at{.file = source.file, .line = 1, .column = 0};
  for (const char c : source.text) {
    const auto byte = static_cast<unsigned char>(c);
    ++at.column;
    const bool control = (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
    const bool not_utf8 = byte == 0xc0 || byte == 0xc1 || byte >= 0xf5;
    if (control || not_utf8) {
      if (!source.has_lines) at.line = at.column = 0;
      return Rejected{at, control ? "a control character; write plain text"
                                  : "not UTF-8 text; save the file as UTF-8"};
    }
    if (c == '\n') {
      ++at.line;
      at.column = 0;
    }
  }
  return std::nullopt;
}

bool indented_with_tab(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const auto indent = text.find_first_not_of(" \t");
  return text.substr(0, indent).find('\t') != std::string_view::npos;
}

Rejected syntax_error(const SourceText& source, const YAML::Exception& problem) {
  SourcePosition at{.file = source.file};
  if (source.has_lines) {
    at.line = std::max(problem.mark.line, 0) + 1;
    at.column = std::max(problem.mark.column, 0) + 1;
  }
  std::string message = "not valid YAML: " + problem.msg;
  if (source.has_lines && indented_with_tab(source.text, at.line)) {
    message += " (the line starts with a tab; indent with spaces)";
  }
  return {at, message};
}

Node parse_or_throw(const SourceText& source) {
  if (source.text.size() > source.longest) {
    throw Rejected{{.file = source.file},
                   "larger than " + std::to_string(source.longest / 1024) + " KiB"};
  }
  if (auto rejected = unreadable_byte(source)) throw *std::move(rejected);

  std::istringstream stream{std::string(source.text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(source);
  if (!parser.HandleNextDocument(builder)) {
    const int first = source.has_lines ? 1 : 0;
    return node_at({.file = source.file, .line = first, .column = first});
  }
  Node root = builder.take();
  TreeBuilder second(source);
  if (parser.HandleNextDocument(second)) {
    throw Rejected{second.take().at, "a second YAML document; a file may contain only one"};
  }
  return root;
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Entry* Node::find(std::string_view key) {
  return const_cast<Entry*>(std::as_const(*this).find(key));
}

Node node_at(SourcePosition at, Node::Kind kind, std::string text) {
  Node node;
  node.kind = kind;
  node.at = std::move(at);
  node.text = std::move(text);
  return node;
}

std::filesystem::path path_from(const SourcePosition& said_at, const std::string& path) {
  const std::filesystem::path file = said_at.line > 0 ? said_at.file : "";
  return (file.parent_path() / path).lexically_normal();
}

std::string_view kind_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a value";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "nothing";
}

std::optional<Node> parse_tree(const SourceText& source, Diagnostics& problems) {
  Rejected rejected;
  try {
    return parse_or_throw(source);
  } catch (const Rejected& problem) {
    rejected = problem;
  } catch (const YAML::Exception& problem) {
    rejected = syntax_error(source, problem);
  }
  if (rejected.at.line > 0) rejected.message += "; nothing after this was read";
  problems.add({.at = rejected.at, .path = "", .message = rejected.message, .source_line = ""});
  return std::nullopt;
}

}  // namespace weft
