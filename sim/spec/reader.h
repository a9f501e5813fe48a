// Reader: from the tree to typed values, every mistake noted with its position, none thrown.
//
// What calls it are the rows of keys (fields.h). After a mistake a getter returns nothing or a
// placeholder, and reading continues. The same calls without a file (Purpose::describe) write down
// what every key means: the reference page cannot differ from the program.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/core/quantity.h"
#include "sim/spec/tree.h"
#include "sim/spec/units.h"

namespace weft {

// One of the words that a key takes.
struct WordDoc {
  std::string word;
  std::string meaning;  // empty where the word says it
};

// What one key means.
struct KeyDoc {
  std::string path;      // cluster.scale_out.link.latency
  std::string type;      // "duration", "integer", "map", "one of a b c" ...
  std::string units;     // "ps ns us ms s"; empty where there is none
  std::string fallback;  // the default as text, "required" or "optional"
  std::string help;
  std::string only;  // "shape: torus or ring"; empty where the key always applies
  // The same as a key beside it and its words; empty where the condition is another.
  std::string only_key;
  std::vector<std::string> only_words;
  std::string low;  // bounds as text; empty where there are none
  std::string high;
  std::vector<WordDoc> words;  // those it takes; empty where it takes none
};

// Inclusive bounds.
template <class T>
struct Range {
  T low{};
  T high{};
};

constexpr Range<std::int64_t> kCount{1, 1'000'000'000};
// Hardware answers within a second. Sums of very many such times still fit the simulated clock.
constexpr Range<Duration> kHardwareTime{picoseconds(0), microseconds(1'000'000)};
constexpr Range<Bytes> kAnySize{bytes(0), bytes(1'000'000'000'000'000)};
constexpr Range<Bandwidth> kAnyBandwidth{bytes_per_second(1'000'000),
                                         gigabytes_per_second(100'000'000)};

// How a value is written, where its type does not say it.
enum class ValueForm { plain, fraction, message_rate };

template <class E>
struct Choice {
  std::string_view name;
  E value;
  std::string_view meaning{};  // for those who ask what the key takes; empty: the name says it
};

// The words that a key takes: a view of a table of choices, whatever their values are.
class WordTable {
 public:
  template <class E>
  explicit WordTable(std::span<const Choice<E>> table)
      : table_(table.data()), size_(table.size()), doc_at_([](const void* from, std::size_t index) {
          const Choice<E>& choice = static_cast<const Choice<E>*>(from)[index];
          return std::pair(choice.name, choice.meaning);
        }) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view name(std::size_t index) const {
    return doc_at_(table_, index).first;
  }
  [[nodiscard]] std::string_view meaning(std::size_t index) const {
    return doc_at_(table_, index).second;
  }
  // Where this word is; size() where it is none of them.
  [[nodiscard]] std::size_t find(std::string_view word) const;
  // What errors and descriptions say.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string text() const;  // "a b c"
  void describe(std::vector<WordDoc>& docs) const;

 private:
  const void* table_;
  std::size_t size_;
  std::pair<std::string_view, std::string_view> (*doc_at_)(const void*, std::size_t);
};

// What is known about one reading of one file and its bases, whole.
class Reading {
 public:
  enum class Purpose { read, describe };
  // `own`: the file; others are its bases.
  explicit Reading(Purpose purpose, std::string own = "")
      : purpose_(purpose), own_(std::move(own)) {}

  void error(const SourcePosition& at, const std::string& path, std::string message);
  // As above, at the place of the key with this path, or of the nearest map around it.
  void error_at_key(const std::string& path, std::string message);
  // Of keys that do not go together the one that the user said last: with --set, in the file
  // itself, in a base; of several the first.
  void error_at_one_of(const std::vector<std::string>& paths, std::string message);
  // What the user should know, though it is no mistake.
  void warn_at_key(const std::string& path, std::string message);
  [[nodiscard]] SourcePosition place_of(const std::string& path) const;

  // Whether all of these keys were read without a mistake: rules about several keys ask first, so
  // that one mistake is not reported twice.
  [[nodiscard]] bool good(std::span<const std::string_view> paths) const;
  // The same of maps with all that is in them.
  [[nodiscard]] bool good_within(std::span<const std::string_view> paths) const;

  // Somebody wrote this key, in whatever file.
  [[nodiscard]] bool gives(std::string_view path) const { return places_.contains(path); }
  // All that somebody wrote, by path.
  using Places = std::map<std::string, SourcePosition, std::less<>>;
  [[nodiscard]] const Places& places() const { return places_; }
  // Somebody said it on the command line.
  [[nodiscard]] bool is_set(const std::string& path) const;
  [[nodiscard]] bool describes() const { return purpose_ == Purpose::describe; }
  [[nodiscard]] const Diagnostics& problems() const { return problems_; }
  [[nodiscard]] const std::vector<KeyDoc>& docs() const { return docs_; }

 private:
  friend class MapReader;
  Purpose purpose_;
  std::string own_;
  Diagnostics problems_;
  std::vector<KeyDoc> docs_;
  std::set<std::string, std::less<>> bad_;  // paths with a mistake
  Places places_;
  // Of a map, those that were asked for.
  struct AskedKeys {
    std::vector<std::string> here;
    std::vector<std::string> elsewhere;  // they mean something only under another condition
  };
  std::deque<AskedKeys> keys_;  // one a map; readers point into it
};

class MapReader {
 public:
  // The outermost map.
  MapReader(Reading& reading, const Node& root);

  // An integer, a number, a duration, a size, a rate. `fallback` is the text of what holds where it
  // is not given; nothing: it must be.
  template <class T>
  std::optional<T> value(std::string_view key, ValueForm form, const Range<T>& range,
                         std::string_view help, const std::optional<std::string>& fallback);
  // What of its type is usual, and its text as a file says it.
  template <class T>
  static Range<T> usual(ValueForm form);
  template <class T>
  static std::string text_of(ValueForm form, T value);

  std::vector<int> counts(std::string_view key, Range<std::int64_t> range,
                          Range<std::size_t> length, std::string_view help);

  // A list; empty where the key is not given.
  std::vector<std::int64_t> optional_counts(std::string_view key, Range<std::int64_t> range,
                                            std::string_view help);
  std::vector<std::string> optional_names(std::string_view key, std::string_view help);

  // A list of lists; empty where the key is not given.
  using Table = std::vector<std::vector<std::int64_t>>;
  Table optional_counts_table(std::string_view key, Range<std::int64_t> range,
                              std::string_view help);
  Table optional_sizes_table(std::string_view key, std::string_view help);

  std::string name(std::string_view key, std::string_view help);
  std::string name_or_none(std::string_view key, std::string_view help);
  // A file or a folder, which need not be there yet.
  std::string file(std::string_view key, std::string_view help);
  std::string file_or_none(std::string_view key, std::string_view help);

  // One of a table's names; nothing after a mistake.
  template <class E>
  std::optional<E> choice(std::string_view key, std::span<const Choice<E>> table,
                          std::string_view help) {
    const auto found = one_of(key, WordTable(table), {}, help);
    if (!found) return std::nullopt;
    return table[*found].value;
  }
  template <class E>
  E choice_or(std::string_view key, E fallback, std::span<const Choice<E>> table,
              std::string_view help) {
    std::string_view fallback_name;
    for (const Choice<E>& choice : table) {
      if (choice.value == fallback) fallback_name = choice.name;
    }
    const auto found = one_of(key, WordTable(table), fallback_name, help);
    return found ? table[*found].value : fallback;
  }
  // A list of a table's names, or nothing where the key is not given.
  template <class E>
  std::optional<std::vector<E>> choices(std::string_view key, std::span<const Choice<E>> table,
                                        std::string_view fallback_text, std::string_view help) {
    const auto found = several_of(key, WordTable(table), fallback_text, help);
    if (!found) return std::nullopt;
    std::vector<E> values;
    for (const std::size_t index : *found) values.push_back(table[index].value);
    return values;
  }

  // One of `words`, or a list of `several`; the first word where the key is not given.
  struct WordOrIndices {
    std::size_t word = 0;
    std::vector<std::size_t> indices;  // of `several`; if any, instead of a word
  };
  WordOrIndices word_or_several_of(std::string_view key, const WordTable& words,
                                   const WordTable& several, std::string_view help);

  // What stands there as it is, for who knows more of it; null where it is not given.
  const Entry* entry(std::string_view key, std::string_view type, std::string_view help);
  const Entry* entry_or_none(std::string_view key, std::string_view type, std::string_view help);
  [[nodiscard]] bool gives(std::string_view key) const;

  MapReader map(std::string_view key, std::string_view help);              // required
  MapReader map_of_defaults(std::string_view key, std::string_view help);  // absent: all defaults
  std::optional<MapReader> optional_map(std::string_view key, std::string_view help);
  std::vector<MapReader> maps(std::string_view key, std::string_view help);  // a list, not empty
  std::vector<MapReader> optional_maps(std::string_view key, std::string_view help);

  // The same map, for keys that mean something only under a condition: elsewhere they are mistakes
  // ("only for shape: torus"). Nothing: the condition itself is not known, so nothing is said.
  MapReader where(std::optional<bool> applies, std::string_view only);
  // The same where the condition is one of these words of a key beside it.
  MapReader where(std::optional<bool> applies, std::string_view only, std::string_view key,
                  std::span<const std::string_view> words);
  // Whether somebody may read what `only` says.
  [[nodiscard]] bool says_why(std::optional<bool> applies) const {
    return reading_->describes() || applies == false;
  }
  // Whether its keys are known to be mistakes.
  [[nodiscard]] bool is_elsewhere() const { return state_ == State::elsewhere; }
  // Whether it is not known if they are.
  [[nodiscard]] bool is_unsure() const { return state_ == State::unsure; }

  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] Reading& reading() const { return *reading_; }

  // Unknown keys become problems. Once, after the last getter.
  void finish();

 private:
  enum class State { reading, absent, elsewhere, unsure };
  enum class Missing { required, fine };

  MapReader(Reading& reading, const Node* node, std::string path, SourcePosition at);

  // What is said of a key that must be there and is not: its help, and `such as` in words.
  struct Required {
    std::string_view help;
    std::string_view example{};        // of its value
    const WordTable* words = nullptr;  // those that it takes
  };
  // The entry of `key`, if it has a value and this map may have it. Texts are put together only
  // where they are said, for points of sweeps are many.
  const Entry* find(std::string_view key, Missing missing, const Required& required);
  const Node* scalar(std::string_view key, Missing missing, const Required& required);
  // Where keys are described instead: this one's.
  void describe(std::string_view key, std::string_view type, std::string_view help,
                const std::function<void(KeyDoc&)>& more = {});
  void fail(const Node& node, std::string_view key, std::string message);

  std::vector<MapReader> maps(std::string_view key, Missing missing, std::string_view help);
  std::string line_of(const Node& node, std::string_view key, std::size_t longest);
  std::string name_of(const Node& node, std::string_view key);
  std::string file_of(const Node& node, std::string_view key);
  MapReader child(std::string_view key, const Entry* entry);
  std::optional<std::size_t> one_of(std::string_view key, const WordTable& words,
                                    std::string_view fallback, std::string_view help);
  std::optional<std::size_t> index_of(const Node& value, std::string_view key,
                                      const WordTable& words);
  [[nodiscard]] std::vector<std::size_t> indices_of(const Node& list, std::string_view key,
                                                    const WordTable& words);
  std::optional<std::vector<std::size_t>> several_of(std::string_view key, const WordTable& words,
                                                     std::string_view fallback,
                                                     std::string_view help);

  // The items of a list that is not empty; none where the key is not given.
  std::span<const Node> optional_items(std::string_view key, std::string_view type,
                                       std::string_view help);
  // One value of a list or table.
  struct Cell {
    std::string_view type;     // of the table
    std::string_view example;  // "[[0, 1], [2, 3]]"
    Parsed<std::int64_t> (*parse)(std::string_view);
    Range<std::int64_t> range;
    std::string bounds;  // "must be from 0 to 7"
  };
  static Cell count_cell(Range<std::int64_t> range);
  Table table(std::string_view key, const Cell& cell, std::string_view help);
  std::int64_t cell_of(const Node& node, const Cell& cell, std::string_view key);

  template <class T>
  struct Kind {
    std::string_view type;
    std::string units;
    std::string_view example;  // for "required, for example ..."
    Parsed<T> (*parse)(std::string_view);
    std::string (*text)(T);
  };
  template <class T>
  static const Kind<T>& kind_of(ValueForm form);

  Reading* reading_;
  const Node* node_;
  std::string path_;
  SourcePosition at_;  // of the key that holds this map: where a missing key is reported
  State state_ = State::reading;
  bool incomplete_ = false;  // a base is missing: a key that is not there may be in it
  std::string only_;
  std::string only_key_;
  std::vector<std::string> only_words_;
  Reading::AskedKeys* keys_ = nullptr;  // where() adds to the same
};

}  // namespace weft
