#include "sim/spec/fields.h"

#include <algorithm>
#include <limits>

#include "sim/core/assert.h"
#include "sim/core/plain_text.h"

namespace weft {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return '[' + text + ']';
}

template <class N>
std::vector<std::string> texts_of(const std::vector<N>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const N number : numbers) texts.push_back(std::to_string(number));
  return texts;
}

// Which YAML readers need no quotes to take for what it is.
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string table_text(const Fields::Table& table, std::string (*text)(std::int64_t)) {
  std::vector<std::string> rows;
  for (const std::vector<std::int64_t>& row : table) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const std::int64_t cell : row) cells.push_back(text(cell));
    rows.push_back(listed(cells));
  }
  return listed(rows);
}

Key<std::int64_t> widened(const Key<int>& row) {
  Key<std::int64_t> wide{.help = row.help, .means = row.means, .quiet = row.quiet};
  if (row.range) wide.range = {row.range->low, row.range->high};
  if (row.fallback) wide.fallback = *row.fallback;
  return wide;
}

}  // namespace

template <class T>
void Fields::value(std::string_view key, T& member, const Key<T>& row, ValueForm form) {
  if (writes()) {
    if (row.quiet && row.fallback == member) return;
    return write(key, MapReader::text_of(form, member));
  }
  std::optional<std::string> fallback;
  if (row.fallback) {
    fallback = row.means;
    if (row.means.empty() && describes()) fallback = MapReader::text_of(form, *row.fallback);
  }
  const Range<T> range = row.range.value_or(MapReader::usual<T>(form));
  const std::optional<T> read = reader_->value(key, form, range, row.help, fallback);
  member = read.value_or(row.fallback.value_or(range.low));
}

void Fields::add(std::string_view key, int& member, const Key<int>& row) {
  std::int64_t wide = member;
  value(key, wide, widened(row), ValueForm::plain);
  SIM_ASSERT(wide <= std::numeric_limits<int>::max());
  member = static_cast<int>(wide);
}
void Fields::add(std::string_view key, std::uint64_t& member, const Key<std::int64_t>& row) {
  auto wide = static_cast<std::int64_t>(member);
  value(key, wide, row, ValueForm::plain);
  member = static_cast<std::uint64_t>(wide);
}
void Fields::add(std::string_view key, std::int64_t& member, const Key<std::int64_t>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, double& member, const Key<double>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, Duration& member, const Key<Duration>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, Bytes& member, const Key<Bytes>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, Bandwidth& member, const Key<Bandwidth>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, Flops& member, const Key<Flops>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::add(std::string_view key, FlopRate& member, const Key<FlopRate>& row) {
  value(key, member, row, ValueForm::plain);
}
void Fields::fraction(std::string_view key, double& member, const Key<double>& row) {
  value(key, member, row, ValueForm::fraction);
}
void Fields::message_rate(std::string_view key, Duration& member, std::string_view help) {
  value(key, member, {.help = help}, ValueForm::message_rate);
}

void Fields::name(std::string_view key, std::string& member, std::string_view help) {
  if (writes()) return write(key, in_double_quotes(member));
  member = reader_->name(key, help);
}

void Fields::name_or_none(std::string_view key, std::string& member, std::string_view help) {
  if (!writes()) {
    member = reader_->name_or_none(key, help);
  } else if (!member.empty()) {
    write(key, in_double_quotes(member));
  }
}

void Fields::file(std::string_view key, std::string& member, std::string_view help) {
  if (writes()) return write(key, in_double_quotes(member));
  member = reader_->file(key, help);
}

void Fields::file_or_none(std::string_view key, std::string& member, std::string_view help) {
  if (!writes()) {
    member = reader_->file_or_none(key, help);
  } else if (!member.empty()) {
    write(key, in_double_quotes(member));
  }
}

void Fields::list(std::string_view key, std::vector<int>& member, Range<std::int64_t> range,
                  Range<std::size_t> length, std::string_view help) {
  if (!writes()) {
    member = reader_->counts(key, range, length, help);
    return;
  }
  write_list(key, texts_of(member));
}

void Fields::list_or_none(std::string_view key, std::vector<std::int64_t>& member,
                          Range<std::int64_t> range, std::string_view help) {
  if (!writes()) {
    member = reader_->optional_counts(key, range, help);
  } else if (!member.empty()) {
    write(key, listed(texts_of(member)));
  }
}

void Fields::names_or_none(std::string_view key, std::vector<std::string>& member,
                           std::string_view help) {
  if (!writes()) {
    member = reader_->optional_names(key, help);
    return;
  }
  if (member.empty()) return;
  std::vector<std::string> quoted;
  quoted.reserve(member.size());
  for (const std::string& name : member)
    quoted.push_back(is_number(name) ? name : in_double_quotes(name));
  write_list(key, quoted);
}

void Fields::counts_table(std::string_view key, Table& member, Range<std::int64_t> range,
                          std::string_view help) {
  if (!writes()) {
    member = reader_->optional_counts_table(key, range, help);
  } else if (!member.empty()) {
    write(key, table_text(member, [](std::int64_t count) { return std::to_string(count); }));
  }
}

void Fields::sizes_table(std::string_view key, Table& member, std::string_view help) {
  if (!writes()) {
    member = reader_->optional_sizes_table(key, help);
  } else if (!member.empty()) {
    write(key, table_text(member, [](std::int64_t size) { return to_text(bytes(size)); }));
  }
}

void Fields::entry(std::string_view key, const Entry*& member, std::string_view type,
                   std::string_view help) {
  SIM_ASSERT(!writes());
  member = reader_->entry(key, type, help);
}

void Fields::entry_or_none(std::string_view key, const Entry*& member, std::string_view type,
                           std::string_view help) {
  SIM_ASSERT(!writes());
  member = reader_->entry_or_none(key, type, help);
}

std::optional<bool> Fields::says(std::string_view key,
                                 const std::vector<std::string_view>& words) const {
  const auto found = said_->find(key);
  if (found == said_->end()) return std::nullopt;
  return std::find(words.begin(), words.end(), found->second) != words.end();
}

Fields Fields::where(std::string_view key, const std::vector<std::string_view>& words,
                     std::string_view text) {
  const std::optional<bool> holds = says(key, words);
  if (writes()) return written_if(holds);
  std::string only(text);
  if (text.empty() && reader_->says_why(holds))
    only = std::string(key) + ": " + alternatives(words);
  return {reader_->where(holds, only, key, words), *said_};
}

Fields Fields::only_if(std::optional<bool> holds, std::string_view only) {
  if (writes()) return written_if(holds);
  return {reader_->where(holds, only), *said_};
}

Fields Fields::written_if(std::optional<bool> holds) const {
  Fields same = *this;
  same.applies_ = applies_ && holds.value_or(false);
  return same;
}

bool Fields::reads_well() const {
  return !writes() && !describes() && !reader_->reading().problems().has_errors();
}

void Fields::fail(std::string_view key, std::string message) {
  reader_->reading().error_at_key(reader_->path_of(key), std::move(message));
}

void Fields::fail_at(const SourcePosition& at, std::string_view key, std::string message) {
  reader_->reading().error(at, reader_->path_of(key), std::move(message));
}

void Fields::write(std::string_view key, std::string_view text) {
  if (applies_) out_->line(key, text);
}

void Fields::write_list(std::string_view key, const std::vector<std::string>& words) {
  write(key, listed(words));
}

void Fields::note(std::string_view key, std::string_view word) {
  if (reader_->is_elsewhere()) {
    said_->insert_or_assign(std::string(key), "");
  } else if (!word.empty() && !reader_->is_unsure()) {
    said_->insert_or_assign(std::string(key), std::string(word));
  }
}

}  // namespace weft
