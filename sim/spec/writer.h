// Writer: resolved values as YAML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

class Writer {
 public:
  enum class Form {
    lines,  // "key: value" on a line each, two spaces deeper in each map
    flow    // "key: value, key: {key: value}", for an item of a list
  };
  explicit Writer(Form form = Form::lines) : form_(form) {}

  void open(std::string_view key) {
    line(key, form_ == Form::flow ? "{" : "");
    indent_ += 2;
  }
  void close() {
    if (form_ == Form::flow) text_.append("}");
    indent_ -= 2;
  }
  void line(std::string_view key, std::string_view value) {
    if (form_ == Form::flow) {
      text_.append(text_.empty() || text_.back() == '{' ? "" : ", ");
    } else {
      text_.append(indent_, ' ');
    }
    text_.append(key).append(value.empty() ? ":" : ": ").append(value);
    if (form_ == Form::lines) text_.append("\n");
  }
  void item(std::string_view value) {
    text_.append(indent_, ' ').append("- ").append(value).append("\n");
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t indent_ = 0;
  Form form_;
};

}  // namespace weft
