// The memory that a tree of JSON takes, before and while it is built.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace weft {

// An upper bound, including spare room while lists grow: each value, and each member of an object,
// needs a punctuation mark of its own in the text.
std::int64_t json_memory(std::string_view text);

struct JsonTooLarge : std::runtime_error {
  JsonTooLarge() : std::runtime_error("its values need more memory than is allowed") {}
};

// For parsers that process the objects of a large file one by one and discard them.
class KeptValues {
 public:
  explicit KeptValues(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  // To be called for every event, before it is processed; throws JsonTooLarge.
  void add(int depth, nlohmann::json::parse_event_t what);
  // The object of depth 2 that ends now is discarded.
  void forget() { kept_ = before_; }

 private:
  std::int64_t most_bytes_;
  std::int64_t kept_ = 0;
  std::int64_t before_ = 0;  // kept_ when the object of depth 2 began
};

}  // namespace weft
