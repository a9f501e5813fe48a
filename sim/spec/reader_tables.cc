// The getters of lists of lists, of lists of maps, and of what is read elsewhere.
#include "sim/spec/reader.h"

namespace weft {
namespace {

Parsed<std::int64_t> parse_size(std::string_view text) {
  const Parsed<Bytes> size = parse_bytes(text);
  return {.value = size.value.count(), .problem = size.problem};
}

}  // namespace

std::int64_t MapReader::cell_of(const Node& node, const Cell& cell, std::string_view key) {
  if (node.kind != Node::Kind::scalar) {
    fail(node, key, "must be a single value, not " + std::string(kind_text(node)));
    return cell.range.low;
  }
  const Parsed<std::int64_t> parsed = cell.parse(node.text);
  if (!parsed.ok()) {
    fail(node, key, parsed.problem);
    return cell.range.low;
  }
  if (parsed.value < cell.range.low || cell.range.high < parsed.value) {
    fail(node, key, cell.bounds + ", not " + node.text);
    return cell.range.low;
  }
  return parsed.value;
}

std::span<const Node> MapReader::optional_items(std::string_view key, std::string_view type,
                                                std::string_view help) {
  if (reading_->describes()) {
    describe(key, type, help, [](KeyDoc& doc) { doc.fallback = "optional"; });
    return {};
  }
  const Entry* entry = find(key, Missing::fine, {});
  if (entry == nullptr) return {};
  if (entry->value.kind != Node::Kind::list || entry->value.items.empty()) {
    fail(entry->value, key, "must be a non-empty list, [a, b]");
    return {};
  }
  return entry->value.items;
}

std::vector<std::int64_t> MapReader::optional_counts(std::string_view key,
                                                     Range<std::int64_t> range,
                                                     std::string_view help) {
  const Cell cell = count_cell(range);
  std::vector<std::int64_t> read;
  for (const Node& item : optional_items(key, "list of integers", help)) {
    read.push_back(cell_of(item, cell, key));
  }
  return read;
}

std::vector<std::string> MapReader::optional_names(std::string_view key, std::string_view help) {
  std::vector<std::string> read;
  for (const Node& item : optional_items(key, "list of texts", help)) {
    if (item.kind == Node::Kind::scalar) {
      read.push_back(name_of(item, key));
    } else {
      fail(item, key, "must be a single value, not " + std::string(kind_text(item)));
    }
  }
  return read;
}

MapReader::Cell MapReader::count_cell(Range<std::int64_t> range) {
  return {
      .type = "list of lists of integers",
      .example = "[[0, 1], [2, 3]]",
      .parse = parse_integer,
      .range = range,
      .bounds = "must be from " + std::to_string(range.low) + " to " + std::to_string(range.high)};
}

MapReader::Table MapReader::table(std::string_view key, const Cell& cell, std::string_view help) {
  if (reading_->describes()) {
    describe(key, cell.type, help, [](KeyDoc& doc) { doc.fallback = "optional"; });
    return {};
  }
  const Entry* entry = find(key, Missing::fine, {});
  if (entry == nullptr) return {};
  const std::string wanted =
      "must be a list of non-empty lists, for example " + std::string(cell.example);
  const Node& rows = entry->value;
  if (rows.kind != Node::Kind::list || rows.items.empty()) {
    fail(rows, key, wanted);
    return {};
  }
  Table read;
  for (const Node& row : rows.items) {
    if (row.kind != Node::Kind::list || row.items.empty()) {
      fail(row, key, wanted);
      continue;
    }
    read.emplace_back();
    for (const Node& node : row.items) read.back().push_back(cell_of(node, cell, key));
  }
  return read;
}

MapReader::Table MapReader::optional_counts_table(std::string_view key, Range<std::int64_t> range,
                                                  std::string_view help) {
  return table(key, count_cell(range), help);
}

MapReader::Table MapReader::optional_sizes_table(std::string_view key, std::string_view help) {
  return table(key,
               {.type = "list of lists of sizes",
                .example = "[[0 B, 1 MB], [64 KiB, 0 B]]",
                .parse = parse_size,
                .range = {0, kAnySize.high.count()},
                .bounds = "must be at most " + to_text(kAnySize.high)},
               help);
}

std::vector<MapReader> MapReader::maps(std::string_view key, std::string_view help) {
  return maps(key, Missing::required, help);
}

std::vector<MapReader> MapReader::optional_maps(std::string_view key, std::string_view help) {
  return maps(key, Missing::fine, help);
}

std::vector<MapReader> MapReader::maps(std::string_view key, Missing missing,
                                       std::string_view help) {
  if (reading_->describes()) {
    describe(key, "list of maps", help, [missing](KeyDoc& doc) {
      if (missing == Missing::fine) doc.fallback = "optional";
    });
    return {MapReader(*reading_, nullptr, path_of(key) + "[]", at_)};
  }
  const Entry* entry = find(key, missing, {.help = help});
  if (entry == nullptr) return {};
  const Node& list = entry->value;
  if (list.kind != Node::Kind::list || list.items.empty()) {
    fail(list, key, "must be a non-empty list of maps, - {...}");
    return {};
  }
  std::vector<MapReader> readers;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Node& item = list.items[i];
    const std::string path = path_of(key) + '[' + std::to_string(i) + ']';
    reading_->places_[path] = item.at;
    if (item.kind == Node::Kind::map) {
      readers.push_back(MapReader(*reading_, &item, path, item.at));
    } else {
      reading_->error(item.at, path,
                      "must be a map of keys and values, not " + std::string(kind_text(item)));
    }
  }
  return readers;
}

const Entry* MapReader::entry(std::string_view key, std::string_view type, std::string_view help) {
  if (!reading_->describes()) return find(key, Missing::required, {.help = help});
  describe(key, type, help);
  return nullptr;
}

const Entry* MapReader::entry_or_none(std::string_view key, std::string_view type,
                                      std::string_view help) {
  if (!reading_->describes()) return find(key, Missing::fine, {});
  describe(key, type, help, [](KeyDoc& doc) { doc.fallback = "optional"; });
  return nullptr;
}

bool MapReader::gives(std::string_view key) const {
  const Entry* entry = node_ == nullptr ? nullptr : node_->find(key);
  return entry != nullptr && entry->value.kind != Node::Kind::null;
}

}  // namespace weft
