// The keys of one map after all has been read: what rules about several of them may ask and say.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/spec/reader.h"

namespace weft {

class KeysOf {
 public:
  KeysOf(Reading& reading, std::string map) : reading_(reading), map_(std::move(map)) {}

  // Whether all of them were read without a mistake, and none has been said since.
  [[nodiscard]] bool good(std::initializer_list<std::string_view> keys) const {
    return std::all_of(keys.begin(), keys.end(), [this](std::string_view key) {
      const std::string path = path_of(key);
      const std::string_view one = path;
      return reading_.good({&one, 1});
    });
  }
  // A mistake at one of them.
  void fail(std::string_view key, std::string message) const {
    reading_.error_at_key(path_of(key), std::move(message));
  }
  // It does not go together with those at these paths: as Reading::error_at_one_of.
  void fail_between(std::string_view key, std::vector<std::string> others,
                    std::string message) const {
    others.insert(others.begin(), path_of(key));
    reading_.error_at_one_of(others, std::move(message));
  }

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const {
    return map_ + '.' + std::string(key);
  }

  Reading& reading_;
  std::string map_;  // its path
};

}  // namespace weft
