// Values of JSON that others wrote: if one is missing or of another type, a fallback is returned.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft {

using Json = nlohmann::json;

inline const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

inline std::optional<std::int64_t> whole_of(const Json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return value->get<std::int64_t>();
}
inline std::int64_t whole_or(const Json* value, std::int64_t fallback) {
  return whole_of(value).value_or(fallback);
}

inline std::string text_or(const Json* value, const char* fallback) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : fallback;
}

// Microseconds, whole or not, as nanoseconds. Nothing above 2^62.
inline std::optional<std::int64_t> nanoseconds_of(const Json* value) {
  constexpr double kMost = 4.6e18;
  if (value == nullptr || !value->is_number()) return std::nullopt;
  if (const auto whole = whole_of(value); whole && *whole < INT64_MAX / 2000 && *whole >= 0) {
    return *whole * 1000;
  }
  const double ns = value->get<double>() * 1000;
  if (!(ns >= 0 && ns < kMost)) return std::nullopt;
  return std::llround(ns);
}

// A list of whole numbers, or its text, as some writers have it. Otherwise nothing.
inline std::optional<std::vector<std::int64_t>> wholes_of(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const Json list = Json::parse(value->get_ref<const std::string&>(), nullptr, false);
    if (!list.is_array()) return std::nullopt;
    return wholes_of(&list);
  }
  if (!value->is_array()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Json& one : *value) {
    const auto number = whole_of(&one);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace weft
