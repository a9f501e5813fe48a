#include "sim/traces/json_memory.h"

#include <algorithm>

namespace weft {
namespace {

// Per value: three times itself while its list grows, and a short text, a list or an object.
constexpr std::int64_t kBytesPerValue = 112;

}  // namespace

std::int64_t json_memory(std::string_view text) {
  const auto marks = std::count_if(text.begin(), text.end(), [](char c) {
    return c == ',' || c == ':' || c == '[' || c == '{';
  });
  return (marks + 1) * kBytesPerValue + 2 * static_cast<std::int64_t>(text.size());
}

void KeptValues::add(int depth, nlohmann::json::parse_event_t what) {
  if (depth == 2 && what == nlohmann::json::parse_event_t::object_start) before_ = kept_;
  kept_ += kBytesPerValue;
  if (kept_ > most_bytes_) throw JsonTooLarge();
}

}  // namespace weft
