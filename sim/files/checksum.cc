#include "sim/files/checksum.h"

#include <fmt/format.h>

#include "sim/core/assert.h"
#include "sim/core/fingerprint.h"

namespace weft {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kMember = "\"checksum\"";

std::string_view trimmed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlank);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

// Without this letter at its end, and what is blank around it.
bool drop_last(std::string_view& text, char letter) {
  text = trimmed(text);
  if (text.empty() || text.back() != letter) return false;
  text = trimmed(text.substr(0, text.size() - 1));
  return true;
}

}  // namespace

std::string checksum_of(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

std::string with_checksum(std::string_view object) {
  const bool lines = trimmed(object).find('\n') != std::string_view::npos;
  std::string_view body = object;
  const bool is_object = drop_last(body, '}') && body.size() > 1;
  SIM_ASSERT(is_object);
  const std::string sum = checksum_of(body);
  return lines ? fmt::format("{},\n  {}: \"{}\"\n}}\n", body, kMember, sum)
               : fmt::format("{},{}:\"{}\"}}\n", body, kMember, sum);
}

Checked check_checksum(std::string_view object) {
  const std::size_t at = object.rfind(kMember);
  if (at == std::string_view::npos) return Checked::absent;
  std::string_view body = object.substr(0, at);
  std::string_view value = object.substr(at + kMember.size());
  if (!drop_last(body, ',') || !drop_last(value, '}') || !drop_last(value, '"')) {
    return Checked::wrong;
  }
  const std::size_t digits = checksum_of("").size();
  if (value.size() < digits) return Checked::wrong;
  std::string_view colon = value.substr(0, value.size() - digits);
  const bool in_place = drop_last(colon, '"') && drop_last(colon, ':') && colon.empty();
  return in_place && value.ends_with(checksum_of(body)) ? Checked::right : Checked::wrong;
}

}  // namespace weft
