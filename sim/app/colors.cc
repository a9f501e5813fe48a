#include "sim/app/colors.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace weft {
namespace {

using Sink = spdlog::sinks::stderr_color_sink_st;

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
  spdlog::set_pattern("weft: %^%l%$: %v");
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

}  // namespace weft
