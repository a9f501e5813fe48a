// The wire format of protobuf, as far as execution traces need it: numbered fields of four types
// one after another. Readers refer to the caller's bytes and copy nothing.
//
//   for (WireReader fields(message); auto field = fields.next();) { ... field->number ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  // unless the type is bytes
  std::string_view bytes;   // if the type is bytes: a message, a text or packed numbers
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  // Nothing at the end, or if the bytes are not a field: problem() then says what is wrong.
  std::optional<WireField> next();

  // A message after its length, as files contain them one after another.
  std::optional<std::string_view> next_delimited();

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::optional<std::uint64_t> varint();
  std::optional<std::uint64_t> fixed(std::size_t width);
  std::optional<std::string_view> counted();
  void fail(const char* what);

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string problem_;
};

// Consecutive varints, as in a packed field. Nothing if they are malformed.
std::optional<std::vector<std::uint64_t>> packed_varints(std::string_view bytes);

class WireWriter {
 public:
  void varint(std::uint32_t number, std::uint64_t value);
  void bytes(std::uint32_t number, std::string_view value);
  void packed(std::uint32_t number, const std::vector<std::uint64_t>& values);
  void delimited(std::string_view message);  // after its length, with no field number
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void raw(std::uint64_t value);
  std::string out_;
};

}  // namespace weft
