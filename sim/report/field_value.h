// The value of a field, and its three forms in results: JSON, CSV, a table for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "sim/core/quantity.h"
#include "sim/report/unit.h"

namespace weft {

// monostate: the field does not apply. A time that is a double is in microseconds: sums over WGs
// do not fit into a Duration.
using FieldValue = std::variant<std::monostate, Duration, double, std::int64_t, std::string>;

inline FieldValue value_of(Duration time) { return time; }
inline FieldValue value_of(double number) { return number; }
template <std::integral Count>
FieldValue value_of(Count count) {
  return static_cast<std::int64_t>(count);
}
inline FieldValue value_of(Bytes size) { return size.count(); }
inline FieldValue value_of(std::string word) { return word; }
inline FieldValue value_of(const char* word) { return std::string(word); }

template <class Number>
FieldValue value_of(const std::optional<Number>& number) {
  return number ? value_of(*number) : FieldValue{};
}

inline bool is_there(const FieldValue& value) {
  return !std::holds_alternative<std::monostate>(value);
}

// Exact to the picosecond up to 2^53 ps, and printed without rounding noise: 1.5,
// not 1.4999999999999998.
double in_us(Duration duration);

// With full precision, for files that programs read; null or empty if there is none.
nlohmann::ordered_json json_of(const FieldValue& value);
std::string csv_text(const FieldValue& value);

// For people; "-" if there is none.
std::string table_text(const FieldValue& value, Unit unit);

}  // namespace weft
