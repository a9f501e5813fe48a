// Fingerprint: a hash of the history of a run, event by event. Its ingredients are numbers (time,
// kind, ids), not names, so that a rename does not change it and a changed history does.
//
// It is a sum: events that have nothing to do with one another may be added in any order. Which of
// two events came first is in their times, and where those are equal in their contents.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// The finalizer of SplitMix64: each bit of `z` changes about half of the result's.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

class Fingerprint {
 public:
  void add(std::uint64_t value) { hash_ += mix64(value + 0x9E3779B97F4A7C15ULL); }
  void add(const Fingerprint& other) { hash_ += other.hash_ - kNothing; }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  static constexpr std::uint64_t kNothing = 0xCBF29CE484222325ULL;
  std::uint64_t hash_ = kNothing;
};

// FNV-1a, 64 bits: for files and texts in manifests.

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xCBF29CE484222325ULL) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash;
}

}  // namespace weft
