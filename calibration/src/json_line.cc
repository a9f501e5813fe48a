#include "json_line.h"

#include <stdexcept>

namespace calibration {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

// Microseconds to the nanosecond, without zeros that say nothing: 4.416, 736.0.
std::string decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  std::string result = text;
  while (result.back() == '0' && result[result.size() - 2] != '.') {
    result.pop_back();
  }
  return result;
}

std::string object(const Numbers& group) {
  std::string result = "{";
  for (const auto& [name, value] : group) {
    result += result.size() == 1 ? "" : ", ";
    result += quoted(name) + ": " + std::to_string(value);
  }
  return result + "}";
}

std::string plain(const JsonLine::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*integer);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return decimal(*number);
  }
  if (const auto* group = std::get_if<Numbers>(&value)) {
    return object(*group);
  }
  return std::get<std::string>(value);
}

}  // namespace

std::string JsonLine::to_json() const {
  std::string result = "{";
  for (const auto& [name, value] : fields_) {
    const bool is_text = std::holds_alternative<std::string>(value);
    result += result.size() == 1 ? "" : ", ";
    result += quoted(name) + ": " + (is_text ? quoted(plain(value)) : plain(value));
  }
  return result + "}";
}

std::string JsonLine::to_text() const {
  std::string result = kind();
  for (std::size_t i = 1; i < fields_.size(); ++i) {
    result += " " + fields_[i].first + "=" + plain(fields_[i].second);
  }
  return result;
}

LineWriter::LineWriter(const std::string& path)
    : file_(path.empty() ? stdout : std::fopen(path.c_str(), "w")) {
  if (file_ == nullptr) {
    throw std::runtime_error("cannot write " + path);
  }
}

LineWriter::~LineWriter() {
  if (file_ != stdout) {
    std::fclose(file_);
  }
}

void LineWriter::write(const JsonLine& line) {
  std::fprintf(file_, "%s\n", line.to_json().c_str());
  std::fflush(file_);
}

}  // namespace calibration
