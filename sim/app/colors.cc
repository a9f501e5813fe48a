#include "sim/app/colors.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sim/core/plain_text.h"

namespace weft {
namespace {

using Sink = spdlog::sinks::stderr_color_sink_st;

// The message, whatever names and files it speaks of.
class PlainMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PlainMessage>();
  }
};

Sink* sink() { return dynamic_cast<Sink*>(spdlog::default_logger()->sinks().front().get()); }

// The first of each word that ends a place: "file:3:5: error: ...".
std::string with_color(std::string text) {
  struct Mark {
    std::string_view word;
    std::string_view start;
  };
  for (const Mark& mark :
       {Mark{": error: ", "\033[31m\033[1m"}, Mark{": warning: ", "\033[33m\033[1m"}}) {
    for (auto at = text.find(mark.word); at != std::string::npos; at = text.find(mark.word, at)) {
      std::string colored = ": ";
      colored += mark.start;
      colored += mark.word.substr(2, mark.word.size() - 4);
      colored += "\033[m: ";
      text.replace(at, mark.word.size(), colored);
      at += colored.size();
    }
  }
  return text;
}

}  // namespace

void start_log() {
  spdlog::set_default_logger(spdlog::stderr_color_st("weft"));
  auto format = std::make_unique<spdlog::pattern_formatter>();
  format->add_flag<PlainMessage>('*').set_pattern("weft: %^%l%$: %*");
  spdlog::set_formatter(std::move(format));
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') use_color("never");
}

void use_color(const std::string& when) {
  if (when == "always") sink()->set_color_mode(spdlog::color_mode::always);
  if (when == "never") sink()->set_color_mode(spdlog::color_mode::never);
}

void print_problems(const Diagnostics& problems) {
  std::string text = problems.to_text();
  fmt::print(stderr, "{}", sink()->should_color() ? with_color(std::move(text)) : text);
}

void print_text(std::string_view text) { fmt::print("{}", printable(text)); }

}  // namespace weft
