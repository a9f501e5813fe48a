// A request and its response as values, so that answering needs no socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // as sent: "/report?of=a%20b"
  std::string host;
  std::string cookie;
  std::string origin{};  // of the page that asks; empty: not said
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// What a target names, decoded.
struct HttpTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;

  // The first value of that name; empty where there is none.
  [[nodiscard]] std::string value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
};
// Nothing where a % is not followed by two hexadecimal digits, or stands for a zero byte.
std::optional<HttpTarget> parse_target(std::string_view target);

// Of "a=1; b=2"; empty where there is none.
std::string cookie_named(std::string_view cookies, std::string_view name);

// Whether a request was meant for who listens at this address and port. A page of another site can
// make a name of its own lead to 127.0.0.1, but not send another name than that.
bool is_own_host(std::string_view host, std::string_view address, unsigned port);

// "127.0.0.1:80", "[::1]:80".
std::string host_text(std::string_view address, unsigned port);

}  // namespace weft
