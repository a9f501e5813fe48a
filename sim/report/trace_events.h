// Events of the Trace Event Format (Chrome's, which ui.perfetto.dev reads), as text of
// limited size. Times are whole nanoseconds, the resolution of viewers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/quantity.h"

namespace weft {

// Viewers call a GPU a process, and each row inside it a thread.
struct TraceThread {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
};

class TraceEvents {
 public:
  // `limit`: bytes of all events together.
  explicit TraceEvents(std::size_t limit) : limit_(limit) {}

  // Names are few, and always written.
  void name_process(std::uint64_t process, std::string_view name);
  void name_thread(const TraceThread& thread, std::string_view name);

  // From now on at most this many bytes of the limit may be in use.
  void use_at_most(std::size_t bytes) { allowed_ = bytes < limit_ ? bytes : limit_; }
  [[nodiscard]] std::size_t in_use() const { return text_.size() + 2 * places_.size(); }

  // Each adds nothing and returns false if there is no room. `args`: a JSON object without braces.
  struct Slice {
    TraceThread thread;
    SimTime start;
    SimTime end;
    const char* category;
    std::string_view name;
    std::string_view args;
  };
  bool slice(const Slice& slice);
  // From a point in one slice to a point in another, as close to these times as possible.
  struct End {
    TraceThread thread;
    SimTime start;  // of the slice
    SimTime end;
    SimTime at;
  };
  bool arrow(const End& from, const End& to, std::string_view name);
  bool counter(std::uint64_t process, SimTime at, std::string_view name, double percent);

  // A whole file, events by time. `other` is a JSON value.
  [[nodiscard]] std::string json(std::string_view other);

 private:
  struct Place {
    std::int64_t at_ns;
    std::size_t begin;
    std::size_t end;
  };
  bool add(std::int64_t at_ns, std::string_view text);
  void add_always(std::string_view text);

  std::size_t limit_;
  std::size_t allowed_ = 0;
  std::string text_;
  std::vector<Place> places_;
  std::uint64_t arrows_ = 0;
};

// As a JSON string, quoted.
std::string json_text(std::string_view text);

}  // namespace weft
