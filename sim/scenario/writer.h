// How the resolved scenario is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/plain_text.h"
#include "sim/gpu_model/gpu_spec.h"
#include "sim/scenario/scenario.h"

namespace weft {

// Lines of "key: value", two spaces deeper in each map.
class Writer {
 public:
  void open(std::string_view key) {
    line(key, "");
    indent_ += 2;
  }
  void close() { indent_ -= 2; }
  void line(std::string_view key, std::string_view value) {
    text_.append(indent_, ' ').append(key).append(value.empty() ? ":" : ": ");
    text_.append(value).append("\n");
  }
  void item(std::string_view value) {
    text_.append(indent_, ' ').append("- ").append(value).append("\n");
  }
  void line(std::string_view key, std::int64_t value) { line(key, std::to_string(value)); }
  void quoted(std::string_view key, std::string_view value) { line(key, in_double_quotes(value)); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t indent_ = 0;
};

void write_collective(Writer& out, const CollectiveSpec& collective);

// What read_cache_machine reads, as the map of this key.
void write_cache_machine(Writer& out, std::string_view key, const cache::Hierarchy& machine);

// What read_model reads.
void write_model(Writer& out, const Workload& workload);

// What read_trace reads.
void write_trace(Writer& out, const TraceWork& trace);

}  // namespace weft
