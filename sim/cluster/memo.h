// What has been found out about a machine once and is needed again: a pure function of the key.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace weft {

class KnownRuns;  // sim/engine/known_runs.h

// A copy of a cluster starts with an empty memo.
class Memo {
 public:
  Memo() = default;
  Memo(const Memo& other) : known_runs(other.known_runs) {}
  Memo& operator=(const Memo& other) {
    if (this != &other) known_runs = other.known_runs;
    return *this;
  }
  ~Memo() = default;

  // What other machines and processes have found, to ask and to add to; null: nothing. Has to
  // outlive it.
  KnownRuns* known_runs = nullptr;

  using Key = std::vector<std::int64_t>;

  [[nodiscard]] std::optional<int> find(const Key& key) const {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  void put(const Key& key, int value) {
    const std::lock_guard lock(guard_);
    known_.emplace(key, value);
  }

 private:
  mutable std::mutex guard_;
  std::map<Key, int> known_;
};

}  // namespace weft
