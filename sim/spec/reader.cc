#include "sim/spec/reader.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> names_of(const std::vector<WordDoc>& words) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const WordDoc& word : words) names.push_back(word.word);
  return names;
}

std::string joined(const std::vector<WordDoc>& words) { return joined(names_of(words)); }

}  // namespace

void Reading::error(const SourcePosition& at, const std::string& path, std::string message) {
  bad_.insert(path);
  problems_.add({.at = at, .path = path, .message = std::move(message), .source_line = ""});
}

SourcePosition Reading::place_of(const std::string& path) const {
  std::string around = path;
  while (!around.empty() && !places_.contains(around)) {
    const auto dot = around.rfind('.');
    around.resize(dot == std::string::npos ? 0 : dot);
  }
  const auto place = places_.find(around);
  return place == places_.end() ? SourcePosition{} : place->second;
}

void Reading::error_at_key(const std::string& path, std::string message) {
  error(place_of(path), path, std::move(message));
}

void Reading::error_at_one_of(const std::vector<std::string>& paths, std::string message) {
  const auto rank = [this](const std::string& path) {
    const std::string file = place_of(path).file;
    return file.starts_with("--set ") ? 0 : file == own_ ? 1 : 2;
  };
  const auto last = std::min_element(
      paths.begin(), paths.end(),
      [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  for (const std::string& path : paths) bad_.insert(path);
  error_at_key(*last, std::move(message));
}

void Reading::warn_at_key(const std::string& path, std::string message) {
  problems_.add({.at = place_of(path),
                 .path = path,
                 .message = std::move(message),
                 .source_line = "",
                 .severity = Severity::warning});
}

bool Reading::good(std::span<const std::string_view> paths) const {
  const auto is_good = [this](std::string_view path) {
    while (!bad_.contains(path)) {
      const auto dot = path.rfind('.');
      if (dot == std::string_view::npos) return !bad_.contains("");
      path = path.substr(0, dot);
    }
    return false;
  };
  return std::all_of(paths.begin(), paths.end(), is_good);
}

bool Reading::good_within(std::span<const std::string_view> paths) const {
  const auto is_good = [this](std::string_view path) {
    const auto inside = bad_.lower_bound(std::string(path) + '.');
    return inside == bad_.end() || !inside->starts_with(std::string(path) + '.');
  };
  return good(paths) && std::all_of(paths.begin(), paths.end(), is_good);
}

MapReader::MapReader(Reading& reading, const Node& root) : MapReader(reading, &root, "", root.at) {
  if (root.kind != Node::Kind::map) node_ = nullptr;
  reading.places_[""] = root.at;
}

MapReader::MapReader(Reading& reading, const Node* node, std::string path, SourcePosition at)
    : reading_(&reading), node_(node), path_(std::move(path)), at_(std::move(at)) {
  keys_ = &reading.keys_.emplace_back();
  incomplete_ = node != nullptr && node->incomplete;
  if (incomplete_) reading.bad_.insert(path_);
}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
}

// Without texts where nobody will read them, for points of sweeps are many: the key is given, or
// means nothing here.
KeyDoc MapReader::doc(std::string_view key, std::string_view type, std::string_view help) const {
  const Entry* entry = node_ == nullptr ? nullptr : node_->find(key);
  const bool given = entry != nullptr && entry->value.kind != Node::Kind::null;
  if (!reading_->describes() && (given || state_ != State::reading)) {
    KeyDoc nothing;
    nothing.path = path_of(key);
    return nothing;
  }
  return {.path = path_of(key),
          .type = std::string(type),
          .units = "",
          .fallback = "required",
          .help = std::string(help),
          .only = only_,
          .only_key = only_key_,
          .only_words = only_words_,
          .low = "",
          .high = "",
          .words = {}};
}

// The entry of `key`, if it has a value and this map may have it.
const Entry* MapReader::find(std::string_view key, const KeyDoc& doc, Missing missing) {
  (state_ == State::elsewhere ? keys_->elsewhere : keys_->here).emplace_back(key);
  if (reading_->describes()) {
    reading_->docs_.push_back(doc);
    return nullptr;
  }
  if (state_ == State::absent || state_ == State::unsure) return nullptr;
  const Entry* entry = node_ == nullptr ? nullptr : node_->find(key);
  const bool given = entry != nullptr && entry->value.kind != Node::Kind::null;
  if (state_ == State::elsewhere) {
    if (given)
      reading_->error(entry->key_at, doc.path,
                      "only for " + only_ + "; remove it, or if it comes from a base write '" +
                          std::string(key) + ": ~'");
    return nullptr;
  }
  if (given) {
    reading_->places_[doc.path] = entry->key_at;
    return entry;
  }
  if (missing == Missing::required && !incomplete_) {
    reading_->error(entry == nullptr ? at_ : entry->key_at, doc.path, "required: " + doc.help);
  }
  return nullptr;
}

const Node* MapReader::scalar(std::string_view key, const KeyDoc& doc, Missing missing) {
  const Entry* entry = find(key, doc, missing);
  if (entry == nullptr) return nullptr;
  if (entry->value.kind != Node::Kind::scalar) {
    reading_->error(entry->value.at, doc.path,
                    "must be a single value, not " + std::string(kind_text(entry->value)));
    return nullptr;
  }
  return &entry->value;
}

std::optional<std::size_t> MapReader::index_of(const Node& node, const std::string& path,
                                               const std::vector<WordDoc>& words) {
  const std::vector<std::string> names = names_of(words);
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (node.kind == Node::Kind::scalar && found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  std::string message = "must be one of " + joined(names) + ", not ";
  if (node.kind == Node::Kind::scalar) {
    message += '\'' + node.text + '\'';
    const std::string guess = nearest(node.text, names);
    if (!guess.empty()) message += "; did you mean '" + guess + "'?";
  } else {
    message += kind_text(node);
  }
  reading_->error(node.at, path, message);
  return std::nullopt;
}

std::optional<std::size_t> MapReader::one_of(std::string_view key,
                                             const std::vector<WordDoc>& words,
                                             std::string_view fallback, std::string_view help) {
  KeyDoc key_doc = doc(key, "one of", help);
  if (!key_doc.help.empty()) {
    key_doc.type += ' ' + joined(words);
    key_doc.words = words;
    if (!fallback.empty()) key_doc.fallback = fallback;
    if (!reading_->describes()) key_doc.help += "; one of " + joined(words);
  }
  const Missing missing = fallback.empty() ? Missing::required : Missing::fine;
  const Node* node = scalar(key, key_doc, missing);
  if (node == nullptr) return std::nullopt;
  return index_of(*node, key_doc.path, words);
}

std::optional<std::vector<std::size_t>> MapReader::several_of(std::string_view key,
                                                              const std::vector<WordDoc>& words,
                                                              std::string_view fallback,
                                                              std::string_view help) {
  KeyDoc key_doc = doc(key, "list of " + joined(words), help);
  key_doc.words = words;
  key_doc.fallback = fallback;
  const Entry* entry = find(key, key_doc, Missing::fine);
  if (entry == nullptr) return std::nullopt;
  if (entry->value.kind != Node::Kind::list || entry->value.items.empty()) {
    reading_->error(entry->value.at, key_doc.path,
                    "must be a list, for example [" + words.front().word + "]");
    return std::nullopt;
  }
  return indices_of(entry->value, key_doc.path, words);
}

std::vector<std::size_t> MapReader::indices_of(const Node& list, const std::string& path,
                                               const std::vector<WordDoc>& words) {
  std::vector<std::size_t> indices;
  for (const Node& item : list.items) {
    const auto index = index_of(item, path, words);
    if (!index) continue;
    if (std::find(indices.begin(), indices.end(), *index) != indices.end()) {
      reading_->error(item.at, path, "'" + item.text + "' is given twice");
      continue;
    }
    indices.push_back(*index);
  }
  return indices;
}

MapReader::WordOrIndices MapReader::word_or_several_of(std::string_view key,
                                                       const std::vector<WordDoc>& words,
                                                       const std::vector<WordDoc>& several,
                                                       std::string_view help) {
  KeyDoc key_doc = doc(key, "one of " + joined(words) + "; or a list of " + joined(several), help);
  key_doc.fallback = words.front().word;
  key_doc.words = words;
  key_doc.words.insert(key_doc.words.end(), several.begin(), several.end());
  WordOrIndices read;
  const Entry* entry = find(key, key_doc, Missing::fine);
  if (entry == nullptr) return read;
  const Node& node = entry->value;
  if (node.kind == Node::Kind::list && !node.items.empty()) {
    read.indices = indices_of(node, key_doc.path, several);
    return read;
  }
  read.word = index_of(node, key_doc.path, words).value_or(0);
  return read;
}

MapReader MapReader::child(std::string_view key, const Entry* entry) {
  const Node* node = entry == nullptr ? nullptr : &entry->value;
  const SourcePosition at = entry == nullptr ? at_ : entry->key_at;
  MapReader reader(*reading_, node, path_of(key), at);
  if (node == nullptr) reader.state_ = State::absent;
  if (node != nullptr && node->kind != Node::Kind::map) {
    reading_->error(node->at, reader.path_,
                    "must be a map of keys and values, not " + std::string(kind_text(*node)));
    reader.state_ = State::absent;
  }
  reader.only_ = only_;
  reader.incomplete_ = reader.incomplete_ || incomplete_;
  return reader;
}

MapReader MapReader::map(std::string_view key, std::string_view help) {
  const KeyDoc key_doc = doc(key, "map", help);
  return child(key, find(key, key_doc, Missing::required));
}

MapReader MapReader::map_of_defaults(std::string_view key, std::string_view help) {
  KeyDoc key_doc = doc(key, "map", help);
  key_doc.fallback = "optional";
  return child(key, find(key, key_doc, Missing::fine));
}

std::optional<MapReader> MapReader::optional_map(std::string_view key, std::string_view help) {
  KeyDoc key_doc = doc(key, "map", help);
  key_doc.fallback = "optional";
  const Entry* entry = find(key, key_doc, Missing::fine);
  if (entry == nullptr && !reading_->describes()) return std::nullopt;
  return child(key, entry);
}

MapReader MapReader::where(std::optional<bool> applies, std::string_view only) {
  return where(applies, only, "", {});
}

MapReader MapReader::where(std::optional<bool> applies, std::string_view only, std::string_view key,
                           std::vector<std::string> words) {
  MapReader same = *this;
  same.only_ = only;
  same.only_key_ = key;
  same.only_words_ = std::move(words);
  if (state_ == State::reading) {
    same.state_ = !applies ? State::unsure : *applies ? State::reading : State::elsewhere;
  }
  return same;
}

void MapReader::finish() {
  if (node_ == nullptr || node_->kind != Node::Kind::map || state_ != State::reading) return;
  for (const Entry& entry : node_->entries) {
    if (contains(keys_->here, entry.key) || contains(keys_->elsewhere, entry.key)) continue;
    std::string message = "unknown key";
    std::string guess = nearest(entry.key, keys_->here);
    if (guess.empty()) guess = nearest(entry.key, keys_->elsewhere);
    if (!guess.empty()) message += "; did you mean '" + guess + "'?";
    message += (guess.empty() ? "; known here: " : " Known here: ") + joined(keys_->here);
    reading_->error(entry.key_at, path_of(entry.key), message);
  }
}

}  // namespace weft
