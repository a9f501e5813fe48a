#include <algorithm>
#include <cctype>

#include "sim/core/plain_text.h"
#include "sim/scenario/axis_values.h"
#include "sim/scenario/sweep_file.h"
#include "sim/spec/words.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kNumberOfValues{2, 100'000};

bool is_plain(const std::string& text) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/' || c == ' ' ||
           c == '+' || c == '%';
  };
  return !text.empty() && text != "-" && text != "null" && text != "Null" && text != "NULL" &&
         text.front() != ' ' && text.back() != ' ' && text.front() != '%' &&
         !text.starts_with("- ") && std::all_of(text.begin(), text.end(), harmless);
}

// The last part of a file's name.
std::string stem_of(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string words_of(const Node& value, bool names_a_file) {
  if (value.kind == Node::Kind::scalar) return names_a_file ? stem_of(value.text) : value.text;
  const Entry* base = value.find("base");
  const bool only_base = base != nullptr && value.entries.size() == 1;
  return only_base ? stem_of(base->value.text) : flow_text(value);
}

class SweepReader {
 public:
  explicit SweepReader(MapReader map) : map_(std::move(map)) {}

  SweepFile read() {
    SweepFile sweep;
    sweep.name = map_.name("name", "name of the sweep, and of its folder in results/");
    check_name(sweep.name);
    if (const Entry* scenario = scalar("scenario", "a scenario's file, named like a base")) {
      sweep.scenario = scenario->value.text;
      sweep.scenario_at = scenario->value.at;
    }
    read_sets(sweep);
    for (MapReader& axis : map_.maps("axes", "the keys that change; the first changes slowest")) {
      SweepAxis read = read_axis(axis);
      if (!read.keys.empty()) sweep.axes.push_back(std::move(read));
    }
    sweep.has_unknown_axis = has_unknown_axis_ || sweep.axes.empty();
    if (const Entry* filter =
            text_of("filter", map_.entry_or_none("filter", "text", "which points are kept"))) {
      sweep.filter = filter->value.text;
      sweep.filter_at = filter->value.at;
    }
    map_.finish();
    return sweep;
  }

 private:
  Reading& reading() { return map_.reading(); }

  const Entry* scalar(std::string_view key, std::string_view help) {
    return text_of(key, map_.entry(key, "text", help));
  }

  const Entry* text_of(std::string_view key, const Entry* entry) {
    if (entry == nullptr || entry->value.kind == Node::Kind::scalar) return entry;
    reading().error(entry->value.at, map_.path_of(key), "must be one line of text");
    return nullptr;
  }

  void check_name(const std::string& name) {
    const bool good = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (!good || name.starts_with('.')) {
      reading().error_at_key("name", "letters, digits, '_', '-' and '.': it names a folder");
    }
  }

  // The parts of a path; empty after a mistake, which is then said.
  std::vector<std::string> keys_of(const std::string& path, const SourcePosition& at,
                                   const std::string& where, std::string& type) {
    std::string problem = "must be keys joined by dots, for example cluster.nodes";
    const auto keys = parse_path(path);
    if (keys) {
      if (const auto known = known_.type_of(path, problem)) {
        type = *known;
        return *keys;
      }
    }
    reading().error(at, where, "'" + path + "': " + problem);
    return {};
  }

  void read_sets(SweepFile& sweep) {
    const Entry* sets = map_.entry_or_none("set", "map of paths", "values for all points");
    if (sets == nullptr) return;
    if (sets->value.kind != Node::Kind::map) {
      reading().error(sets->value.at, "set", "must be a map such as {modes: [bulk, fused]}");
      return;
    }
    for (const Entry& entry : sets->value.entries) {
      std::string type;
      std::vector<std::string> keys = keys_of(entry.key, entry.key_at, "set", type);
      if (keys.empty()) continue;
      check_value(entry.value, type, "set." + entry.key);
      sweep.sets.push_back({.keys = std::move(keys), .at = entry.key_at, .value = entry.value});
    }
  }

  SweepAxis read_axis(MapReader& map) {
    SweepAxis axis;
    if (!map.gives("zip")) {
      if (std::optional<SweepKey> key = read_key(map)) axis.keys.push_back(*std::move(key));
      return axis;
    }
    for (MapReader& inner : map.maps("zip", "keys that change together")) {
      if (std::optional<SweepKey> key = read_key(inner)) axis.keys.push_back(*std::move(key));
    }
    map.finish();
    for (const SweepKey& key : axis.keys) {
      const bool mistaken = key.values.empty() || axis.size() == 0;  // which is said
      if (mistaken || key.values.size() == axis.size()) continue;
      reading().error(key.at, map.path_of("zip"),
                      "keys of a zip must have the same number of values: here " +
                          std::to_string(key.values.size()) + ", the first has " +
                          std::to_string(axis.size()));
    }
    return axis;
  }

  std::optional<SweepKey> read_key(MapReader& map) {
    SweepKey key;
    std::string type;
    if (const Entry* path = map.entry("key", "path", "what changes, such as cluster.nodes")) {
      key.at = path->value.at;
      key.keys = keys_of(path->value.text, key.at, map.path_of("key"), type);
    }
    if (map.gives("name")) key.column = read_column(map);
    // Labels are read in any case: their key is known.
    const Entry* labels = map.entry_or_none("labels", "list of words", "one per value");
    if (key.keys.empty()) {  // what its values should be is not known
      has_unknown_axis_ = true;
      return std::nullopt;
    }
    if (map.gives("from") || map.gives("to")) {
      read_range(map, type, key.values);
    } else {
      read_values(map, type, key.values);
    }
    map.finish();
    make_cells(type, key);
    if (labels != nullptr) put_labels(*labels, map.path_of("labels"), key);
    return key;
  }

  std::string read_column(MapReader& map) {
    std::string column = map.name("name", "name of the column");
    const bool is_word = std::all_of(column.begin(), column.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (!is_word || std::isdigit(static_cast<unsigned char>(column.front())) != 0) {
      reading().error_at_key(map.path_of("name"),
                             "letters, digits and '_', not starting with a digit");
    }
    return column;
  }

  void check_value(const Node& value, const std::string& type, const std::string& where) {
    const CountedType* counted = counted_type(type);
    if (counted == nullptr || value.kind == Node::Kind::null) return;
    if (value.kind != Node::Kind::scalar) {
      reading().error(value.at, where,
                      "must be one " + type + ", not " + std::string(kind_text(value)));
    } else if (const auto parsed = counted->parse(value.text); !parsed.ok()) {
      reading().error(value.at, where, parsed.problem);
    }
  }

  void read_values(MapReader& map, const std::string& type, std::vector<Node>& values) {
    const Entry* entry = map.entry("values", "list", "a list, or from, to and step");
    if (entry == nullptr) return;
    if (entry->value.kind != Node::Kind::list || entry->value.items.empty()) {
      reading().error(entry->value.at, map.path_of("values"),
                      "must be a list with at least one value");
      return;
    }
    values = entry->value.items;
    for (const Node& value : values) {
      check_value(value, type, map.path_of("values"));
      if (!is_plain_text(value.text)) {
        reading().error(value.at, map.path_of("values"), "must be one line of visible characters");
      }
    }
  }

  std::optional<std::int64_t> count_of(MapReader& map, std::string_view key,
                                       const CountedType& type) {
    const Entry* entry = map.entry(key, type.type, "an end of a range, such as 64");
    if (entry == nullptr) return std::nullopt;
    const auto parsed = type.parse(entry->value.text);
    if (parsed.ok()) return parsed.value;
    reading().error(entry->value.at, map.path_of(key), parsed.problem);
    return std::nullopt;
  }

  void read_range(MapReader& map, const std::string& name, std::vector<Node>& values) {
    const CountedType* type = counted_type(name);
    if (type == nullptr || !type->has_ranges) {
      reading().error_at_key(map.path_of("from"),
                             "there are no ranges of a " + name + "; give a list of values");
      return;
    }
    const auto from = count_of(map, "from", *type);
    const auto to = count_of(map, "to", *type);
    const bool doubles = map.choice_or("powers_of_two", false, names::table(names::kTruths),
                                       "each value is twice the one before");
    const int ways = (doubles ? 1 : 0) + (map.gives("step") ? 1 : 0) + (map.gives("steps") ? 1 : 0);
    if (ways != 1) {
      map.entry_or_none("step", name, "difference from one value to the next");
      map.entry_or_none("steps", "integer", "number of values");
      reading().error_at_key(map.path_of("from"),
                             "a range needs one of step, steps and powers_of_two: true");
      return;
    }
    Counts counts;
    if (map.gives("step")) {
      const auto step = count_of(map, "step", *type);
      if (from && to && step) counts = in_steps_of({*from, *to}, *step, *type);
    } else if (map.gives("steps")) {
      const std::int64_t number = map.integer("steps", kNumberOfValues, "number of values");
      if (from && to) counts = evenly({*from, *to}, number, *type);
    } else if (from && to) {
      counts = doubled({*from, *to}, *type);
    }
    if (!counts.problem.empty()) reading().error_at_key(map.path_of("to"), counts.problem);
    values.reserve(counts.counts.size());
    for (const std::int64_t count : counts.counts) {
      values.push_back(
          node_at(reading().place_of(map.path_of("from")), Node::Kind::scalar, type->text(count)));
    }
  }

  static void make_cells(const std::string& type, SweepKey& key) {
    const CountedType* counted = counted_type(type);
    const auto is_scalar = [](const Node& value) { return value.kind == Node::Kind::scalar; };
    key.is_number =
        counted != nullptr && std::all_of(key.values.begin(), key.values.end(), is_scalar);
    if (key.is_number) key.unit_suffix = counted->suffix;
    for (const Node& value : key.values) {
      if (key.is_number) {
        key.cells.emplace_back(counted->cell(value.text));
      } else {
        key.cells.emplace_back(words_of(value, type == "base"));
      }
    }
  }

  void put_labels(const Entry& labels, const std::string& path, SweepKey& key) {
    key.is_number = false;
    key.unit_suffix.clear();
    const Node& list = labels.value;
    if (key.values.empty()) return;  // their number is not known
    if (list.kind != Node::Kind::list || list.items.size() != key.values.size()) {
      reading().error(list.at, path,
                      "must be a list of " + std::to_string(key.values.size()) + " words");
      return;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const Node& label = list.items[i];
      const std::string wrong = wrong_as_name(label.text);
      if (!wrong.empty()) reading().error(label.at, path, wrong);
      key.cells[i] = label.text;
    }
  }

  MapReader map_;
  KnownKeys known_;
  bool has_unknown_axis_ = false;
};

}  // namespace

std::string flow_text(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::null:
      return "~";
    case Node::Kind::scalar:
      return is_plain(node.text) ? node.text : in_double_quotes(node.text);
    case Node::Kind::list:
      for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
      return '[' + text + ']';
    case Node::Kind::map:
      for (const Entry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + flow_text(entry.value);
      }
      return '{' + text + '}';
  }
  return text;
}

SweepFile read_sweep(MapReader map) { return SweepReader(std::move(map)).read(); }

}  // namespace weft
