#include "sim/measured/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/files/read_text.h"
#include "sim/measured/library_kernels.h"
#include "sim/measured/public_sets.h"
#include "sim/measured/torch_pairs.h"

namespace weft {
namespace {

using Json = nlohmann::json;

constexpr std::array kTimes = {"us", "us_min", "us_max"};

// The time; for several ways to run the same thing, the median of those that could run it.
std::optional<double> time_of(const Json& value) {
  std::vector<double> times;
  for (const Json& one : value.is_array() ? value : Json::array({value})) {
    if (one.is_null() && value.is_array()) continue;
    if (!one.is_number() || one.get<double>() <= 0) return std::nullopt;
    times.push_back(one.get<double>());
  }
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

class LineReader {
 public:
  LineReader(MeasuredFile& file, SourcePosition at, std::string text)
      : file_(file), text_(std::move(text)) {
    line_.at = std::move(at);
  }

  void read() {
    const Json object = Json::parse(text_, nullptr, false);
    if (object.is_discarded() || !object.is_object()) {
      return fail("", "not a JSON object; every line must be one, with at least kind and us");
    }
    if (!object.contains("kind") && object.contains("meta")) return;  // of a public set
    for (const auto& [name, value] : object.items()) take(name, value);
    if (line_.kind.empty() && line_.words.contains("set")) name_by_set(line_);
    if (!name_torch_pair(line_)) name_library_kernel(line_);
    if (line_.kind.empty() && !failed_) fail("kind", "missing; it says what was run");
    if (line_.kind == "meta") {
      const auto device = line_.words.find("device");
      if (device != line_.words.end()) file_.devices.insert(device->second);
      return;
    }
    if (!timed_ && !failed_) fail("us", "missing; the median time in microseconds");
    if (!failed_) file_.lines.push_back(std::move(line_));
  }

 private:
  void take(const std::string& name, const Json& value) {
    for (const char* time : kTimes) {
      if (name == time) return take_time(name, value);
    }
    if (name == "kind") {
      if (!value.is_string()) return fail(name, "must be a word, for example \"emb.bulk\"");
      line_.kind = value.get<std::string>();
    } else if (value.is_number_integer()) {
      line_.numbers[name] = value.get<std::int64_t>();
    } else if (value.is_boolean()) {
      line_.numbers[name] = value.get<bool>() ? 1 : 0;
    } else if (value.is_string()) {
      line_.words[name] = value.get<std::string>();
    }  // no case needs a value of another type; if it needs this name, it reports it as missing
  }

  void take_time(const std::string& name, const Json& value) {
    const std::optional<double> time = time_of(value);
    if (!time) {
      return fail(name, "must be a time in microseconds above 0, or a list of such, null for none");
    }
    if (name != "us") return;
    line_.us = *time;
    timed_ = true;
  }

  void fail(const std::string& path, std::string message) {
    failed_ = true;
    Diagnostic problem;
    problem.at = line_.at;
    problem.path = path;
    problem.message = std::move(message);
    problem.source_line = text_;
    file_.problems.add(std::move(problem));
  }

  MeasuredFile& file_;
  MeasuredLine line_;
  std::string text_;
  bool timed_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<std::int64_t> MeasuredLine::number(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> MeasuredLine::needed(const char* name, Diagnostics& problems) const {
  const std::optional<std::int64_t> value = number(name);
  if (value && *value > 0) return value;
  Diagnostic problem;
  problem.at = at;
  problem.path = name;
  problem.message = fmt::format("missing; {} lines must have it, a whole number above 0", kind);
  problems.add(std::move(problem));
  return std::nullopt;
}

bool MeasuredLine::says(const std::string& name, std::string_view word) const {
  const auto found = words.find(name);
  return found != words.end() && found->second == word;
}

std::string MeasuredLine::text() const {
  std::string all;
  const auto add = [&all](const std::string& name, const std::string& value) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, value);
  };
  for (const auto& [name, value] : numbers) add(name, std::to_string(value));
  for (const auto& [name, value] : words) add(name, value);
  return all;
}

MeasuredFile read_measured(const std::filesystem::path& file) {
  MeasuredFile measured;
  const auto fail = [&](const std::string& message) {
    Diagnostic problem;
    problem.at.file = file.string();
    problem.message = message;
    measured.problems.add(std::move(problem));
  };
  const ReadText read = read_text(file);
  if (!read.text) {
    fail(read.problem);
    return measured;
  }
  std::istringstream stream(*read.text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    LineReader(measured, {.file = file.string(), .line = number, .column = 1}, line).read();
  }
  if (number == 0) fail("holds no lines");
  return measured;
}

}  // namespace weft
