// Values as bytes and back, the same on every machine: integers in as many bytes as they need,
// texts and lists after their lengths. Nothing says what comes next: the reader asks in the order
// of the writer.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

// Both take values of a struct from `each_member(visit, value)`, which whoever knows it writes:
// it calls visit(member, member ...) with all of them, in one order.
class Packer {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (pack(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void pack_word(std::uint64_t word) {
    constexpr unsigned kBits = 7;
    constexpr std::uint64_t kMore = 1U << kBits;
    for (; word >= kMore; word >>= kBits) bytes_ += static_cast<char>(word | kMore);
    bytes_ += static_cast<char>(word);
  }
  template <class Value>
  void pack(const Value& value) {
    if constexpr (std::is_enum_v<Value> || std::unsigned_integral<Value>) {
      pack_word(static_cast<std::uint64_t>(value));
    } else if constexpr (std::signed_integral<Value>) {  // 0 -1 1 -2 2 as 0 1 2 3 4
      const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      pack_word((word << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    } else if constexpr (std::same_as<Value, double>) {
      pack_word(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (requires { value.count(); }) {  // a quantity
      pack(value.count());
    } else if constexpr (requires { value.is_none(); }) {  // an id
      pack_word(value.value);
    } else if constexpr (std::convertible_to<Value, std::string_view>) {
      const std::string_view text = value;
      pack_word(text.size());
      bytes_ += text;
    } else if constexpr (requires { value.size(); }) {
      pack_word(value.size());
      for (const auto& one : value) pack(one);
    } else {
      each_member(*this, value);
    }
  }

  std::string bytes_;
};

// What is not as a Packer wrote it leaves the reader failed, and the rest at its defaults.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (unpack(values), ...);
  }
  // Bytes that were not asked for yet.
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  // Everything was there, and nothing else.
  [[nodiscard]] bool is_done() const { return !failed_ && left_.empty(); }

 private:
  std::uint64_t word() {
    constexpr unsigned kBits = 7;
    constexpr unsigned kMore = 1U << kBits;
    std::uint64_t word = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += kBits) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      word |= std::uint64_t{byte & (kMore - 1)} << shift;
      if (byte < kMore) return word;
    }
    failed_ = true;
    return 0;
  }
  // Of what follows, no item of which is without a byte: no more than there are bytes.
  std::size_t length() {
    const std::uint64_t length = word();
    if (length <= left_.size()) return length;
    failed_ = true;
    return 0;
  }
  template <class Value>
  void unpack(Value& value) {
    if constexpr (std::is_enum_v<Value> || std::unsigned_integral<Value>) {
      value = static_cast<Value>(word());
    } else if constexpr (std::signed_integral<Value>) {
      const std::uint64_t folded = word();
      value = static_cast<Value>((folded >> 1U) ^ ((folded & 1U) != 0 ? ~std::uint64_t{0} : 0));
    } else if constexpr (std::same_as<Value, double>) {
      value = std::bit_cast<double>(word());
    } else if constexpr (requires { Value::from_count(0); }) {
      std::int64_t count = 0;
      unpack(count);
      value = Value::from_count(count);
    } else if constexpr (requires { value.is_none(); }) {
      value = Value(static_cast<std::uint32_t>(word()));
    } else if constexpr (std::same_as<Value, std::string>) {
      const std::size_t size = length();
      value = left_.substr(0, size);
      left_.remove_prefix(size);
    } else if constexpr (requires { value.resize(1); }) {
      value.resize(length());
      for (auto& one : value) unpack(one);
    } else if constexpr (requires { value.size(); }) {  // of one size
      if (length() != value.size()) failed_ = true;
      for (auto& one : value) unpack(one);
    } else {
      each_member(*this, value);
    }
  }

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace weft
