#include "sim/serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Plus { plain, blank };

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' && plus == Plus::blank ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit_of(text[i + 1]);
    const int low = digit_of(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

// The part before the mark; the rest stays.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

bool is_numeric_address(std::string_view name) {
  const bool six = name.starts_with('[') && name.ends_with(']');
  const char* taken = six ? "[]:.0123456789abcdefABCDEF" : ".0123456789";
  return !name.empty() && name.find_first_not_of(taken) == std::string_view::npos;
}

}  // namespace

std::string HttpTarget::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? "" : all.front();
}

std::vector<std::string> HttpTarget::values(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : query) {
    if (key == name) all.push_back(value);
  }
  return all;
}

std::optional<HttpTarget> parse_target(std::string_view target) {
  auto path = decoded(take_until(target, '?'), Plus::plain);
  if (!path) return std::nullopt;
  HttpTarget parsed{.path = *std::move(path), .query = {}};
  while (!target.empty()) {
    std::string_view value = take_until(target, '&');
    auto key = decoded(take_until(value, '='), Plus::blank);
    auto text = decoded(value, Plus::blank);
    if (!key || !text) return std::nullopt;
    parsed.query.emplace_back(*std::move(key), *std::move(text));
  }
  return parsed;
}

std::string cookie_named(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    std::string_view one = take_until(cookies, ';');
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (take_until(one, '=') == name) return std::string(one);
  }
  return "";
}

std::string host_text(std::string_view address, unsigned port) {
  const bool six = address.find(':') != std::string_view::npos;
  return six ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

bool is_own_host(std::string_view host, std::string_view address, unsigned port) {
  if (host == host_text(address, port)) return true;
  constexpr unsigned kHttp = 80;  // browsers leave it out
  const bool without_port = host.ends_with(']') || host.find(':') == std::string_view::npos;
  if (port == kHttp && without_port) {
    return is_own_host(fmt::format("{}:{}", host, port), address, port);
  }
  const std::string end = fmt::format(":{}", port);
  if (!host.ends_with(end)) return false;
  const std::string_view name = host.substr(0, host.size() - end.size());
  if (address.starts_with("127.") || address == "::1") return name == "localhost";
  // Of all interfaces: their addresses are not known, but no number is a name.
  return (address == "0.0.0.0" || address == "::") &&
         (name == "localhost" || is_numeric_address(name));
}

}  // namespace weft
