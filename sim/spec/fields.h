// Fields: the keys of a map, one row each, from which its values are read, explained and written.
//
//   void fields(Fields& map, LinkSpec& link) {
//     map.add("bandwidth", link.bandwidth, {.help = "what payload reaches, one direction"});
//     map.add("latency", link.latency, {.help = "first byte in to first byte out"});
//     map.add("engine_ratio", link.engine_ratio,
//             {.help = "of it, what a copy engine reaches", .range = {{0.01, 2}}, .fallback = 1});
//   }
//
// The rows stand in the order in which they are written. Whoever has a `fields` function owns the
// map: nothing else names its keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/spec/reader.h"
#include "sim/spec/writer.h"

namespace weft {

// What a row says besides its name.
template <class T>
struct Key {
  std::string_view help;
  std::optional<Range<T>> range{};  // none: what is usual for the type
  std::optional<T> fallback{};      // where the key is not given; none: it must be
  std::string_view means{};         // the fallback in words, where its value does not say it
  bool quiet = false;               // not written where it is the fallback
};

class Fields;

// Reads a whole map, `rows` called with its Fields.
template <class Rows>
void read_fields(MapReader map, Rows rows);

class Fields {
 public:
  // What the keys of one map have said so far that take words: what conditions ask for. An empty
  // word: the key means nothing here.
  using Said = std::map<std::string, std::string, std::less<>>;

  Fields(MapReader map, Said& said) : reader_(std::move(map)), said_(&said) {}
  Fields(Writer& out, Said& said) : out_(&out), said_(&said) {}

  [[nodiscard]] bool writes() const { return out_ != nullptr; }
  [[nodiscard]] bool describes() const { return !writes() && reader_->reading().describes(); }

  // A value with its unit, if it has one.
  void add(std::string_view key, int& member, const Key<int>& row);
  void add(std::string_view key, std::int64_t& member, const Key<std::int64_t>& row);
  void add(std::string_view key, std::uint64_t& member, const Key<std::int64_t>& row);
  void add(std::string_view key, double& member, const Key<double>& row);
  void add(std::string_view key, Duration& member, const Key<Duration>& row);
  void add(std::string_view key, Bytes& member, const Key<Bytes>& row);
  void add(std::string_view key, Bandwidth& member, const Key<Bandwidth>& row);
  void add(std::string_view key, Flops& member, const Key<Flops>& row);
  void add(std::string_view key, FlopRate& member, const Key<FlopRate>& row);
  // 0.05 or 5 %.
  void fraction(std::string_view key, double& member, const Key<double>& row);
  // As the time between two.
  void message_rate(std::string_view key, Duration& member, std::string_view help);
  void name(std::string_view key, std::string& member, std::string_view help);
  void name_or_none(std::string_view key, std::string& member, std::string_view help);
  // A file or a folder, which need not be there yet; or none, an empty one, which is not written.
  void file(std::string_view key, std::string& member, std::string_view help);
  void file_or_none(std::string_view key, std::string& member, std::string_view help);
  void list(std::string_view key, std::vector<int>& member, Range<std::int64_t> range,
            Range<std::size_t> length, std::string_view help);
  // Lists that need not be there; empty ones are not written.
  void list_or_none(std::string_view key, std::vector<std::int64_t>& member,
                    Range<std::int64_t> range, std::string_view help);
  void names_or_none(std::string_view key, std::vector<std::string>& member, std::string_view help);
  // Lists of lists; empty ones are not written.
  using Table = MapReader::Table;
  void counts_table(std::string_view key, Table& member, Range<std::int64_t> range,
                    std::string_view help);
  void sizes_table(std::string_view key, Table& member, std::string_view help);

  // One of a table's words.
  template <class E>
  void choice(std::string_view key, E& member,
              std::span<const Choice<std::type_identity_t<E>>> table,
              const Key<std::type_identity_t<E>>& row) {
    if (writes()) {
      const std::string_view word = word_of(table, member);
      if (applies_) said_->insert_or_assign(std::string(key), std::string(word));
      if (!(row.quiet && row.fallback && *row.fallback == member)) write(key, word);
      return;
    }
    std::optional<E> read;
    if (row.fallback) {
      read = member = reader_->choice_or(key, *row.fallback, table, row.help);
    } else {
      read = reader_->choice(key, table, row.help);
      if (read) member = *read;
    }
    note(key, read ? word_of(table, *read) : std::string_view());
  }

  // A list of a table's words; nothing where the key is not given.
  template <class E>
  void choices(std::string_view key, std::optional<std::vector<E>>& member,
               std::span<const Choice<std::type_identity_t<E>>> table, std::string_view fallback,
               std::string_view help) {
    if (writes()) {
      if (member) write_list(key, words_of(table, *member));
      return;
    }
    member = reader_->choices(key, table, fallback, help);
  }

  // One of these words, or a list of a table's.
  template <class W, class E>
  void word_or_choices(std::string_view key, W& word, std::vector<E>& choices,
                       std::span<const Choice<std::type_identity_t<W>>> words,
                       std::span<const Choice<std::type_identity_t<E>>> table,
                       std::string_view help) {
    if (writes() && !choices.empty()) return write_list(key, words_of(table, choices));
    if (writes()) return write(key, word_of(words, word));
    const auto read = reader_->word_or_several_of(key, WordTable(words), WordTable(table), help);
    word = words[read.word].value;
    choices.clear();
    for (const std::size_t index : read.indices) choices.push_back(table[index].value);
  }

  // A map in this one. `rows` is called with its Fields; without, the map's own fields() is.
  template <class Rows>
    requires std::is_invocable_v<Rows, Fields&>
  void map(std::string_view key, std::string_view help, Rows rows) {
    if (writes()) return write_map(key, rows);
    read_fields(reader_->map(key, help), rows);
  }
  template <class Spec>
  void map(std::string_view key, Spec& spec, std::string_view help) {
    map(key, help, [&spec](Fields& inner) { fields(inner, spec); });
  }
  // As above; absent, it has all its defaults.
  template <class Rows>
    requires std::is_invocable_v<Rows, Fields&>
  void map_of_defaults(std::string_view key, std::string_view help, Rows rows) {
    if (writes()) return write_map(key, rows);
    read_fields(reader_->map_of_defaults(key, help), rows);
  }
  template <class Spec>
  void map_of_defaults(std::string_view key, Spec& spec, std::string_view help) {
    map_of_defaults(key, help, [&spec](Fields& inner) { fields(inner, spec); });
  }
  // A map that need not be there. `rows` is called with its Fields and the value.
  template <class Spec, class Rows>
  void optional_map(std::string_view key, std::optional<Spec>& spec, std::string_view help,
                    Rows rows) {
    if (writes()) {
      if (spec) write_map(key, [&](Fields& inner) { rows(inner, *spec); });
      return;
    }
    std::optional<MapReader> found = reader_->optional_map(key, help);
    if (!found) return;
    Spec read{};
    read_fields(*found, [&](Fields& inner) { rows(inner, read); });
    if (!describes()) spec = std::move(read);
  }
  template <class Spec>
  void optional_map(std::string_view key, std::optional<Spec>& spec, std::string_view help) {
    optional_map(key, spec, help, [](Fields& inner, Spec& value) { fields(inner, value); });
  }
  // A list of maps, which must be there. `rows` is called with the Fields and the value of each,
  // and such lists are only read; without, the maps' own fields() is.
  template <class Spec, class Rows>
  void maps(std::string_view key, std::vector<Spec>& specs, std::string_view help, Rows rows) {
    SIM_ASSERT(!writes());
    read_items(reader_->maps(key, help), specs, rows);
  }
  template <class Spec>
  void maps(std::string_view key, std::vector<Spec>& specs, std::string_view help) {
    if (writes()) {
      if (applies_) write_items(key, specs);
      return;
    }
    maps(key, specs, help, [](Fields& inner, Spec& value) { fields(inner, value); });
  }
  // As above; none where it is not given.
  template <class Spec, class Rows>
  void optional_maps(std::string_view key, std::vector<Spec>& specs, std::string_view help,
                     Rows rows) {
    SIM_ASSERT(!writes());
    read_items(reader_->optional_maps(key, help), specs, rows);
  }
  template <class Spec>
  void optional_maps(std::string_view key, std::vector<Spec>& specs, std::string_view help) {
    if (writes()) {
      if (applies_ && !specs.empty()) write_items(key, specs);
      return;
    }
    optional_maps(key, specs, help, [](Fields& inner, Spec& value) { fields(inner, value); });
  }
  // What stands there as it is, for values whose type another key says and those whose position is
  // needed later; null where it is not given. Such values are only read.
  void entry(std::string_view key, const Entry*& member, std::string_view type,
             std::string_view help);
  void entry_or_none(std::string_view key, const Entry*& member, std::string_view type,
                     std::string_view help);

  // The same map, for keys that mean something only where the key `key` of it says one of `words`;
  // elsewhere they are mistakes. `text` says so in other words than these.
  Fields where(std::string_view key, const std::vector<std::string_view>& words,
               std::string_view text = {});
  // The same, where a condition in words holds. Nothing: it is not known whether, so nothing is
  // said.
  Fields only_if(std::optional<bool> holds, std::string_view only);

  // Whether that key says one of these words; nothing where it is not known.
  [[nodiscard]] std::optional<bool> says(std::string_view key,
                                         const std::vector<std::string_view>& words) const;
  // All that was read so far is right: rules about several keys may ask.
  [[nodiscard]] bool reads_well() const;
  // Whether somebody says this key; not where keys are described or written.
  [[nodiscard]] bool gives(std::string_view key) const { return !writes() && reader_->gives(key); }
  // Unknown keys become problems. Once, after the last row.
  void finish() { reader_->finish(); }
  // A mistake at a key of this map.
  void fail(std::string_view key, std::string message);
  // The same at a place in its value.
  void fail_at(const SourcePosition& at, std::string_view key, std::string message);

 private:
  template <class E>
  static std::string_view word_of(std::span<const Choice<E>> table, const E& value) {
    for (const Choice<E>& choice : table) {
      if (choice.value == value) return choice.name;
    }
    return {};  // a value that no file can say, such as before it is read
  }
  template <class E>
  static std::vector<std::string> words_of(std::span<const Choice<E>> table,
                                           const std::vector<E>& values) {
    std::vector<std::string> words;
    words.reserve(values.size());
    for (const E& value : values) words.emplace_back(word_of(table, value));
    return words;
  }

  template <class Spec, class Rows>
  static void read_items(std::vector<MapReader> items, std::vector<Spec>& specs, Rows rows) {
    for (MapReader& item : items) {
      Spec& spec = specs.emplace_back();
      read_fields(std::move(item), [&](Fields& inner) { rows(inner, spec); });
    }
  }
  template <class Rows>
  void write_map(std::string_view key, Rows rows) {
    if (!applies_) return;
    Said said;
    Fields inner(*out_, said);
    out_->open(key);
    rows(inner);
    out_->close();
  }
  template <class Spec>
  void write_items(std::string_view key, std::vector<Spec>& specs) {
    out_->open(key);
    for (Spec& spec : specs) {
      Said said;
      Writer item(Writer::Form::flow);
      Fields inner(item, said);
      fields(inner, spec);
      out_->item('{' + item.text() + '}');
    }
    out_->close();
  }

  [[nodiscard]] Fields written_if(std::optional<bool> holds) const;
  template <class T>
  void value(std::string_view key, T& member, const Key<T>& row, ValueForm form);
  void write(std::string_view key, std::string_view text);
  void write_list(std::string_view key, const std::vector<std::string>& words);
  void note(std::string_view key, std::string_view word);

  std::optional<MapReader> reader_;
  Writer* out_ = nullptr;
  Said* said_;
  bool applies_ = true;  // of what is written
};

template <class Rows>
void read_fields(MapReader map, Rows rows) {
  Fields::Said said;
  Fields all(std::move(map), said);
  rows(all);
  all.finish();
}

// What `rows` write.
template <class Rows>
std::string text_of_fields(Rows rows) {
  Fields::Said said;
  Writer out;
  Fields all(out, said);
  rows(all);
  return out.text();
}

}  // namespace weft
