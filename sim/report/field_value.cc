#include "sim/report/field_value.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/report/csv_line.h"
#include "sim/report/numbers.h"

namespace weft {
namespace {

double number_of(const FieldValue& value) {
  if (const auto* time = std::get_if<Duration>(&value)) return in_us(*time);
  if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
  return std::get<double>(value);
}

Duration time_of(const FieldValue& value) {
  if (const auto* time = std::get_if<Duration>(&value)) return *time;
  return picoseconds(std::llround(number_of(value) * 1e6));
}

}  // namespace

double in_us(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

nlohmann::ordered_json json_of(const FieldValue& value) {
  if (!is_there(value)) return nullptr;
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return *count;
  return number_of(value);
}

std::string csv_text(const FieldValue& value) {
  if (!is_there(value)) return "";
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
  return csv_text(number_of(value));
}

std::string table_text(const FieldValue& value, Unit unit) {
  if (!is_there(value)) return "-";
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  switch (shown_as(unit)) {
    case ShownAs::time:
      return time_text(time_of(value));
    case ShownAs::share:
      return percent_text(number_of(value));
    case ShownAs::ratio:
      return ratio_text(number_of(value));
    case ShownAs::number:
    case ShownAs::text:
      break;
  }
  const auto* count = std::get_if<std::int64_t>(&value);
  return count != nullptr ? count_text(*count) : csv_text(number_of(value));
}

}  // namespace weft
