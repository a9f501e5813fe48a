// Listens, and gives each request to a function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/serve/http_message.h"

namespace weft {

class HttpServer {
 public:
  // Port 0: a free one. Throws std::system_error where it cannot listen, and
  // std::invalid_argument where the address is none.
  HttpServer(const std::string& address, std::uint16_t port);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;

  using Answer = std::function<HttpResponse(const HttpRequest&)>;
  // Until Ctrl-C or SIGTERM. `answer` is called by several threads at a time.
  void serve(const Answer& answer);

 private:
  struct Sockets;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace weft
