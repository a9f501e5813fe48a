#include "sim/serve/http_server.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace weft {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t kLongestBody = 1024UL * 1024UL;
constexpr std::uint32_t kLongestHeader = 16U * 1024U;
constexpr std::chrono::seconds kPatience{60};  // with a silent browser
constexpr std::chrono::minutes kWriting{10};   // with one that reads slowly
constexpr std::chrono::milliseconds kRest{100};
constexpr std::size_t kThreads = 4;

using Parser = http::request_parser<http::string_body>;
using Reply = http::response<http::string_body>;

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

HttpRequest request_of(const http::request<http::string_body>& message) {
  return {.method = text_of(message.method_string()),
          .target = text_of(message.target()),
          .host = text_of(message[http::field::host]),
          .cookie = text_of(message[http::field::cookie]),
          .origin = text_of(message[http::field::origin]),
          .body = message.body()};
}

Reply reply_of(HttpResponse response, unsigned version, bool keep_alive) {
  Reply reply(static_cast<http::status>(response.status), version);
  reply.set(http::field::content_type, response.type);
  for (const auto& [name, value] : response.headers) reply.set(name, value);
  reply.keep_alive(keep_alive);
  reply.body() = std::move(response.body);
  reply.prepare_payload();
  return reply;
}

// What cannot be read as a request, in words; 0: the other side has gone.
int status_of(const beast::error_code& failed) {
  if (failed == http::error::body_limit) return 413;
  if (failed == http::error::header_limit) return 431;
  if (failed == http::error::end_of_stream || failed == beast::error::timeout) return 0;
  return failed.category() == make_error_code(http::error::bad_method).category() ? 400 : 0;
}

// Connections are coroutines of one thread; what takes long is answered by others meanwhile.
struct Workers {
  asio::thread_pool threads{kThreads};
  const HttpServer::Answer& answer;

  [[nodiscard]] HttpResponse answered(const HttpRequest& asked) const noexcept {
    try {
      return answer(asked);
    } catch (...) {  // no memory, not even for saying so
      return {.status = 500};
    }
  }
};

asio::awaitable<HttpResponse> answered(Workers& workers, HttpRequest request) {
  const auto begin = [&workers](auto resume, HttpRequest asked) {
    asio::post(workers.threads, [&workers, resume = std::move(resume),
                                 asked = std::move(asked)]() mutable {
      HttpResponse response = workers.answered(asked);
      const auto home = asio::get_associated_executor(resume);
      asio::post(home, [resume = std::move(resume), response = std::move(response)]() mutable {
        std::move(resume)(std::move(response));
      });
    });
  };
  return asio::async_initiate<decltype(asio::use_awaitable), void(HttpResponse)>(
      begin, asio::use_awaitable, std::move(request));
}

asio::awaitable<void> serve_connection(tcp::socket socket, Workers& workers) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  bool more = true;
  while (more) {
    Parser parser;
    parser.body_limit(kLongestBody);
    parser.header_limit(kLongestHeader);
    stream.expires_after(kPatience);
    beast::error_code failed;
    co_await http::async_read(stream, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, failed));
    HttpResponse response;
    if (failed) {
      response.status = status_of(failed);
      response.type = "text/plain; charset=utf-8";
      response.body = failed.message() + "\n";
      if (response.status == 0) break;
    } else {
      response = co_await answered(workers, request_of(parser.get()));
    }
    more = !failed && parser.get().keep_alive();
    Reply reply = reply_of(std::move(response), parser.get().version(), more);
    stream.expires_after(kWriting);
    co_await http::async_write(stream, reply, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) break;
  }
  beast::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, Workers& workers) {
  while (true) {
    beast::error_code failed;
    tcp::socket socket =
        co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) co_return;
    if (failed) {  // too many connections: until some have ended
      asio::steady_timer later(acceptor.get_executor(), kRest);
      co_await later.async_wait(asio::use_awaitable);
      continue;
    }
    asio::co_spawn(acceptor.get_executor(), serve_connection(std::move(socket), workers),
                   asio::detached);
  }
}

}  // namespace

struct HttpServer::Sockets {
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
};

HttpServer::HttpServer(const std::string& address, std::uint16_t port)
    : sockets_(std::make_unique<Sockets>()) {
  beast::error_code failed;
  const auto where = asio::ip::make_address(address, failed);
  if (failed) throw std::invalid_argument("not a numeric address, such as 127.0.0.1 or ::1");
  const tcp::endpoint endpoint(where, port);
  tcp::acceptor& acceptor = sockets_->acceptor;
  acceptor.open(endpoint.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) throw std::system_error(failed);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return sockets_->acceptor.local_endpoint().port(); }

void HttpServer::serve(const Answer& answer) {
  asio::io_context& context = sockets_->context;
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&context](const beast::error_code&, int) { context.stop(); });
  Workers workers{.answer = answer};
  asio::co_spawn(context, accept_all(sockets_->acceptor, workers), asio::detached);
  context.run();
  workers.threads.stop();
  workers.threads.join();
}

}  // namespace weft
