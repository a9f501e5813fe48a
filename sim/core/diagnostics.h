// Diagnostics: what is wrong with the user's input, all of it at once, each with its position.
//
//   cluster.yaml:3:12: error: cluster.scale_out.latency: missing unit; use one of ps ns us ms s
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// A position in the user's text. `line` and `column` count from 1; 0 means "no line" (command
// line).
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

enum class Severity { error, warning };

struct Diagnostic {
  SourcePosition at;
  std::string path;         // the key's path, such as cluster.scale_out.latency; may be empty
  std::string message;      // what is wrong and what would be right
  std::string source_line;  // the text of the line, for the caret; may be empty
  Severity severity = Severity::error;
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void append(const Diagnostics& others);
  [[nodiscard]] bool has_errors() const;
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }

  // One paragraph each, sorted by file, line, column: position, severity, path, message; then the
  // source line with a caret under the column.
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<Diagnostic> all_;
};

// The one of `known` with the smallest edit distance to `word`, or if none is near (more than a
// third of the letters would have to change) the only one that begins with it; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace weft
