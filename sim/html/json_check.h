// The values of a JSON file that a page needs; a missing one is a problem with its path.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sim/html/read_file.h"

namespace weft {

class JsonCheck {
 public:
  JsonCheck(std::filesystem::path file, Diagnostics& problems)
      : file_(std::move(file)), problems_(problems) {}

  // `path` is where the object is, "" or "modes.bulk".
  std::string text(const JsonValue& object, const char* key, const std::string& path = "") {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string()) return found->get<std::string>();
    fail(path, key, found == object.end(), "a string");
    return "";
  }
  double number(const JsonValue& object, const char* key, const std::string& path = "") {
    const auto found = object.find(key);
    if (found != object.end() && found->is_number()) return found->get<double>();
    fail(path, key, found == object.end(), "a number");
    return 0;
  }
  JsonValue object(const JsonValue& object, const char* key) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_object() && !found->empty()) return *found;
    fail("", key, found == object.end(), "an object with at least one member");
    return JsonValue::object();
  }
  void fail(const std::string& path, const std::string& key, bool missing, const char* right) {
    add_problem(problems_, file_, 0, path.empty() ? key : path + "." + key,
                fmt::format("{}; must be {}", missing ? "missing" : "of the wrong type", right));
  }

 private:
  std::filesystem::path file_;
  Diagnostics& problems_;
};

}  // namespace weft
