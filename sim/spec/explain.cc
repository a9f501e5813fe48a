#include "sim/spec/explain.h"

#include <algorithm>

#include "sim/core/diagnostics.h"

namespace weft {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::string_view kIndent = "    ";
constexpr std::string_view kIndentWord = "      ";

// `text` in lines of their own, broken between words.
std::string indented(std::string_view text, std::string_view indent = kIndent) {
  std::string lines;
  std::size_t column = kColumns;  // the first word starts a line
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (column + 1 + length > kColumns) {
      lines += (lines.empty() ? "" : "\n") + std::string(indent);
      column = indent.size();
    } else {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, length);
    column += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines + '\n';
}

std::string facts_of(const KeyDoc& key) {
  std::string facts = key.type;
  if (!key.units.empty()) facts += " (" + key.units + ")";
  const bool given = key.fallback == "required" || key.fallback == "optional";
  facts += (given ? "; " : "; default: ") + key.fallback;
  if (!key.low.empty()) facts += "; " + key.low + " .. " + key.high;
  if (!key.only.empty()) facts += "; only with " + key.only;
  return facts;
}

std::string_view last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool is_below(std::string_view path, std::string_view map) {
  return path.size() > map.size() && path.starts_with(map) &&
         (path[map.size()] == '.' || path[map.size()] == '[');
}

constexpr std::string_view kElement = "[]";

// Elements of lists, by whatever number, as their keys name them.
std::string as_described(std::string_view path) {
  std::string described;
  for (bool is_first = true, more = true; more; is_first = false) {
    const std::size_t length = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, length);
    more = length < path.size();
    path.remove_prefix(more ? length + 1 : length);
    const bool is_element = !is_first && !part.empty() &&
                            part.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_element) {
      described += kElement;
    } else {
      described += (is_first ? "" : ".") + std::string(part);
    }
  }
  return described;
}

// The keys of this name in the nearest map around `path` that has any below it.
std::vector<std::string> of_the_same_name(const std::vector<KeyDoc>& keys, std::string_view path) {
  const std::string_view name = last_part(path);
  std::string_view around = path;
  std::vector<std::string> found;
  while (found.empty() && !around.empty()) {
    const auto dot = around.rfind('.');
    around = dot == std::string_view::npos ? std::string_view() : around.substr(0, dot);
    for (const KeyDoc& key : keys) {
      if (last_part(key.path) != name) continue;
      if (around.empty() || is_below(key.path, around)) found.push_back(key.path);
    }
  }
  return found;
}

}  // namespace

std::vector<KeyDoc> keys_at(const std::vector<KeyDoc>& keys, std::string_view path) {
  std::vector<KeyDoc> found;
  const auto find = [&](const std::string& described) {
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(found), [&](const KeyDoc& key) {
      return described.empty() || key.path == described || is_below(key.path, described);
    });
  };
  std::string described = as_described(path);
  find(described);
  // An element of a list of values, or of lists of them, has no keys of its own.
  while (found.empty() && described.ends_with(kElement)) {
    described.resize(described.size() - kElement.size());
    find(described);
  }
  return found;
}

std::string explain_text(const std::vector<KeyDoc>& keys) {
  std::string text;
  for (const KeyDoc& key : keys) {
    text +=
        (text.empty() ? "" : "\n") + key.path + '\n' + indented(facts_of(key)) + indented(key.help);
    for (const WordDoc& word : key.words) {
      if (!word.meaning.empty()) text += indented(word.word + ": " + word.meaning, kIndentWord);
    }
  }
  return text;
}

std::string meanings_text(const KeyDoc& key) {
  std::string text;
  for (const WordDoc& word : key.words) {
    if (word.meaning.empty()) continue;
    text += (text.empty() ? "" : "; ") + word.word + ": " + word.meaning;
  }
  return text;
}

std::string no_such_key(const std::vector<KeyDoc>& keys, std::string_view path) {
  constexpr std::size_t kListed = 6;
  std::vector<std::string> meant = of_the_same_name(keys, path);
  if (meant.empty()) {
    std::vector<std::string> paths;
    paths.reserve(keys.size());
    for (const KeyDoc& key : keys) paths.push_back(key.path);
    if (std::string guess = nearest(path, paths); !guess.empty()) meant = {std::move(guess)};
  }
  std::string message = "there is no such key";
  if (meant.empty()) {
    message += "; the keys are:";
    for (const KeyDoc& key : keys) {
      if (key.path.find('.') == std::string::npos) message += ' ' + key.path;
    }
    return message;
  }
  message += meant.size() == 1 ? "; did you mean" : "; did you mean one of";
  for (std::size_t i = 0; i < std::min(meant.size(), kListed); ++i) message += ' ' + meant[i];
  return message + (meant.size() > kListed ? " ...?" : "?");
}

}  // namespace weft
