// What a tree of JSON takes in memory, before and while there is one.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace weft {

// At most, with what holds it while it grows: each value, and each member of an object, needs a
// mark of its own in the text.
std::int64_t json_memory(std::string_view text);

struct JsonTooLarge : std::runtime_error {
  JsonTooLarge() : std::runtime_error("its values need more memory than is allowed") {}
};

// For parsers that take the objects of a large file as they come and throw them away.
class KeptValues {
 public:
  explicit KeptValues(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Every event, before it is looked at; throws JsonTooLarge.
  void add(int depth, nlohmann::json::parse_event_t what);
  // The object of depth 2 that ends now is thrown away.
  void forget() { kept_ = before_; }

 private:
  std::int64_t most_bytes_;
  std::int64_t kept_ = 0;
  std::int64_t before_ = 0;  // kept when the object of depth 2 began
};

}  // namespace weft
