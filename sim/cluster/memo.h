// What has been found out about a cluster once and is asked for again: a pure function of the key.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace weft {

// A copy of a cluster begins with nothing known.
class Memo {
 public:
  Memo() = default;
  Memo(const Memo& /*other*/) {}
  Memo& operator=(const Memo& /*other*/) { return *this; }
  ~Memo() = default;

  [[nodiscard]] std::optional<int> find(const std::string& key) const {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  void put(const std::string& key, int value) {
    const std::lock_guard lock(guard_);
    known_.emplace(key, value);
  }

 private:
  mutable std::mutex guard_;
  std::map<std::string, int> known_;
};

}  // namespace weft
