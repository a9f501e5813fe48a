// Tree: a YAML text as plain nodes, each with its position. Only tree.cc knows the YAML library.
//
// Stricter than YAML: equal keys in one map, keys that are not plain words, tags, merge keys and
// a second document are errors. Anchors and aliases work. Size and depth are bounded, so that no
// file, however hostile, can hang or exhaust the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  SourcePosition at;
  std::string text;            // scalar
  std::vector<Node> items;     // list
  std::vector<Entry> entries;  // map, in the order of the file
  bool replaces =
      false;  // laid over another map (overlay.h), it takes its place instead of merging
  bool incomplete = false;  // its base could not be read: keys may be missing without a mistake
  std::vector<Node> later = {};  // of a root: to be laid over it when all bases are read

  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  SourcePosition key_at;
  Node value;
};

Node node_at(SourcePosition at, Node::Kind kind = Node::Kind::null, std::string text = "");

// A relative path starts from the folder of the file that says it; on the command line, from the
// working folder.
std::filesystem::path path_from(const SourcePosition& said_at, const std::string& path);

// "a map", "a list", "a value", "nothing": for messages.
std::string_view kind_text(const Node& node);

constexpr std::size_t kMaxSourceBytes = 256 * 1024;

struct SourceText {
  std::string file;  // as messages name it
  std::string_view text;
  bool has_lines = true;                  // false: from the command line, positions are line 0
  std::size_t longest = kMaxSourceBytes;  // of the text
};

// The tree of `source`, or nothing and at least one error in `problems`.
std::optional<Node> parse_tree(const SourceText& source, Diagnostics& problems);

}  // namespace weft
