// The getters of single values.
#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/plain_text.h"
#include "sim/spec/reader.h"

namespace weft {
namespace {

constexpr std::size_t kLongestPath = 4'096;

std::string integer_text(std::int64_t value) { return std::to_string(value); }
std::string duration_text(Duration value) { return to_text(value); }
std::string size_text(Bytes value) { return to_text(value); }
std::string bandwidth_text(Bandwidth value) { return to_text(value); }
std::string flops_text(Flops value) { return to_text(value); }
std::string flop_rate_text(FlopRate value) { return to_text(value); }

}  // namespace

template <>
const MapReader::Kind<std::int64_t>& MapReader::kind_of(ValueForm /*form*/) {
  static const Kind<std::int64_t> kind{"integer", "", "4", parse_integer, integer_text};
  return kind;
}

template <>
const MapReader::Kind<Duration>& MapReader::kind_of(ValueForm form) {
  static const Kind<Duration> kind{"duration", duration_units(), "700 ns", parse_duration,
                                   duration_text};
  static const Kind<Duration> rate{"message rate", message_rate_units(), "215 M/s",
                                   parse_message_rate, message_rate_text};
  return form == ValueForm::message_rate ? rate : kind;
}

template <>
const MapReader::Kind<Bytes>& MapReader::kind_of(ValueForm /*form*/) {
  static const Kind<Bytes> kind{"size", byte_units(), "64 KiB", parse_bytes, size_text};
  return kind;
}

template <>
const MapReader::Kind<Bandwidth>& MapReader::kind_of(ValueForm /*form*/) {
  static const Kind<Bandwidth> kind{"bandwidth", bandwidth_units(), "200 Gb/s", parse_bandwidth,
                                    bandwidth_text};
  return kind;
}

template <>
const MapReader::Kind<Flops>& MapReader::kind_of(ValueForm /*form*/) {
  static const Kind<Flops> kind{"operations", flop_units(), "137 GFLOP", parse_flops, flops_text};
  return kind;
}

template <>
const MapReader::Kind<FlopRate>& MapReader::kind_of(ValueForm /*form*/) {
  static const Kind<FlopRate> kind{"rate of operations", flop_rate_units(), "22.6 TFLOP/s",
                                   parse_flop_rate, flop_rate_text};
  return kind;
}

template <>
const MapReader::Kind<double>& MapReader::kind_of(ValueForm form) {
  static const Kind<double> number{"number", "", "2.5", parse_number, number_text};
  static const Kind<double> fraction{"fraction", "", "0.05", parse_fraction, number_text};
  return form == ValueForm::fraction ? fraction : number;
}

template <>
Range<std::int64_t> MapReader::usual(ValueForm /*form*/) {
  return kCount;
}
template <>
Range<Duration> MapReader::usual(ValueForm form) {
  // As times between two messages, so the slowest rate is the longest.
  constexpr Range<Duration> kMessages{picoseconds(1), nanoseconds(1'000'000)};
  return form == ValueForm::message_rate ? kMessages : kHardwareTime;
}
template <>
Range<Bytes> MapReader::usual(ValueForm /*form*/) {
  return kAnySize;
}
template <>
Range<Bandwidth> MapReader::usual(ValueForm /*form*/) {
  return kAnyBandwidth;
}
template <>
Range<Flops> MapReader::usual(ValueForm /*form*/) {
  return {flops(0), flops(1'000'000'000'000'000'000)};
}
template <>
Range<FlopRate> MapReader::usual(ValueForm /*form*/) {
  return {FlopRate::from_count(1'000'000), gigaflops(1'000'000'000)};
}
template <>
Range<double> MapReader::usual(ValueForm /*form*/) {
  return {0, 1};
}

template <class T>
std::string MapReader::text_of(ValueForm form, T value) {
  return kind_of<T>(form).text(value);
}

template <class T>
std::optional<T> MapReader::value(std::string_view key, ValueForm form, const Range<T>& range,
                                  std::string_view help,
                                  const std::optional<std::string>& fallback) {
  const Kind<T>& kind = kind_of<T>(form);
  if (reading_->describes()) {
    describe(key, kind.type, help, [&](KeyDoc& doc) {
      doc.units = kind.units;
      doc.low = kind.text(range.low);
      doc.high = kind.text(range.high);
      if (fallback) doc.fallback = *fallback;
    });
    return std::nullopt;
  }
  const Missing missing = fallback ? Missing::fine : Missing::required;
  const Node* node = scalar(key, missing, {.help = help, .example = kind.example});
  if (node == nullptr) return std::nullopt;
  const Parsed<T> parsed = kind.parse(node->text);
  if (!parsed.ok()) {
    fail(*node, key, parsed.problem);
    return std::nullopt;
  }
  if (parsed.value < range.low || range.high < parsed.value) {
    fail(*node, key,
         "must be from " + kind.text(range.low) + " to " + kind.text(range.high) + ", not " +
             node->text);
    return std::nullopt;
  }
  return parsed.value;
}

template std::string MapReader::text_of(ValueForm, std::int64_t);
template std::string MapReader::text_of(ValueForm, Duration);
template std::string MapReader::text_of(ValueForm, Bytes);
template std::string MapReader::text_of(ValueForm, Bandwidth);
template std::string MapReader::text_of(ValueForm, Flops);
template std::string MapReader::text_of(ValueForm, FlopRate);
template std::string MapReader::text_of(ValueForm, double);
template std::optional<std::int64_t> MapReader::value(std::string_view, ValueForm,
                                                      const Range<std::int64_t>&, std::string_view,
                                                      const std::optional<std::string>&);
template std::optional<Duration> MapReader::value(std::string_view, ValueForm,
                                                  const Range<Duration>&, std::string_view,
                                                  const std::optional<std::string>&);
template std::optional<Bytes> MapReader::value(std::string_view, ValueForm, const Range<Bytes>&,
                                               std::string_view, const std::optional<std::string>&);
template std::optional<Bandwidth> MapReader::value(std::string_view, ValueForm,
                                                   const Range<Bandwidth>&, std::string_view,
                                                   const std::optional<std::string>&);
template std::optional<Flops> MapReader::value(std::string_view, ValueForm, const Range<Flops>&,
                                               std::string_view, const std::optional<std::string>&);
template std::optional<FlopRate> MapReader::value(std::string_view, ValueForm,
                                                  const Range<FlopRate>&, std::string_view,
                                                  const std::optional<std::string>&);
template std::optional<double> MapReader::value(std::string_view, ValueForm, const Range<double>&,
                                                std::string_view,
                                                const std::optional<std::string>&);

std::vector<int> MapReader::counts(std::string_view key, Range<std::int64_t> range,
                                   Range<std::size_t> length, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "list of integers", help);
    return {};
  }
  const Entry* entry = find(key, Missing::required, {.help = help});
  if (entry == nullptr) return {};
  const Node& list = entry->value;
  if (list.kind != Node::Kind::list || list.items.size() < length.low ||
      list.items.size() > length.high) {
    fail(list, key,
         "must be a list of " + std::to_string(length.low) + " to " + std::to_string(length.high) +
             " whole numbers, for example [16, 8]");
    return {};
  }
  std::vector<int> read;
  for (const Node& item : list.items) {
    const Parsed<std::int64_t> parsed = parse_integer(item.text);
    if (!parsed.ok() || parsed.value < range.low || parsed.value > range.high) {
      fail(item, key,
           "each number must be from " + integer_text(range.low) + " to " +
               integer_text(range.high) + ", in plain digits");
    }
    read.push_back(parsed.ok() ? static_cast<int>(std::min(parsed.value, range.high)) : 0);
  }
  return read;
}

std::string MapReader::name(std::string_view key, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "text", help);
    return "unnamed";
  }
  const Node* node = scalar(key, Missing::required, {.help = help});
  return node == nullptr ? "unnamed" : name_of(*node, key);
}

std::string MapReader::name_or_none(std::string_view key, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "text", help, [](KeyDoc& doc) { doc.fallback = "none"; });
    return "";
  }
  const Node* node = scalar(key, Missing::fine, {});
  return node == nullptr ? "" : name_of(*node, key);
}

std::string MapReader::name_of(const Node& node, std::string_view key) {
  const std::string wrong = wrong_as_name(node.text);
  if (!wrong.empty()) fail(node, key, wrong);
  return node.text;
}

std::string MapReader::file(std::string_view key, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "path", help);
    return "unnamed";
  }
  const Node* node = scalar(key, Missing::required, {.help = help});
  return node == nullptr ? "unnamed" : file_of(*node, key);
}

std::string MapReader::file_or_none(std::string_view key, std::string_view help) {
  if (reading_->describes()) {
    describe(key, "path", help, [](KeyDoc& doc) { doc.fallback = "none"; });
    return "";
  }
  const Node* node = scalar(key, Missing::fine, {});
  return node == nullptr ? "" : file_of(*node, key);
}

std::string MapReader::file_of(const Node& node, std::string_view key) {
  const std::string written = line_of(node, key, kLongestPath);
  return written.empty() ? "unnamed" : path_from(node.at, written).generic_string();
}

std::string MapReader::line_of(const Node& node, std::string_view key, std::size_t longest) {
  if (node.text.empty() || node.text.size() > longest || !is_plain_text(node.text)) {
    fail(node, key, "must be 1 to " + std::to_string(longest) + " characters on one line");
  }
  return node.text;
}

}  // namespace weft
