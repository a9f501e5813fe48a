#include "sim/traces/chakra/wire.h"

#include <fmt/format.h>

namespace weft {
namespace {

constexpr unsigned kTypeBits = 3;
constexpr std::uint64_t kTypeMask = 7;
constexpr std::uint64_t kLargestNumber = (1U << 29U) - 1;  // of a field in protobuf
constexpr unsigned kMore = 0x80;
constexpr unsigned kPayload = 0x7f;

std::uint64_t key_of(std::uint32_t number, WireType type) {
  return (std::uint64_t{number} << kTypeBits) | static_cast<std::uint64_t>(type);
}

}  // namespace

std::optional<WireField> WireReader::next() {
  if (!problem_.empty() || at_ == bytes_.size()) return std::nullopt;
  const std::optional<std::uint64_t> key = varint();
  if (!key) return std::nullopt;
  WireField field;
  const std::uint64_t number = *key >> kTypeBits;
  if (number == 0 || number > kLargestNumber) {
    fail("a field cannot have such a number");
    return std::nullopt;
  }
  field.number = static_cast<std::uint32_t>(number);
  field.type = static_cast<WireType>(*key & kTypeMask);
  std::optional<std::uint64_t> value = 0;
  switch (field.type) {
    case WireType::varint:
      value = varint();
      break;
    case WireType::fixed64:
      value = fixed(8);
      break;
    case WireType::fixed32:
      value = fixed(4);
      break;
    case WireType::bytes:
      if (const auto bytes = counted()) {
        field.bytes = *bytes;
      } else {
        value.reset();
      }
      break;
    default:
      fail("a field cannot have such a type");
      return std::nullopt;
  }
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

std::optional<std::string_view> WireReader::next_delimited() {
  if (!problem_.empty() || at_ == bytes_.size()) return std::nullopt;
  return counted();
}

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) {
      fail("ends inside a number");
      return std::nullopt;
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= std::uint64_t{byte & kPayload} << shift;
    if ((byte & kMore) == 0) return value;
  }
  fail("a number longer than 10 bytes");
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t width) {
  if (bytes_.size() - at_ < width) {
    fail("ends inside a number");
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
  }
  at_ += width;
  return value;
}

std::optional<std::string_view> WireReader::counted() {
  const std::optional<std::uint64_t> length = varint();
  if (!length) return std::nullopt;
  if (*length > bytes_.size() - at_) {
    problem_ =
        fmt::format("at byte {}: {} bytes announced, but {} are left; is the file truncated?", at_,
                    *length, bytes_.size() - at_);
    return std::nullopt;
  }
  const std::string_view found = bytes_.substr(at_, *length);
  at_ += *length;
  return found;
}

void WireReader::fail(const char* what) { problem_ = fmt::format("at byte {}: {}", at_, what); }

std::optional<std::vector<std::uint64_t>> packed_varints(std::string_view bytes) {
  std::vector<std::uint64_t> values;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (shift > 63) return std::nullopt;
    value |= std::uint64_t{byte & kPayload} << shift;
    shift += 7;
    if ((byte & kMore) != 0) continue;
    values.push_back(value);
    value = 0;
    shift = 0;
  }
  if (shift != 0) return std::nullopt;
  return values;
}

void WireWriter::varint(std::uint32_t number, std::uint64_t value) {
  raw(key_of(number, WireType::varint));
  raw(value);
}

void WireWriter::bytes(std::uint32_t number, std::string_view value) {
  raw(key_of(number, WireType::bytes));
  delimited(value);
}

void WireWriter::packed(std::uint32_t number, const std::vector<std::uint64_t>& values) {
  if (values.empty()) return;
  WireWriter inside;
  for (const std::uint64_t value : values) inside.raw(value);
  bytes(number, inside.text());
}

void WireWriter::delimited(std::string_view message) {
  raw(message.size());
  out_ += message;
}

void WireWriter::raw(std::uint64_t value) {
  while (value > kPayload) {
    out_ += static_cast<char>((value & kPayload) | kMore);
    value >>= 7U;
  }
  out_ += static_cast<char>(value);
}

}  // namespace weft
