#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

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
  if (value.kind == Node::Kind::null) return "default";  // the key is taken away
  if (value.kind == Node::Kind::scalar) return names_a_file ? stem_of(value.text) : value.text;
  const Entry* base = value.find("base");
  const bool only_base = base != nullptr && value.entries.size() == 1;
  return only_base ? stem_of(base->value.text) : flow_text(value);
}

// One key and its values as they are written. What its values should be follows from the type of
// the key that they are of, so no row can read them: their rows take them as they are.
struct KeyText {
  const Entry* path = nullptr;
  const Entry* values = nullptr;
  const Entry* labels = nullptr;
  const Entry* from = nullptr;
  const Entry* to = nullptr;
  const Entry* step = nullptr;
  std::int64_t steps = 0;  // 0: not given
  bool powers_of_two = false;
};

void key_rows(Fields& map, KeyText& text, std::string& column) {
  map.entry("key", text.path, "path", "the key that changes, such as cluster.nodes");
  map.name_or_none("name", column, "name of the column");
  const bool is_range = map.gives("from") || map.gives("to");
  map.only_if(!is_range, "axes without from and to")
      .entry("values", text.values, "list", "a list, or from and to");
  map.entry_or_none("labels", text.labels, "list of words", "one per value");
  Fields range = map.only_if(is_range, "axes with from and to");
  range.entry("from", text.from, "text", "first value of a range");
  range.entry("to", text.to, "text", "last value of a range");
  range.entry_or_none("step", text.step, "text", "difference from one value to the next");
  range.add(
      "steps", text.steps,
      {.help = "number of values", .range = kNumberOfValues, .fallback = 0, .means = "optional"});
  range.choice("powers_of_two", text.powers_of_two, names::kTruths,
               {.help = "each value is twice the one before", .fallback = false});
}

// Scenario and filter are taken as they are too: who reads them says mistakes at their place.
class SweepFields {
 public:
  void add_to(Fields& map, SweepFile& sweep) {
    map.name("name", sweep.name, "name of the sweep, and of its folder in results/");
    check_name(map, sweep.name);
    const Entry* scenario = nullptr;
    map.entry("scenario", scenario, "text", "a scenario's file, named like a base");
    take_text(map, scenario, sweep.scenario, sweep.scenario_at);
    const Entry* sets = nullptr;
    map.entry_or_none("set", sets, "map of paths", "values for all points");
    if (sets != nullptr) take_sets(map, sets->value, sweep.sets);
    map.maps("axes", sweep.axes, "the keys that change; the first changes slowest",
             [this](Fields& inner, SweepAxis& axis) { read_axis(inner, axis); });
    std::erase_if(sweep.axes, [](const SweepAxis& axis) { return axis.keys.empty(); });
    sweep.has_unknown_axis = has_unknown_axis_ || sweep.axes.empty();
    const Entry* filter = nullptr;
    map.entry_or_none("filter", filter, "text", "which points are kept, for example batch <= 2048");
    take_text(map, filter, sweep.filter, sweep.filter_at);
  }

 private:
  static void take_text(Fields& map, const Entry* entry, std::string& text, SourcePosition& at) {
    if (entry == nullptr) return;
    if (entry->value.kind != Node::Kind::scalar) {
      return map.fail_at(entry->value.at, entry->key, "must be one line of text");
    }
    text = entry->value.text;
    at = entry->value.at;
  }

  static void check_name(Fields& map, const std::string& name) {
    const bool good = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (!good || name.starts_with('.')) {
      map.fail("name", "letters, digits, '_', '-' and '.': it names a folder");
    }
  }

  // The parts of a path; empty after a mistake, which is then said at the key `where`.
  std::vector<std::string> keys_of(Fields& map, const std::string& path, const SourcePosition& at,
                                   std::string_view where, std::string& type) {
    std::string problem = "must be keys joined by dots, for example cluster.nodes";
    const auto keys = parse_path(path);
    if (keys) {
      if (const auto known = known_.type_of(path, problem)) {
        type = *known;
        return *keys;
      }
    }
    map.fail_at(at, where, "'" + path + "': " + problem);
    return {};
  }

  void take_sets(Fields& map, const Node& said, std::vector<Assignment>& sets) {
    if (said.kind != Node::Kind::map) {
      return map.fail_at(said.at, "set", "must be a map such as {modes: [bulk, fused]}");
    }
    for (const Entry& entry : said.entries) {
      std::string type;
      std::vector<std::string> keys = keys_of(map, entry.key, entry.key_at, "set", type);
      if (keys.empty()) continue;
      check_value(map, entry.value, type, "set." + entry.key);
      sets.push_back({.keys = std::move(keys), .at = entry.key_at, .value = entry.value});
    }
  }

  void read_axis(Fields& map, SweepAxis& axis) {
    map.optional_maps("zip", axis.keys, "keys that change together",
                      [this](Fields& inner, SweepKey& key) { read_key(inner, key); });
    if (!map.gives("zip")) read_key(map, axis.keys.emplace_back());
    std::erase_if(axis.keys, [](const SweepKey& key) { return key.keys.empty(); });
    for (const SweepKey& key : axis.keys) {
      const bool mistaken = key.values.empty() || axis.size() == 0;  // which is said
      if (mistaken || key.values.size() == axis.size()) continue;
      map.fail_at(key.at, "zip",
                  "keys of a zip must have the same number of values: here " +
                      std::to_string(key.values.size()) + ", the first has " +
                      std::to_string(axis.size()));
    }
  }

  // After a mistake in its path `key` has no keys: what its values should be is not known.
  void read_key(Fields& map, SweepKey& key) {
    KeyText text;
    key_rows(map, text, key.column);
    check_column(map, key.column);
    std::string type;
    if (text.path != nullptr) {
      key.at = text.path->value.at;
      key.keys = keys_of(map, text.path->value.text, key.at, "key", type);
    }
    if (key.keys.empty()) {
      has_unknown_axis_ = true;
      return;
    }
    if (text.values != nullptr) take_values(map, text.values->value, type, key.values);
    if (text.from != nullptr || text.to != nullptr) take_range(map, text, type, key.values);
    make_cells(type, key);
    if (text.labels != nullptr) put_labels(map, text.labels->value, key);
  }

  static void check_column(Fields& map, const std::string& column) {
    if (column.empty()) return;
    const bool is_word = std::all_of(column.begin(), column.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (!is_word || std::isdigit(static_cast<unsigned char>(column.front())) != 0) {
      map.fail("name", "letters, digits and '_', not starting with a digit");
    }
  }

  static void check_value(Fields& map, const Node& value, const std::string& type,
                          std::string_view where) {
    const CountedType* counted = counted_type(type);
    if (counted == nullptr || value.kind == Node::Kind::null) return;
    if (value.kind != Node::Kind::scalar) {
      map.fail_at(value.at, where,
                  "must be one " + type + ", not " + std::string(kind_text(value)));
    } else if (const auto parsed = counted->parse(value.text); !parsed.ok()) {
      map.fail_at(value.at, where, parsed.problem);
    }
  }

  static void take_values(Fields& map, const Node& list, const std::string& type,
                          std::vector<Node>& values) {
    if (list.kind != Node::Kind::list || list.items.empty()) {
      return map.fail_at(list.at, "values", "must be a list with at least one value");
    }
    values = list.items;
    for (const Node& value : values) {
      check_value(map, value, type, "values");
      if (!is_plain_text(value.text)) {
        map.fail_at(value.at, "values", "must be one line of visible characters");
      }
    }
  }

  static std::optional<std::int64_t> count_of(Fields& map, const Entry* entry,
                                              const CountedType& type) {
    if (entry == nullptr) return std::nullopt;
    const auto parsed = type.parse(entry->value.text);
    if (parsed.ok()) return parsed.value;
    map.fail_at(entry->value.at, entry->key, parsed.problem);
    return std::nullopt;
  }

  static void take_range(Fields& map, const KeyText& text, const std::string& name,
                         std::vector<Node>& values) {
    const CountedType* type = counted_type(name);
    if (type == nullptr || !type->has_ranges) {
      return map.fail("from", "there are no ranges of a " + name + "; give a list of values");
    }
    const auto from = count_of(map, text.from, *type);
    const auto to = count_of(map, text.to, *type);
    const int ways =
        (text.powers_of_two ? 1 : 0) + (map.gives("step") ? 1 : 0) + (map.gives("steps") ? 1 : 0);
    if (ways != 1) {
      return map.fail("from", "a range needs one of step, steps and powers_of_two: true");
    }
    const auto step = count_of(map, text.step, *type);
    if (!from || !to) return;
    Counts counts;
    if (step) {
      counts = in_steps_of({*from, *to}, *step, *type);
    } else if (text.steps > 0) {
      counts = evenly({*from, *to}, text.steps, *type);
    } else if (text.powers_of_two) {
      counts = doubled({*from, *to}, *type);
    }
    if (!counts.problem.empty()) map.fail("to", counts.problem);
    values.reserve(counts.counts.size());
    for (const std::int64_t count : counts.counts) {
      values.push_back(node_at(text.from->key_at, Node::Kind::scalar, type->text(count)));
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

  static void put_labels(Fields& map, const Node& list, SweepKey& key) {
    key.is_number = false;
    key.unit_suffix.clear();
    if (key.values.empty()) return;  // their number is not known
    if (list.kind != Node::Kind::list || list.items.size() != key.values.size()) {
      return map.fail_at(list.at, "labels",
                         "must be a list of " + std::to_string(key.values.size()) + " words");
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const Node& label = list.items[i];
      const std::string wrong = wrong_as_name(label.text);
      if (!wrong.empty()) map.fail_at(label.at, "labels", wrong);
      key.cells[i] = label.text;
    }
  }

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

void fields(Fields& map, SweepFile& sweep) { SweepFields().add_to(map, sweep); }

std::vector<KeyDoc> describe_sweep() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  SweepFile sweep;
  read_fields(MapReader(reading, nothing), [&sweep](Fields& map) { fields(map, sweep); });
  return reading.docs();
}

}  // namespace weft
