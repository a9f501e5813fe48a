// Fingerprint: a hash of the history of a run, event by event. Its ingredients are numbers (time,
// kind, ids), not names, so that a rename does not change it and a changed history does.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

class Fingerprint {
 public:
  void add(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15ULL;
    hash_ ^= hash_ >> 29;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

// FNV-1a, 64 bits: for files and texts in manifests.

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xCBF29CE484222325ULL) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash;
}

}  // namespace weft
