#include "sim/scenario/axis_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "sim/scenario/base_keys.h"
#include "sim/scenario/list_elements.h"
#include "sim/scenario/load.h"

namespace weft {
namespace {

constexpr double kBillion = 1e9;
constexpr std::size_t kMostValues = 100'000;  // of one axis

template <class T>
Parsed<std::int64_t> counted(Parsed<T> parsed) {
  return {.value = parsed.value.count(), .problem = std::move(parsed.problem)};
}

Parsed<std::int64_t> billionths(Parsed<double> parsed) {
  if (std::abs(parsed.value) > kBillion) return {.problem = "too large"};
  return {.value = std::llround(parsed.value * kBillion), .problem = std::move(parsed.problem)};
}
std::string billionths_text(std::int64_t count) {
  return number_text(static_cast<double>(count) / kBillion);
}

// Four digits: the rate is kept as the time between two messages, in whole picoseconds.
double millions_a_second(std::string_view text) {
  constexpr double kMillionPicoseconds = 1e6;
  const double rate =
      kMillionPicoseconds / static_cast<double>(parse_message_rate(text).value.count());
  const double step = std::pow(10.0, std::floor(std::log10(rate)) - 3);
  return std::round(rate / step) * step;
}

template <class T>
double in_units(const Parsed<T>& parsed, double unit) {
  return static_cast<double>(parsed.value.count()) / unit;
}

const std::array kTypes = {
    CountedType{
        .type = "integer",
        .suffix = "",
        .parse = parse_integer,
        .text = [](std::int64_t count) { return std::to_string(count); },
        .cell =
            [](std::string_view text) { return static_cast<double>(parse_integer(text).value); }},
    CountedType{.type = "duration",
                .suffix = "_us",
                .parse = [](std::string_view text) { return counted(parse_duration(text)); },
                .text = [](std::int64_t count) { return to_text(picoseconds(count)); },
                .cell = [](std::string_view text) { return in_units(parse_duration(text), 1e6); }},
    CountedType{.type = "size",
                .suffix = "_bytes",
                .parse = [](std::string_view text) { return counted(parse_bytes(text)); },
                .text = [](std::int64_t count) { return to_text(bytes(count)); },
                .cell = [](std::string_view text) { return in_units(parse_bytes(text), 1); }},
    CountedType{
        .type = "bandwidth",
        .suffix = "_gbps",
        .parse = [](std::string_view text) { return counted(parse_bandwidth(text)); },
        .text = [](std::int64_t count) { return to_text(bytes_per_second(count)); },
        .cell = [](std::string_view text) { return in_units(parse_bandwidth(text), 1e9 / 8); }},
    CountedType{
        .type = "rate of operations",
        .suffix = "_tflops",
        .parse = [](std::string_view text) { return counted(parse_flop_rate(text)); },
        .text = [](std::int64_t count) { return to_text(FlopRate::from_count(count)); },
        .cell = [](std::string_view text) { return in_units(parse_flop_rate(text), 1e12); }},
    CountedType{.type = "message rate",
                .suffix = "_m_per_s",
                .parse = [](std::string_view text) { return counted(parse_message_rate(text)); },
                .text = [](std::int64_t count) { return message_rate_text(picoseconds(count)); },
                .cell = millions_a_second,
                .has_ranges = false},  // what is counted is the time between two
    CountedType{.type = "number",
                .suffix = "",
                .parse = [](std::string_view text) { return billionths(parse_number(text)); },
                .text = billionths_text,
                .cell = [](std::string_view text) { return parse_number(text).value; }},
    CountedType{.type = "fraction",
                .suffix = "",
                .parse = [](std::string_view text) { return billionths(parse_fraction(text)); },
                .text = billionths_text,
                .cell = [](std::string_view text) { return parse_fraction(text).value; }},
};

std::string does_not_come_to(std::int64_t below, std::int64_t above, std::int64_t to,
                             const CountedType& type) {
  return "it reaches " + type.text(below) + " or " + type.text(above) + ", not to " + type.text(to);
}

bool adds_up(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return !__builtin_add_overflow(a, b, &sum);
}

std::string_view without_last(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

// As the path of an element's key is described: "workload.pairs[].mode" of "workload.pairs.3.mode".
constexpr std::string_view kElement = "[]";
std::string as_described(std::string_view path) {
  std::string described;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    if (names_an_element(part) && !described.empty()) {
      described += kElement;
    } else {
      described += (described.empty() ? "" : ".") + std::string(part);
    }
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return described;
}

// The other way round, with the elements that `said` names, or the first.
std::string with_elements_of(std::string_view said, std::string described) {
  for (auto at = described.find(kElement); at != std::string::npos; at = described.find(kElement)) {
    std::string element = "0";
    while (!said.empty()) {
      const std::string part(said.substr(0, said.find('.')));
      said.remove_prefix(std::min(said.size(), part.size() + 1));
      if (!names_an_element(part)) continue;
      element = part;
      break;
    }
    described.replace(at, kElement.size(), '.' + element);
  }
  return described;
}

}  // namespace

const CountedType* counted_type(std::string_view type) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(),
                                         [type](const auto& known) { return known.type == type; });
  return found == kTypes.end() ? nullptr : found;
}

std::vector<KeyDoc> KnownKeys::describe() { return describe_scenario(); }

const KeyDoc* KnownKeys::find(const std::string& path) const {
  const auto found = std::find_if(docs_.begin(), docs_.end(),
                                  [&path](const KeyDoc& doc) { return doc.path == path; });
  return found == docs_.end() ? nullptr : &*found;
}

std::optional<std::string> KnownKeys::type_of(const std::string& said, std::string& problem) const {
  const std::string path = as_described(said);
  if (const KeyDoc* doc = find(path)) return doc->type;
  if (path.ends_with(kElement)) {
    const KeyDoc* list = find(path.substr(0, path.find(kElement)));
    if (list != nullptr && list->type.find("list of ") != std::string::npos) return "element";
  }
  const KeyDoc* around = find(std::string(without_last(path)));
  const std::string_view last = std::string_view(path).substr(path.rfind('.') + 1);
  if (base_keys::contain(last) && around != nullptr && around->type == "map") return "base";
  problem = unknown(path, said);
  return std::nullopt;
}

std::string KnownKeys::unknown(const std::string& path, const std::string& said) const {
  std::vector<std::string> known;
  known.reserve(docs_.size());
  for (const KeyDoc& doc : docs_) known.push_back(doc.path);
  const std::string guess = nearest(path, known);
  if (!guess.empty()) return "unknown key; did you mean '" + with_elements_of(said, guess) + "'?";
  const auto has_keys = [this](std::string_view map) {
    return std::any_of(docs_.begin(), docs_.end(),
                       [map](const KeyDoc& doc) { return without_last(doc.path) == map; });
  };
  std::string around(without_last(path));
  while (!around.empty() && !has_keys(around)) around = without_last(around);
  std::string message = "unknown key; " + (around.empty() ? "a scenario" : around) + " has:";
  for (const KeyDoc& doc : docs_) {
    if (without_last(doc.path) != around) continue;
    message += ' ' + (around.empty() ? doc.path : doc.path.substr(around.size() + 1));
  }
  return message;
}

Counts doubled(RangeOfCounts range, const CountedType& type) {
  if (range.from < 1) return {.problem = "a range of powers of two must start above 0"};
  Counts counts;
  std::int64_t count = range.from;
  for (; count <= range.to && adds_up(count, count); count *= 2) counts.counts.push_back(count);
  if (counts.counts.empty()) return {.problem = "'to' is below 'from'"};
  if (counts.counts.back() != range.to) {
    return {.problem = does_not_come_to(counts.counts.back(), count, range.to, type)};
  }
  return counts;
}

Counts in_steps_of(RangeOfCounts range, std::int64_t step, const CountedType& type) {
  if (step < 1) return {.problem = "a step must be above 0"};
  if (range.to < range.from) return {.problem = "'to' is below 'from'"};
  const std::int64_t steps = (range.to - range.from) / step;
  if (steps >= static_cast<std::int64_t>(kMostValues)) {
    return {.problem = "more than " + std::to_string(kMostValues) + " values"};
  }
  Counts counts;
  for (std::int64_t i = 0; i <= steps; ++i) counts.counts.push_back(range.from + i * step);
  if (const std::int64_t last = counts.counts.back(); last != range.to) {
    return {.problem =
                does_not_come_to(last, adds_up(last, step) ? last + step : last, range.to, type)};
  }
  return counts;
}

Counts evenly(RangeOfCounts range, std::int64_t number, const CountedType& type) {
  const std::int64_t whole = range.to - range.from;
  const std::int64_t steps = number - 1;
  if (whole <= 0 || steps < 1)
    return {.problem = "at least two values are needed, and 'to' must be above 'from'"};
  if (whole % steps == 0) return in_steps_of(range, whole / steps, type);
  return {.problem = std::to_string(number) + " values from " + type.text(range.from) + " to " +
                     type.text(range.to) + " are not evenly spaced in whole " +
                     (type.type == "integer" ? "numbers" : "units") + "; use 'step' or 'values'"};
}

}  // namespace weft
