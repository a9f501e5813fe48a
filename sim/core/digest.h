// 128 bits of hash of a sequence of values, for keys by content: that two of 10^9 different ones
// share a key has a probability of 10^-21.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>

#include "sim/core/fingerprint.h"

namespace weft {

struct DigestValue {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const DigestValue&) const = default;
};

// Two hashes that have nothing to do with one another. Of a struct, whoever knows it writes
// `void add(Digest&, const Struct&)`, with a structured binding: it does not compile where a member
// is missing.
class Digest {
 public:
  template <class... Values>
  void add_all(const Values&... values) {
    (add_one(values), ...);
  }
  // Whole vectors of plain data without gaps between its members.
  template <class Items>
  void add_plain(const Items& items) {
    using One = std::remove_cvref_t<decltype(*items.begin())>;
    static_assert(std::has_unique_object_representations_v<One>);
    add_word(items.size());
    const std::size_t size = items.size() * sizeof(One);
    const auto* bytes = size == 0 ? nullptr : reinterpret_cast<const char*>(&*items.begin());
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      const std::size_t left = size - at;
      std::memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
      add_word(word);
    }
  }
  [[nodiscard]] DigestValue value() const { return {.low = low_, .high = high_}; }

 private:
  void add_word(std::uint64_t value) {
    low_ = mix64(low_ ^ value) + 0x9E3779B97F4A7C15ULL;
    high_ = (std::rotl(high_, 29) ^ mix64(value + high_)) * 0xD6E8FEB86659FD93ULL;
  }
  template <class Value>
  void add_one(const Value& value) {
    if constexpr (std::is_enum_v<Value> || std::integral<Value>) {
      add_word(static_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<Value, double>) {
      add_word(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::same_as<Value, std::string>) {
      add_word(value.size());
      add_word(fnv1a(value));
      add_word(fnv1a(value, 0x6C62272E07BB0142ULL));
    } else if constexpr (requires { value.count(); }) {  // a quantity
      add_word(static_cast<std::uint64_t>(value.count()));
    } else if constexpr (requires { value.has_value(); }) {
      add_word(value.has_value() ? 1 : 0);
      if (value) add_one(*value);
    } else if constexpr (std::ranges::range<Value>) {
      add_word(static_cast<std::uint64_t>(std::ranges::distance(value)));
      for (const auto& one : value) add_one(one);
    } else if constexpr (requires { value.is_none(); }) {  // an id
      add_word(value.value);
    } else {
      add(*this, value);
    }
  }

  std::uint64_t low_ = 0xCBF29CE484222325ULL;
  std::uint64_t high_ = 0x84222325CBF29CE4ULL;
};

inline void add(Digest& digest, const DigestValue& value) { digest.add_all(value.low, value.high); }

}  // namespace weft
