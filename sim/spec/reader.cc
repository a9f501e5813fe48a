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

}  // namespace

std::size_t WordTable::find(std::string_view word) const {
  std::size_t index = 0;
  while (index < size_ && name(index) != word) ++index;
  return index;
}

std::vector<std::string> WordTable::names() const {
  std::vector<std::string> names;
  names.reserve(size_);
  for (std::size_t i = 0; i < size_; ++i) names.emplace_back(name(i));
  return names;
}

std::string WordTable::text() const { return joined(names()); }

void WordTable::describe(std::vector<WordDoc>& docs) const {
  for (std::size_t i = 0; i < size_; ++i) {
    docs.push_back({std::string(name(i)), std::string(meaning(i))});
  }
}

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

bool Reading::is_set(const std::string& path) const {
  return place_of(path).file.starts_with("--set ");
}

void Reading::error_at_one_of(const std::vector<std::string>& paths, std::string message) {
  const auto rank = [this](const std::string& path) {
    if (is_set(path)) return 0;
    return place_of(path).file == own_ ? 1 : 2;
  };
  const auto last = std::min_element(
      paths.begin(), paths.end(),
      [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  for (const std::string& path : paths) bad_.insert(path);
  if (paths.size() > 1) message += "; see also " + paths[last == paths.begin() ? 1 : 0];
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

void MapReader::describe(std::string_view key, std::string_view type, std::string_view help,
                         const std::function<void(KeyDoc&)>& more) {
  KeyDoc doc{.path = path_of(key),
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
  if (more) more(doc);
  reading_->docs_.push_back(std::move(doc));
}

void MapReader::fail(const Node& node, std::string_view key, std::string message) {
  reading_->error(node.at, path_of(key), std::move(message));
}

const Entry* MapReader::find(std::string_view key, Missing missing, const Required& required) {
  (state_ == State::elsewhere ? keys_->elsewhere : keys_->here).emplace_back(key);
  if (state_ == State::absent || state_ == State::unsure) return nullptr;
  const Entry* entry = node_ == nullptr ? nullptr : node_->find(key);
  const bool given = entry != nullptr && entry->value.kind != Node::Kind::null;
  if (state_ == State::elsewhere) {
    if (given)
      reading_->error(entry->key_at, path_of(key),
                      "only for " + only_ + "; remove it, or if it comes from a base write '" +
                          std::string(key) + ": ~'");
    return nullptr;
  }
  if (given) {
    reading_->places_[path_of(key)] = entry->key_at;
    return entry;
  }
  if (missing == Missing::required && !incomplete_) {
    std::string message = "required: " + std::string(required.help);
    if (!required.example.empty()) {
      message += ", for example '" + std::string(key) + ": " + std::string(required.example) + "'";
    }
    if (required.words != nullptr) message += "; one of " + required.words->text();
    reading_->error(entry == nullptr ? at_ : entry->key_at, path_of(key), message);
  }
  return nullptr;
}

const Node* MapReader::scalar(std::string_view key, Missing missing, const Required& required) {
  const Entry* entry = find(key, missing, required);
  if (entry == nullptr) return nullptr;
  if (entry->value.kind != Node::Kind::scalar) {
    fail(entry->value, key, "must be a single value, not " + std::string(kind_text(entry->value)));
    return nullptr;
  }
  return &entry->value;
}

std::optional<std::size_t> MapReader::index_of(const Node& node, std::string_view key,
                                               const WordTable& words) {
  if (node.kind == Node::Kind::scalar) {
    const std::size_t index = words.find(node.text);
    if (index < words.size()) return index;
  }
  const bool is_word = node.kind == Node::Kind::scalar;
  const std::string guess = is_word ? nearest(node.text, words.names()) : "";
  const std::string given = is_word ? '\'' + node.text + '\'' : std::string(kind_text(node));
  constexpr std::size_t kMany = 12;  // more hide what is meant
  if (!guess.empty() && words.size() > kMany) {
    fail(node, key,
         "there is no " + given + "; did you mean '" + guess + "'? All " +
             std::to_string(words.size()) + ": weft explain " + path_of(key));
    return std::nullopt;
  }
  std::string message = "must be one of " + words.text() + ", not " + given;
  if (!guess.empty()) message += "; did you mean '" + guess + "'?";
  fail(node, key, message);
  return std::nullopt;
}

std::optional<std::size_t> MapReader::one_of(std::string_view key, const WordTable& words,
                                             std::string_view fallback, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "one of " + words.text(), help, [&](KeyDoc& doc) {
      words.describe(doc.words);
      if (!fallback.empty()) doc.fallback = fallback;
    });
    return std::nullopt;
  }
  const Missing missing = fallback.empty() ? Missing::required : Missing::fine;
  const Node* node = scalar(key, missing, {.help = help, .words = &words});
  if (node == nullptr) return std::nullopt;
  return index_of(*node, key, words);
}

std::optional<std::vector<std::size_t>> MapReader::several_of(std::string_view key,
                                                              const WordTable& words,
                                                              std::string_view fallback,
                                                              std::string_view help) {
  if (reading_->describes()) {
    describe(key, "list of " + words.text(), help, [&](KeyDoc& doc) {
      words.describe(doc.words);
      doc.fallback = fallback;
    });
    return std::nullopt;
  }
  const Entry* entry = find(key, Missing::fine, {});
  if (entry == nullptr) return std::nullopt;
  if (entry->value.kind != Node::Kind::list || entry->value.items.empty()) {
    fail(entry->value, key, "must be a list, for example [" + std::string(words.name(0)) + "]");
    return std::nullopt;
  }
  return indices_of(entry->value, key, words);
}

std::vector<std::size_t> MapReader::indices_of(const Node& list, std::string_view key,
                                               const WordTable& words) {
  std::vector<std::size_t> indices;
  for (const Node& item : list.items) {
    const auto index = index_of(item, key, words);
    if (!index) continue;
    if (std::find(indices.begin(), indices.end(), *index) != indices.end()) {
      fail(item, key, "'" + item.text + "' is given twice");
      continue;
    }
    indices.push_back(*index);
  }
  return indices;
}

MapReader::WordOrIndices MapReader::word_or_several_of(std::string_view key, const WordTable& words,
                                                       const WordTable& several,
                                                       std::string_view help) {
  WordOrIndices read;
  if (reading_->describes()) {
    describe(key, "one of " + words.text() + "; or a list of " + several.text(), help,
             [&](KeyDoc& doc) {
               doc.fallback = words.name(0);
               words.describe(doc.words);
               several.describe(doc.words);
             });
    return read;
  }
  const Entry* entry = find(key, Missing::fine, {});
  if (entry == nullptr) return read;
  const Node& node = entry->value;
  if (node.kind == Node::Kind::list && !node.items.empty()) {
    read.indices = indices_of(node, key, several);
    return read;
  }
  read.word = index_of(node, key, words).value_or(0);
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
  if (reading_->describes()) {
    describe(key, "map", help);
    return child(key, nullptr);
  }
  return child(key, find(key, Missing::required, {.help = help}));
}

MapReader MapReader::map_of_defaults(std::string_view key, std::string_view help) {
  const std::optional<MapReader> found = optional_map(key, help);
  return found ? *found : child(key, nullptr);
}

std::optional<MapReader> MapReader::optional_map(std::string_view key, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "map", help, [](KeyDoc& doc) { doc.fallback = "optional"; });
    return child(key, nullptr);
  }
  const Entry* entry = find(key, Missing::fine, {});
  if (entry == nullptr) return std::nullopt;
  return child(key, entry);
}

MapReader MapReader::where(std::optional<bool> applies, std::string_view only) {
  return where(applies, only, "", {});
}

MapReader MapReader::where(std::optional<bool> applies, std::string_view only, std::string_view key,
                           std::span<const std::string_view> words) {
  MapReader same = *this;
  if (says_why(applies)) {
    same.only_ = only;
    same.only_key_ = key;
    same.only_words_.assign(words.begin(), words.end());
  }
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
