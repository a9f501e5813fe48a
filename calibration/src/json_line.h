#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace calibration {

// Numbers with their names, as a line takes them all or as one field: {"registers": 40, ...}.
using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

// The fields of a line, in the order they are written: `{"kind": "micro.hbm_read", "wgs": 4}`.
class JsonLine {
 public:
  using Value = std::variant<std::int64_t, double, std::string, Numbers>;

  explicit JsonLine(std::string kind) { set("kind", std::move(kind)); }

  JsonLine& set(std::string name, std::int64_t value) { return put(std::move(name), value); }
  JsonLine& set(std::string name, int value) { return set(std::move(name), std::int64_t{value}); }
  JsonLine& set(std::string name, double value) { return put(std::move(name), value); }
  JsonLine& set(std::string name, std::string value) {
    return put(std::move(name), std::move(value));
  }
  JsonLine& set(std::string name, Numbers group) { return put(std::move(name), std::move(group)); }
  JsonLine& set_each(const Numbers& numbers) {
    for (const auto& [name, value] : numbers) {
      set(name, value);
    }
    return *this;
  }

  const std::vector<std::pair<std::string, Value>>& fields() const { return fields_; }
  std::string kind() const { return std::get<std::string>(fields_.front().second); }

  std::string to_json() const;
  // The fields as people write them, for --list and --only: `micro.hbm_read wgs=4 bytes=67108864`.
  std::string to_text() const;

 private:
  JsonLine& put(std::string name, Value value) {
    fields_.emplace_back(std::move(name), std::move(value));
    return *this;
  }

  std::vector<std::pair<std::string, Value>> fields_;
};

// Writes each line at once, so that a run that is cut keeps what it measured.
class LineWriter {
 public:
  explicit LineWriter(const std::string& path);  // empty: standard output
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void write(const JsonLine& line);

 private:
  std::FILE* file_;
};

}  // namespace calibration
