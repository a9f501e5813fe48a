#include "sim/serve/token.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace weft {

std::string new_token() {
  std::array<unsigned char, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bits");
  }
  std::string token;
  for (const unsigned char byte : bits) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_token(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    differs |= static_cast<unsigned>(one[i] ^ other[i]);
  }
  return differs == 0;
}

}  // namespace weft
