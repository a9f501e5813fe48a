#include "sim/spec/parsed_texts.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace weft {
namespace {

class ParsedTexts {
 public:
  std::optional<Node> find(const SourceText& source) {
    const std::lock_guard lock(guard_);
    const auto found = trees_.find(source.file);
    if (found == trees_.end() || found->second.text != source.text) return std::nullopt;
    return found->second.tree;
  }

  // The last text of a file; the files that came first give way.
  void put(const SourceText& source, const Node& tree) {
    const std::lock_guard lock(guard_);
    const auto [known, added] = trees_.try_emplace(source.file);
    if (added) in_order_.push_back(source.file);
    known->second = {.text = std::string(source.text), .tree = tree};
    if (trees_.size() <= kMost) return;
    trees_.erase(in_order_.front());
    in_order_.pop_front();
  }

 private:
  static constexpr std::size_t kMost = 64;  // files; a scenario and its bases are about ten
  struct Parsed {
    std::string text;
    Node tree;
  };
  std::mutex guard_;
  std::map<std::string, Parsed, std::less<>> trees_;  // by file
  std::deque<std::string> in_order_;                  // of their arrival
};

// Texts of the command line have no lines, and positions of their own.
bool is_worth_it(const SourceText& source) {
  return source.has_lines && source.longest == kMaxSourceBytes;
}

}  // namespace

std::optional<Node> parse_or_remember(const SourceText& source, Diagnostics& problems) {
  static ParsedTexts known;
  if (!is_worth_it(source)) return parse_tree(source, problems);
  if (std::optional<Node> tree = known.find(source)) return tree;
  std::optional<Node> tree = parse_tree(source, problems);
  if (tree) known.put(source, *tree);
  return tree;
}

}  // namespace weft
