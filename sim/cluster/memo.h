// What has been found out about a machine once and is needed again: a pure function of the key.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace weft {

// A copy of a cluster starts with an empty memo.
class Memo {
 public:
  Memo() = default;
  Memo(const Memo& /*other*/) {}
  Memo& operator=(const Memo& /*other*/) { return *this; }
  ~Memo() = default;

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
